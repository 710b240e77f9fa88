"""Copies from a server's results to the message to the model: quoted texts, prompts, attachments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from tui.core.attachments import attachments_of
from tui.core.context.tool_results import result_text
from tui.core.conversation.conversation import Attachment
from tui.core.text import clean, clean_line, compact
from tui.core.tools import Content, LinkContent, TextContent, ToolResult
from tui.core.workbench import PromptResult

if TYPE_CHECKING:  # not needed for the first frame
    from tui.host.workbench import HandWorkbench


class MessageDraft(Protocol):
    """The message to the model that the user is writing."""

    def put_into_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Insert text of a server before the draft, and focus the composer."""

    def send_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send text of a server as a separate message; the draft stays."""

    def attach_resource(self, server: str, uri: str) -> None:
        """Attach a resource, which is read on sending."""

    def attach(self, attachments: Sequence[Attachment]) -> None: ...


@dataclass(frozen=True, slots=True)
class ResultSource:
    """The origin of a result: its links are read from there, and its contents can be put into the message."""

    server: str
    workbench: "HandWorkbench"
    draft: MessageDraft


def attach_content(source: ResultSource, content: Content, name: str) -> str:
    """Attach one content item of a result; return a description of it for the user.

    A link is read when the message is sent. Raises ValueError, with a sentence, if models do not support it.
    """
    if isinstance(content, LinkContent):
        source.draft.attach_resource(source.server, content.uri)
        return clean_line(content.uri, 200)
    named = content.uri if not isinstance(content, TextContent) and content.uri else name
    found = attachments_of((content,), clean_line(named, 200))
    source.draft.attach([replace(one, server=source.server) for one in found])
    return clean_line(named, 200)


def for_conversation(server: str, name: str, arguments: object, result: ToolResult) -> str:
    """Return the result of a tool or a resource as text for a message: quoted, with its source."""
    what = f"{clean_line(server, 60)} › {clean_line(name, 120)}"
    given = f" with {compact(arguments, 400)}" if arguments else ""
    quoted = "\n".join(f"> {line}".rstrip() for line in clean(result_text(result)).split("\n"))
    return f"Result of {what}{given}:\n{quoted}\n"


def prompt_message(result: PromptResult, name: str) -> tuple[str, Sequence[Attachment]]:
    """Return the text and the attachments of a prompt's messages, for the user to send.

    Messages of the assistant are marked as such. Raises ValueError, with a sentence, if models do not support
    one of them.
    """
    texts: list[str] = []
    attachments: list[Attachment] = []
    for message in result.messages:
        one = ToolResult((message.content,))
        found = [] if isinstance(message.content, TextContent) else attachments_of(one.content, name)
        if not found:
            text = clean(result_text(one))
            texts.append(text if message.role == "user" else f"({message.role}) {text}")
        else:
            attachments += found
    return "\n\n".join(texts), attachments
