"""Dialog: the base of the dialogs at the bottom or in the middle of the screen."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, ScreenResultType

from tui.ui.widgets.inputs import Field, type_into
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row


class Dialog(ModalScreen[ScreenResultType]):
    """A panel over the screen below, which stays visible; escape closes it with the result None.

    Its only child is a `Vertical`.
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
        self._rows: list[Row] = []

    def on_mount(self) -> None:
        self.rewrap()

    def rewrap(self) -> None:
        self._rows = self._lay_out(max(20, self.columns))
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]
