"""Sheet: what the pane that reads an entry shows, as rows; and the plain one, made of rows that are there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tui.ui.widgets.picture import Picture
from tui.ui.widgets.rows import Row, text_of, wrap

Work = Callable[[], Callable[[], None]]
"""Something that takes time: called in a thread, it returns what is to be done with what was found."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A picture that is to be decoded.

    Attributes:
        encoded: gives the base64 of it.
        indent: cells to the left of it.
        put: takes the picture, or why there is none.
    """

    encoded: Callable[[], bytes]
    indent: int
    put: Callable[[Picture | str], None]


class Pictures(Protocol):
    """The images in a sheet, which are pictures once somebody has decoded them."""

    def begin(self) -> None:
        """Show images as pictures from now on, the first of them at once; asked for again, do nothing."""
        ...

    def wanted(self) -> Wanted | None:
        """Return the next picture that is in sight and not decoded yet."""
        ...

    def again(self) -> None:
        """Want those once more that may be larger or must be smaller: there is another room for them."""
        ...


class Sheet(Protocol):
    """Rows to read, some of which fold."""

    @property
    def pictures(self) -> Pictures | None:
        """The images in it, if it can have any."""
        ...

    def count(self) -> int:
        """Return how many rows there are."""
        ...

    def row(self, index: int, width: int) -> Row:
        """Return a row."""
        ...

    def toggle(self, index: int, width: int) -> Work | None:
        """Fold or unfold a row; return what is to be done in a thread first, if it takes long."""
        ...

    def value(self, index: int) -> str:
        """Return the value in a row as text, for the clipboard."""
        ...

    def path(self, index: int) -> str:
        """Return where the value in a row stands, "" for nowhere."""
        ...

    def fit(self, width: int) -> None:
        """The width is another one now."""
        ...


class Lines:
    """Paragraphs, wrapped."""

    pictures: Pictures | None = None

    def __init__(self, paragraphs: Sequence[Row]) -> None:
        self._paragraphs = paragraphs
        self._rows: list[Row] = list(paragraphs)

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Row:
        """Return a row."""
        return self._rows[index]

    def toggle(self, index: int, width: int) -> Work | None:
        """Nothing folds here."""
        return None

    def value(self, index: int) -> str:
        """Return a row as text."""
        return text_of(self._rows[index]).strip()

    def path(self, index: int) -> str:
        """Lines stand nowhere."""
        return ""

    def fit(self, width: int) -> None:
        """Wrap again."""
        self._rows = [row for one in self._paragraphs for row in wrap(one, max(10, width))]
