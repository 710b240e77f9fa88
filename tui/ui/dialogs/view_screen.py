"""The frame of a screen that only shows something: title, body, keys."""

from collections.abc import Iterable
from typing import TypeVar

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widget import Widget

from tui.ui.keys.footer import Footer
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.lines import LinePane

Result = TypeVar("Result")


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


class ViewScreen(ModalScreen[Result]):
    """Shows a body, which has the focus, between a title and the keys.

    `heads` is a line above the body, `prompt` one below it. `look` is called
    `LOOKS_PER_SECOND` times a second.
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
        prompt: Widget | None = None,
    ) -> None:
        super().__init__()
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

    def action_back(self) -> None:
        self.dismiss(None)
