"""Dialogs that show something to read: rows, such as what has changed, or a text."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.core.hidden_text.readable import readable
from tui.core.language.translate import _
from tui.core.text import start_of
from tui.ui.dialogs.dialog import Dialog, RowsPane, heading
from tui.ui.widgets.rows import EMPTY, Row, wrap

MAX_CHARS = 100_000
"""Characters of a text that are shown."""


class RowsDialog(Dialog[None]):
    """Shows rows below a heading, until it is closed."""

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        pane = RowsPane(lambda width: [line for row in rows for line in wrap(row, width)])
        super().__init__(heading(title), pane, keys=self.key_line())


class TextDialog(Dialog[None]):
    """Shows a text of a server, made visible."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "back", show=False, priority=True)]

    def __init__(self, title: str, text: str) -> None:
        self._lines = readable(start_of(text, MAX_CHARS)).split("\n")
        if (more := len(text) - MAX_CHARS) > 0:
            self._lines.append(_("… {more} more characters", more=f"{more:,}"))
        self._pane = RowsPane(lambda width: wrapped(self._lines, width))
        super().__init__(((title, "text bold"),), self._pane, keys=self.key_line())

    def on_mount(self) -> None:
        self.set_focus(self._pane)


def wrapped(lines: Iterable[str], width: int) -> list[Row]:
    """Return lines of text as rows."""
    return [row for line in lines for row in wrap(((line.expandtabs(4), "text"),), width) or [EMPTY]]
