"""Dialogs that show something to read: rows, such as what has changed, or a text."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.core.hidden_text.readable import readable
from tui.core.language.translate import _
from tui.core.text import start_of
from tui.ui.dialogs.dialog import Dialog
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.rows import EMPTY, Row, wrap

MAX_CHARS = 100_000
"""Characters of a text that are shown."""


class RowsDialog(Dialog[None]):
    """Shows rows below a title, until it is closed. They are wrapped, or laid out by a function."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "back", show=False, priority=True)]

    def __init__(self, title: Row, rows: Sequence[Row] | Callable[[int], list[Row]]) -> None:
        lay_out = rows if callable(rows) else lambda width: [one for row in rows for one in wrap(row, width)]
        self._pane = RowsPane(lay_out)
        super().__init__(title, self._pane, keys=self.key_line())

    def on_mount(self) -> None:
        self.set_focus(self._pane)


class TextDialog(RowsDialog):
    """Shows a text of a server, made visible."""

    def __init__(self, title: str, text: str) -> None:
        lines = readable(start_of(text, MAX_CHARS)).split("\n")
        if (more := len(text) - MAX_CHARS) > 0:
            lines.append(_("… {more} more characters", more=f"{more:,}"))
        super().__init__(((title, "text bold"),), partial(wrapped, lines))


def wrapped(lines: Iterable[str], width: int) -> list[Row]:
    """Return lines of text as rows."""
    return [row for line in lines for row in wrap(((line.expandtabs(4), "text"),), width) or [EMPTY]]
