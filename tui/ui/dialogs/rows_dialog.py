"""Dialogs that show something to read: rows, such as what has changed, or a text."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.core.hidden_text.readable import readable
from tui.core.text import start_of
from tui.ui.dialogs.dialog import Dialog, RowsPane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row, wrap

MAX_LINES = 16
MAX_CHARS = 100_000
"""Characters of a text that are shown."""

AROUND = 8
"""Rows of the screen around a text."""


class RowsDialog(Dialog[None]):
    """Shows rows below a heading, until it is closed."""

    DEFAULT_CSS = "RowsDialog RowsPane { margin: 1 0 0 0; background: $panel; }"

    def __init__(self, heading: str, rows: Sequence[Row]) -> None:
        pane = RowsPane(lambda width: [line for row in rows for line in wrap(row, width)])
        pane.styles.height = min(len(rows), MAX_LINES)
        super().__init__(Literal(heading), pane, self.key_line(back="close"))


class TextDialog(Dialog[None]):
    """Shows a text of a server, made visible."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "back", show=False, priority=True)]

    DEFAULT_CSS = """
    TextDialog { align: center middle; }
    TextDialog > Vertical { width: 104; max-width: 100%; max-height: 100%; margin: 0; }
    TextDialog RowsPane { margin: 1 0; background: $panel; }
    """

    def __init__(self, heading: str, text: str) -> None:
        self._lines = readable(start_of(text, MAX_CHARS)).split("\n")
        if (more := len(text) - MAX_CHARS) > 0:
            self._lines.append(f"… {more:,} more characters")
        self._pane = RowsPane(self._lay_out)
        super().__init__(Literal(heading), self._pane, self.key_line(back="close"))

    def on_mount(self) -> None:
        self.set_focus(self._pane)

    def _lay_out(self, width: int) -> list[Row]:
        lines = (wrap(((line.expandtabs(4), "text"),), width) or [EMPTY] for line in self._lines)
        rows = [row for wrapped in lines for row in wrapped]
        self._pane.styles.height = max(3, min(len(rows), self.app.size.height - AROUND))
        return rows
