"""The screen with the subscriptions to all servers and the inbox of all their events."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.screen import ModalScreen

from tui.addons.events.pane import EventsPane
from tui.core.conversation.conversation import Attachment
from tui.ui.keys.action_table import Context
from tui.ui.keys.footer import Footer
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.inputs import FINISH_INPUT, PromptLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.runtime.runtime import Runtime
    from tui.ui.chat.navigation import Navigator

LOOKS_PER_SECOND = 4


class EventsScreen(ModalScreen[None]):
    """Opened over the chat screen, whose `Navigator` opens the traffic and attaches events."""

    CONTEXTS: ClassVar[tuple[Context, ...]] = (Context.EVENTS,)
    TAKES = frozenset({"traffic.open", "app.suspend"})

    DEFAULT_CSS = """
    EventsScreen { background: $surface; layout: vertical; }
    EventsScreen > SplitBar { padding: 0 1; background: $panel; }
    """

    def __init__(self, runtime: "Runtime", navigator: "Navigator") -> None:
        super().__init__()
        self._navigator = navigator
        self._title, self._keys, self._prompt = SplitBar(), Footer(), PromptLine()
        self._pane = EventsPane(runtime, self._prompt, self._put, self._show_traffic, self._leave)

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._pane
        yield self._prompt
        yield self._keys

    def on_mount(self) -> None:
        self.set_focus(self._pane.list, scroll_visible=False)
        self._title.show((("EVENTS", "dim bold"),), ())
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)
        self.look()

    def look(self) -> None:
        self._pane.look()
        self._keys.show(self._pane.keys())

    def stays(self) -> str:
        return FINISH_INPUT if self._prompt.display else ""

    def _leave(self) -> None:
        self.dismiss(None)

    def _put(self, attachments: "Sequence[Attachment]") -> None:
        self._navigator.attach(attachments)

    def _show_traffic(self, filter: str) -> None:
        self.dismiss(None)
        self.app.call_later(self._navigator.open_traffic, filter)


def open_events(parts: Any) -> None:
    """Open the screen over the chat screen (`ChatParts`)."""
    parts.navigator.open_events()
