"""Searching in what was written before, as shells do with ctrl+r, with the finds in a list."""

from collections.abc import Callable, Sequence

from tui.core.text import clean_line
from tui.ui.chat.composer.box_rows import earlier_rows
from tui.ui.chat.composer.history import InputHistory
from tui.ui.widgets.box import Box


class Searching:
    """A search, while there is one.

    Args:
        box: shows query and finds.
        history: is searched.
        show: puts a message into the composer, to be looked at.
        keys: what stands at the end of the heading.
    """

    def __init__(
        self, box: Box, history: InputHistory, show: Callable[[str], None], keys: Callable[[], str]
    ) -> None:
        self._box = box
        self._history = history
        self._put = show
        self._keys = keys
        self._query = ""
        self._draft = ""
        self._found: Sequence[str] = ()
        self._marked = 0
        self.is_open = False

    def begin(self, draft: str) -> None:
        """Begin a search; `draft` comes back if nothing is taken."""
        self._draft, self._query, self.is_open = draft, "", True
        self._find()

    def write(self, letters: str) -> None:
        """Look for more."""
        self._query += clean_line(letters) if letters != " " else " "
        self._find()

    def erase(self) -> None:
        """Look for one letter less."""
        self._query = self._query[:-1]
        self._find()

    def step(self, direction: int) -> None:
        """Go to an older message (1) or a newer one (-1)."""
        if self._found:
            self._marked = max(0, min(len(self._found) - 1, self._marked + direction))
            self._show()

    def take(self, index: int | None = None) -> None:
        """End the search with the marked message, or the one in a line, in the composer."""
        if index is not None and 0 <= index < len(self._found):
            self._marked = index
        found = self._found[self._marked] if self._found else self._draft
        self._end()
        self._put(found)

    def leave(self) -> bool:
        """End the search with what was there before; return whether there was one."""
        if not self.is_open:
            return False
        self._end()
        self._put(self._draft)
        return True

    def _end(self) -> None:
        self.is_open = False
        self._box.show(())

    def _find(self) -> None:
        self._found = self._history.find(self._query)
        self._marked = 0
        self._show()

    def _show(self) -> None:
        if self._found:
            place = f"{self._marked + 1} of {len(self._found)}"
            self._put(self._found[self._marked])
        else:
            place = "nothing found" if self._query else "nothing written yet"
        heading = (
            (" written before › ", "dim"),
            (self._query, "text bold"),
            ("▏", "accent"),
            (f"  {place}   {self._keys()}", "dim"),
        )
        self._box.show(earlier_rows(self._found, self._query), self._marked if self._found else -1, heading)
