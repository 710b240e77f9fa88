"""The lines that a server wrote to stderr: virtual, wrapped or cut, searchable, following the newest."""

from bisect import bisect_left

from tui.core.text import clean_line, fold
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, highlighted, wrap

LINE_CHARS = 4096


class LogLines(LinePane):
    """Shows a tail of lines that grows at its end and loses lines at its start.

    Attributes:
        wrapped: long lines are broken rather than cut.
        sought: what is searched for, or "".
        empty: what stands there while there are no lines.
        hang: cells before the further rows of a wrapped line.
    """

    hang = 2

    def __init__(self, *, empty: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self.wrapped = True
        self.sought = ""
        self.empty = empty
        self._lines: tuple[str, ...] = ()
        self._rows: list[Row] = []
        self._firsts: list[int] = []  # line -> its first row
        self._hits: list[int] = []  # lines with what is searched for, ascending
        self._hit = -1

    # What others use

    def show(self, lines: tuple[str, ...]) -> bool:
        """Show these lines; return whether they are other ones than before."""
        if lines == self._lines:
            return False
        gone = _gone(self._lines, lines)
        rows_gone = self._firsts[gone] if gone < len(self._firsts) else len(self._rows)
        self._lines = lines
        self._hit -= gone
        self._lay_out()
        if not self.following and rows_gone:
            # The person reads: the lines in view stay where they are while older ones go.
            self._place(self.scroll_y - rows_gone)
        return True

    def toggle_wrap(self) -> None:
        """Break long lines, or cut them."""
        top = self._line_of(round(self.scroll_y))
        self.wrapped = not self.wrapped
        self._lay_out()
        if not self.following and top < len(self._firsts):
            self._place(self._firsts[top])

    def search(self, query: str) -> None:
        """Mark `query` wherever it stands, upper and lower case alike, and go to its last place."""
        self.sought = fold(query)
        self._find()
        self._hit = self._hits[-1] if self._hits else -1
        self.rows_changed()
        self._show_hit()

    def next_hit(self, direction: int) -> None:
        """Go to the next line with what is searched for, or the one before; past the end: the first."""
        if not self._hits:
            return
        place = bisect_left(self._hits, self._hit)
        if place < len(self._hits) and self._hits[place] == self._hit:
            place += direction
        elif direction < 0:
            place -= 1
        self._hit = self._hits[place % len(self._hits)]
        self.rows_changed()
        self._show_hit()

    @property
    def found(self) -> str:
        """How many lines hold what is searched for: "2 of 7", "nothing found", or "" without a search."""
        if not self.sought:
            return ""
        if not self._hits:
            return "nothing found"
        return f"{bisect_left(self._hits, self._hit) + 1} of {len(self._hits)}"

    @property
    def text(self) -> str:
        """All lines, for the clipboard."""
        return "\n".join(self._lines)

    # What the pane shows

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self._rows) or 1

    def row(self, index: int) -> Row:
        """Return a row, with what is searched for marked."""
        if not self._rows:
            return ((self.empty, "dim"),)
        return highlighted(self._rows[index], self.sought)

    def row_ground(self, index: int) -> str:
        """Paint the line that the search stands on."""
        return "cursor" if self._hit >= 0 and self._line_of(index) == self._hit else ""

    def line_row(self, line: str) -> Row:
        """Return a line as a row, cleaned, however long."""
        return ((clean_line(line, LINE_CHARS), "text"),)

    def rewrap(self) -> None:
        """The width changed."""
        self._lay_out()

    # How it lays out

    def _lay_out(self) -> None:
        width = self.columns
        self._rows, self._firsts = [], []
        for line in self._lines:
            self._firsts.append(len(self._rows))
            row = self.line_row(line)
            if self.wrapped:
                self._rows.extend(wrap(row, width, rest=((" " * self.hang, ""),)))
            else:
                self._rows.append(crop(row, width))
        self._find()
        self.rows_changed()

    def _find(self) -> None:
        query = self.sought
        lines = enumerate(self._lines)
        self._hits = [index for index, line in lines if query in fold(line)] if query else []
        if not query:
            self._hit = -1

    def _show_hit(self) -> None:
        if self._hit < 0:
            return
        first = self._firsts[self._hit]
        end = self._firsts[self._hit + 1] if self._hit + 1 < len(self._firsts) else len(self._rows)
        self.following = False
        self.show_row(first, end - first)

    def _line_of(self, row: int) -> int:
        return bisect_left(self._firsts, row + 1) - 1


def _gone(before: tuple[str, ...], after: tuple[str, ...]) -> int:
    """Return how many lines at the start of `before` are no longer in `after`, its continuation."""
    if not before or not after:
        return len(before)
    for gone, line in enumerate(before):
        kept = len(before) - gone
        if line == after[0] and kept <= len(after) and before[gone:] == after[:kept]:
            return gone
    return len(before)
