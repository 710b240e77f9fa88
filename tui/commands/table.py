"""Tables and JSON that the commands print. Pure.

On a terminal, columns share its width by their content: the widest are narrowed first, and their cells go on
in the next line. Numbers are never broken. Elsewhere, and with `--wide`, each row is one line. Nothing is
cut.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from tui.core.text import cells_of, graphemes, head_of, padded

Row = Sequence[str]

GAP = "  "
TEXT_CELLS = 200
"""Width of a column of text whose rows are not known yet: as wide as the terminal allows."""
WORDS, LEAST = (24, 16, 12, 10), 8
"""Most cells of words that are not broken, by the room there is, and the least of a column of text."""

PARTS = "/-_.:,"
"""After these characters, a long word is broken first."""
_AFTER_PARTS = re.compile(f"(?<=[{re.escape(PARTS)}])")

INDENT = "  "
"""Before the lines of a row that is printed below each other, except the first."""

_NOTHING = frozenset({"", "·"})


def table(
    rows: Sequence[Row], left: Container[int], cells: int = 0, *, head: Row = (), indent: str = ""
) -> str:
    """Return rows as aligned lines of at most `cells`, or of any width if that is 0.

    Columns in `left` (from 0) are left-aligned, others right-aligned. Where space is short, columns that are
    empty in all rows are left out.
    """
    widths = _widths_of([head, *rows])
    if cells and len(indent) + sum(widths) + len(GAP) * (len(widths) - 1) > cells:
        filled = [at for at in range(len(widths)) if not all(row[at] in _NOTHING for row in rows)]
        left = {place for place, at in enumerate(filled) if at in left}
        rows, head = [[row[at] for at in filled] for row in rows], [head[at] for at in filled if head]
    columns = Columns.of(rows, left, cells, head=head, indent=indent)
    return "\n".join([*columns.heading(), *(line for row in rows for line in columns.lines(row))])


def _unbroken(word: str) -> int:
    """Return the cells of a word that should stay whole.

    A longer one can be broken after `PARTS`, and any between wide characters.
    """
    cells = cells_of(word)
    if cells > len(word):
        return min(cells, LEAST)
    return cells if cells <= WORDS[0] else max(map(len, _AFTER_PARTS.split(word)))


def _widths_of(rows: Sequence[Row]) -> list[int]:
    return [max(map(cells_of, column)) for column in zip_longest(*rows, fillvalue="")]


class Columns:
    """The columns of a table whose rows may be printed one by one, before the others are known."""

    def __init__(
        self,
        widths: Sequence[int],
        left: Container[int],
        cells: int = 0,
        *,
        head: Row = (),
        words: Sequence[int] = (),
        indent: str = "",
    ) -> None:
        """Fit columns of these `widths` into `cells`, or into any width if that is 0.

        `words` are the widths of their longest words, as far as known.
        """
        self._left, self._head, self._indent = left, head, indent
        self.cells = cells
        self._cells = max(1, cells - len(indent)) if cells else 0
        self._widths = _fitted(widths, left, self._cells, words) if cells else [*widths]

    @classmethod
    def of(
        cls, rows: Sequence[Row], left: Container[int], cells: int = 0, *, head: Row = (), indent: str = ""
    ) -> "Columns":
        """Return the columns for these rows."""
        columns = zip(*([head] if head else []), *rows, strict=True)
        words = [[word for cell in column for word in cell.split(" ")] for column in columns]
        longest = [max(map(_unbroken, column)) for column in words]
        return cls(_widths_of([head, *rows]), left, cells, head=head, words=longest, indent=indent)

    def heading(self) -> list[str]:
        """Return the lines of the heading."""
        return self.lines(self._head) if self._head and self._widths else []

    def lines(self, row: Row, colours: Mapping[int, str] = MappingProxyType({})) -> list[str]:
        """Return the lines of a row. `colours` are those of columns, as for `painted`."""
        if not self._widths:
            return [f"{self._indent}{line}" for line in self._below_each_other(row)]
        broken = [
            broken_at(cell, width) if self._cells else [cell]
            for cell, width in zip(row, self._widths, strict=True)
        ]
        return [self._line(line, colours) for line in zip_longest(*broken, fillvalue="")]

    def _line(self, row: Row, colours: Mapping[int, str]) -> str:
        last = max((at for at, cell in enumerate(row) if cell), default=0)
        cells = (
            padded(cell, width, right=at not in self._left) if at < last or at not in self._left else cell
            for at, (cell, width) in enumerate(zip(row[: last + 1], self._widths, strict=False))
        )
        return self._indent + GAP.join(painted(cell, colours.get(at, "")) for at, cell in enumerate(cells))

    def _below_each_other(self, row: Row) -> Iterator[str]:
        """Yield a row for a terminal that is too narrow for its columns: a cell in each line."""
        before = ""
        for name, cell in zip_longest(self._head, row, fillvalue=""):
            if cell not in _NOTHING:
                named = f"{name}: {cell}" if name and before else cell
                for line in broken_at(named, max(1, self._cells - len(before))):
                    yield before + line
                    before = INDENT if self._cells > 2 * len(INDENT) else ""


def _fitted(widths: Sequence[int], left: Container[int], cells: int, words: Sequence[int]) -> list[int]:
    """Return the widths with which the columns fit, the widest narrowed first; none if they cannot."""
    room = cells - len(GAP) * (len(widths) - 1)
    if sum(widths) <= room:
        return [*widths]
    for most in WORDS:
        least = [
            min(width, max(LEAST, min(word, most))) if at in left else width
            for at, (width, word) in enumerate(zip_longest(widths, words, fillvalue=0))
        ]
        if sum(least) <= room:
            break
    else:
        return []
    while sum(least) < room:
        narrow = (at for at, width in enumerate(widths) if least[at] < width)
        least[max(narrow, key=lambda at: widths[at] / least[at] ** 2)] += 1
    return least


def broken_at(text: str, cells: int) -> list[str]:
    """Return the lines of a text, each of at most `cells`, broken between words, and within longer words."""
    lines, rest = list[str](), text
    while len(line := head_of(rest, cells) or next(iter(graphemes(rest)), "")) < len(rest):
        if rest[len(line)] != " ":  # within a word
            start = line.rfind(" ") + 1
            word = rest[start : start + cells + 1].partition(" ")[0]
            if start and (cells_of(word) <= cells or cells_of(line[start:]) < LEAST):
                line = line[: start - 1]
            elif (part := max(map(line.rfind, PARTS)) + 1) > (start + len(line)) // 2:
                line = line[:part]
        lines.append(line)
        rest = rest[len(line) :].removeprefix(" ")
    return [*lines, rest]


def lines_at(text: str, cells: int, indent: str = "") -> list[str]:
    """Return the lines of a text that is no table, each after an indent; one line if `cells` is 0."""
    lines = broken_at(text, max(1, cells - len(indent))) if cells else [text]
    return [f"{indent}{line}" for line in lines]


def painted(text: str, colour: str, on: bool = True) -> str:
    """Return `text` in a color (an SGR number of ECMA-48), or unchanged."""
    return f"\x1b[{colour}m{text}\x1b[0m" if on and colour and text else text


def json_line(value: Mapping[str, Any]) -> str:
    """Return an object as one line of JSON, in ASCII: no text or narrow locale can break it."""
    return json.dumps(value, separators=(",", ":"), default=str)
