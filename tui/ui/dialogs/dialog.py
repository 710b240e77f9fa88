"""Dialog: the base of the dialogs at the bottom or in the middle of the screen."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from tui.ui.keys.bindings import act
from tui.ui.keys.footer import Footer
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.inputs import Field, PromptLine, type_into
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row


class Dialog(ModalScreen[ScreenResultType]):
    """A panel over the screen below, which stays visible; escape closes it with the result None.

    `parts` are its widgets, from top to bottom.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back", priority=True)]

    DEFAULT_CSS = """
    Dialog { align: center bottom; background: $surface 60%; }
    Dialog > Vertical {
        width: 100%; height: auto; max-height: 90%; padding: 1 3; margin: 0 0 3 0;
        background: $panel; border-left: outer $accent;
    }
    Dialog Literal { width: 1fr; }
    Dialog Input { background: $panel; background-tint: transparent; }
    Dialog .about { color: $text-dim; }
    Dialog .keys { color: $accent; }
    """

    def __init__(self, *parts: Widget) -> None:
        super().__init__()
        self._parts = parts

    def compose(self) -> ComposeResult:
        yield Vertical(*self._parts)

    def on_key(self, event: events.Key) -> None:
        """Type a key that arrived before the field had the focus."""
        for field in self.query(Field):
            type_into(field, event)

    def action_back(self) -> None:
        self.dismiss(None)


class RowsPane(LinePane):
    """Shows the rows that a function lays out for a width in cells."""

    FOLLOWS = False

    def __init__(self, lay_out: Callable[[int], list[Row]]) -> None:
        super().__init__()
        self._lay_out = lay_out

    def on_mount(self) -> None:
        self.rewrap()

    def rewrap(self) -> None:
        self._shown_rows = self._lay_out(max(20, self.columns))
        self.rows_changed()


VIEW_KEYS = {
    "Traffic statistics": (
        ("enter", "show its entries"),
        ("esc", "back"),
        ("h", "handshakes and lists"),
        ("j k", "select"),
    ),
    "Traffic waterfall": (
        ("enter", "show its entries"),
        ("esc", "back"),
        ("left right", "previous or next turn"),
    ),
}
"""Keys of views without actions, which cannot be changed: keys and labels, the most useful first."""


class ViewScreen(ModalScreen[ScreenResultType]):
    """Shows a body, which has the focus, between a title and the keys.

    `heads` is a line above the body, `prompt` one below it, to which every key goes while it is open. `look`
    is called `LOOKS_PER_SECOND` times a second.
    """

    LOOKS_PER_SECOND = 0
    stays = str

    DEFAULT_CSS = """
    ViewScreen { background: $surface; layout: vertical; }
    ViewScreen > Bar { padding: 0 1; background: $panel; }
    ViewScreen > #heads { background: $surface; padding: 0; }
    ViewScreen > LinePane { height: 1fr; background: $surface; }
    ViewScreen > Page, ViewScreen > LogLines { padding: 0 1; }
    """

    def __init__(
        self,
        body: LinePane,
        keys: Iterable[tuple[str, str]] = (),
        *,
        heads: SplitBar | None = None,
        prompt: PromptLine | None = None,
    ) -> None:
        super().__init__()
        self._line = prompt
        self._parts = [widget for widget in (heads, body, prompt) if widget is not None]
        self._body, self._title, self._keys = body, SplitBar(), Footer(keys)

    def compose(self) -> ComposeResult:
        yield self._title
        yield from self._parts
        yield self._keys

    def on_mount(self) -> None:
        self.set_focus(self._body, scroll_visible=False)
        self.look()
        if self.LOOKS_PER_SECOND:
            self.set_interval(1 / self.LOOKS_PER_SECOND, self.look)

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        is_typing = action == "act" and self._line is not None and self._line.display
        return not is_typing and super().check_action(action, parameters)

    async def action_act(self, action_id: str) -> None:
        await act(self, action_id)

    def action_back(self) -> None:
        self.dismiss(None)
