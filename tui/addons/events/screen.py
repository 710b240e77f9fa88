"""The screen with the subscriptions to all servers and the inbox of all their events."""

from typing import TYPE_CHECKING, Any, ClassVar

from tui.addons.events.pane import EventsPane
from tui.core.conversation.conversation import Attachment
from tui.core.language.translate import _
from tui.ui.dialogs.dialog import ViewScreen, heading
from tui.ui.keys.action_table import Context
from tui.ui.widgets.inputs import PromptLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.runtime.runtime import Runtime
    from tui.ui.chat.navigation import Navigator


class EventsScreen(ViewScreen[None]):
    """Opened over the chat screen, whose `Navigator` opens the traffic and attaches events."""

    CONTEXTS: ClassVar[tuple[Context, ...]] = (Context.EVENTS,)
    TAKES = frozenset({"traffic.open", "app.suspend"})

    LOOKS_PER_SECOND = 4

    def __init__(self, runtime: "Runtime", navigator: "Navigator") -> None:
        self._navigator = navigator
        self._prompt = PromptLine()
        self._pane = EventsPane(runtime, self._prompt, self._put, self._show_traffic, self._leave)
        super().__init__(self._pane, prompt=self._prompt)

    def on_mount(self) -> None:
        self._title.show(heading(_("Events")))
        self.set_focus(self._pane.list, scroll_visible=False)

    def show_keys(self, **labels: str) -> None:
        self._keys.show(self._pane.keys())

    def look(self) -> None:
        self._pane.look()
        self.show_keys()

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
