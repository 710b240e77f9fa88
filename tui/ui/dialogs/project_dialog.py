"""Shows the project instructions of the folder, and asks whether to use them."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.core.context.instructions import FILE, ProjectInstructions
from tui.core.text import clean_line
from tui.ui.dialogs.confirm import ANSWER_SECONDS
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, wrap

AROUND = 8
"""Rows of the screen around the text."""


class _Text(LinePane):
    FOLLOWS = False

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._rows: list[Row] = []

    def rewrap(self) -> None:
        width = max(10, self.columns)
        self._rows = [
            row for line in self._text.split("\n") for row in wrap(((line.expandtabs(4), "text"),), width)
        ]
        self.styles.height = max(3, min(len(self._rows), self.app.size.height - AROUND))
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]


class ProjectDialog(ModalScreen[bool | None]):
    """Shows the instructions; returns whether to use them, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", "use", priority=True),
        Binding("n", "decide(False)", "do not use", priority=True),
        Binding("escape,q", "close", "close", priority=True),
    ]

    DEFAULT_CSS = """
    ProjectDialog { align: center middle; background: $surface 60%; }
    ProjectDialog > Vertical {
        width: 104; max-width: 100%; height: auto; max-height: 100%; padding: 1 3;
        background: $panel; border-left: outer $accent;
    }
    ProjectDialog Literal { width: 1fr; }
    ProjectDialog .about { color: $text-dim; }
    ProjectDialog _Text { margin: 1 0; background: $panel; }
    ProjectDialog .keys { color: $accent; }
    """

    def __init__(
        self,
        instructions: ProjectInstructions,
        tokens: str,
        *,
        used: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._instructions = instructions
        self._tokens = tokens
        self._used = used
        self._clock = clock
        self._shown = clock()

    def compose(self) -> ComposeResult:
        folder = clean_line(self._instructions.folder, 200)
        about = (
            f"In use. Adds {self._tokens} to each request."
            if self._used
            else f"Not in use. It would add {self._tokens} to each request."
        )
        with Vertical():
            yield Literal(f"{FILE} in {folder}")
            yield Literal(about, classes="about")
            yield _Text(self._instructions.shown)
            yield Literal("y use    n do not use    esc close", classes="keys")

    def action_decide(self, use: bool) -> None:
        """Accept the answer, unless the key was pressed before the text could be seen."""
        if self._clock() - self._shown >= ANSWER_SECONDS:
            self.dismiss(use)

    def action_close(self) -> None:
        self.dismiss(None)
