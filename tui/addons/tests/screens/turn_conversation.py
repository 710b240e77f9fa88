"""The conversation of a run of a turn case, to read: the one on the chat screen stays."""

import time
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.core.conversation.sessions import Reopened
from tui.ui.chat.bridge import note_of
from tui.ui.chat.transcript.blocks import Thinking
from tui.ui.chat.transcript.flow import Block, FlowPane
from tui.ui.chat.transcript.tool_call_cards import Card
from tui.ui.chat.transcript.writer import PastWriter, Writer
from tui.ui.dialogs.dialog import Dialog
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.rows import Row


class ConversationPane(FlowPane):
    """A saved conversation, without the keys that act on the one of the chat screen."""

    CURSOR = True
    DEFAULT_CSS = "ConversationPane { height: 1fr; background: $panel; scrollbar-background: $panel; }"

    def __init__(self, shown: Reopened) -> None:
        super().__init__()
        talk, flow = shown.conversation, self.flow
        writer = Writer(flow, flow.append, self.flow_changed, self.flow_changed, time.monotonic)
        PastWriter(
            writer,
            talk.messages,
            shown.unknown,
            lambda model: "",
            talk.remarks,
            lambda one: note_of(one, ""),
            time.time(),
        ).write()

    def on_mount(self) -> None:
        self.flow_changed()

    def target_chosen(self, block: Block, row: int) -> None:
        """Expand or collapse a call or a thought."""
        if isinstance(block, Card | Thinking):
            block.open = not block.open
            block.width = 0
            self.following = False
            self.flow_changed()
            self.call_later(self.show_block, block)


class TurnConversation(Dialog[bool | None]):
    """Shows a conversation. Returns True if it is to be continued on the chat screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open", "open in the chat", priority=True)]

    DEFAULT_CSS = """
    TurnConversation { align: center middle; }
    TurnConversation > Vertical {
        width: 100%; height: 88%; max-height: 44; padding: 1 2; margin: 0;
    }
    """

    def __init__(self, shown: Reopened, about: Row) -> None:
        self._pane = ConversationPane(shown)
        super().__init__(SplitBar(about), self._pane, self.key_line())

    def on_mount(self) -> None:
        self.set_focus(self._pane, scroll_visible=False)

    def action_open(self) -> None:
        self.dismiss(True)
