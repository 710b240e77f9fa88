"""The first line: whose answers these are, and what can be called."""

from collections.abc import Sequence

from tui.core.text import clean_line
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row


class Header(Bar):
    """Name of the program, running servers, model and step."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._servers = ""
        self._right = ""
        self._busy = False

    def show(self, servers: Sequence[str], model: str, step: str) -> None:
        """Show the running servers, the model and the step ("" while no turn runs)."""
        names = ", ".join(clean_line(name, 40) for name in servers)
        right = " · ".join(part for part in (clean_line(model, 60), step) if part)
        if (names, right, bool(step)) != (self._servers, self._right, self._busy):
            self._servers, self._right, self._busy = names, right, bool(step)
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        left: Row = ((" mcptui", "accent bold"),)
        if self._servers:
            left = (*left, (f"  ·  {self._servers}", "dim"))
        right: Row = ((self._right, "text"), (" ▸ " if self._busy else " ", "accent"))
        return spread(left, right, width)
