"""What is attached to a message: files and resources that are read when it is sent. Pure.

In the text a reference is a token, `[@README.md]`, that is edited as one character (`panes.pastes`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.core.text import clean_line

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.conversation.conversation import Attachment

MOST_NAME = 200


@dataclass(frozen=True, slots=True)
class Reference:
    """Something to be attached: a file by its path, a resource by server and URI, or what was read before.

    Attributes:
        name: what stands in the text.
        path: the file, as it was written, or "".
        server, uri: the resource.
        attachment: what was read before, or None.
    """

    name: str
    path: str = ""
    server: str = ""
    uri: str = ""
    attachment: "Attachment | None" = None

    @classmethod
    def to_file(cls, path: str) -> "Reference":
        """Refer to a file."""
        return cls(_name(path), path=path)

    @classmethod
    def to_resource(cls, server: str, uri: str) -> "Reference":
        """Refer to a resource of a server."""
        return cls(_name(f"{server}:{uri}"), server=server, uri=uri)

    @classmethod
    def to_known(cls, attachment: "Attachment") -> "Reference":
        """Refer to what was read before."""
        return cls(_name(attachment.name), attachment=attachment)


def _name(text: str) -> str:
    return clean_line(text, MOST_NAME).replace("[", "(").replace("]", ")") or "attachment"


@dataclass(frozen=True, slots=True)
class Written:
    """A message as it was written.

    Attributes:
        text: what the model reads: every paste in full.
        shown: what stood in the composer, with tokens; what comes back into it.
        references: what goes with it, in order, each once.
    """

    text: str
    shown: str
    references: tuple[Reference, ...] = ()
