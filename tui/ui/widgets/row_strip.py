"""RowStrip: a row as it is painted, gone as soon as nobody shows it; and the last of them, kept by index.

Textual's own strips and caches refer to themselves: what is dropped stays until the garbage collector comes,
which holds up every key (measured under a flood: 1,200 strips a second with their segments, 2 MB).
"""

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from tui.core.text import clean
from tui.ui.widgets.palette import Palette
from tui.ui.widgets.rows import Row


class RowStrip(Strip):
    """A Strip that keeps no reference to itself.

    Textual's keeps what it was divided into and cropped to; in a pane as wide as the screen that is itself.
    """

    __slots__ = ()

    @classmethod
    def of(cls, segments: Iterable[Segment], width: int, under: Style) -> "RowStrip":
        """Return a strip of `width` cells; what is missing is filled with the style `under`."""
        strip = cls(segments)
        return strip if strip.cell_length == width else cls(strip.crop_extend(0, width, under), width)

    @classmethod
    def painted(cls, row: Row, width: int, palette: Palette, under: Style) -> "RowStrip":
        """Return a row in the colours of a palette, on the ground `under`."""
        return cls.of(
            [Segment(_plain(text), palette.over(under, words)) for text, words in row if text], width, under
        )

    def apply_filter(self, filter: LineFilter, background: Color) -> "RowStrip":
        """Return the strip as a filter leaves it, which is such a strip too; as Textual does, it is kept."""
        kept = self._filter_cache.get((filter, background))
        if not isinstance(kept, RowStrip):
            kept = RowStrip(filter.apply(self._segments, background), self.cell_length)
            self._filter_cache[filter, background] = kept
        return kept

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the strips between the cuts; itself, if there is nothing to cut."""
        cuts = [cut for cut in cuts if cut <= self.cell_length]
        return [self] if cuts == [self.cell_length] else super().divide(cuts)


class KeptStrips:
    """Strips by the index of their row; the oldest go first.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[int, Strip] = {}

    def get(self, index: int) -> Strip | None:
        """Return the strip of a row, if it is kept."""
        return self._kept.get(index)

    def keep(self, index: int, strip: Strip) -> None:
        """Keep the strip of a row."""
        if len(self._kept) >= self._most:
            del self._kept[next(iter(self._kept))]
        self._kept[index] = strip

    def discard(self, index: int) -> None:
        """Forget the strip of a row."""
        self._kept.pop(index, None)

    def discard_from(self, start: int) -> None:
        """Forget the strips of a row and of all after it."""
        for index in [index for index in self._kept if index >= start]:
            del self._kept[index]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()


def _plain(text: str) -> str:
    """Return `text` as one line without controls; the last gate, rows are clean before they come."""
    if text.isprintable():
        return text
    return clean(text).replace("\n", "⏎").replace("\t", " ")
