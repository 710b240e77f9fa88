"""A message that waits to be sent, with what goes with it."""

from dataclasses import dataclass

from tui.core.conversation.conversation import Attachment
from tui.ui.chat.composer.references import Written


@dataclass(slots=True, eq=False)
class Held:
    """A message that waits.

    Attributes:
        written: the message.
        attachments: what goes with it; None while it is being read.
    """

    written: Written
    attachments: tuple[Attachment, ...] | None = None
