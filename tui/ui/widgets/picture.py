"""Picture: pixels as rows of half blocks, two pixels a cell, one over the other. Pure.

A cell is about twice as high as wide, so that pixels come out square. Its upper half is the character ▀ in
one colour, its lower half the ground behind it in another; that takes a terminal that knows all colours.
"""

from dataclasses import dataclass

from tui.ui.widgets.rows import Row, Span
from tui.ui.widgets.symbols import ASCII, Symbols

HALF = "▀"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image, as small as it is shown.

    Attributes:
        width: pixels in a line, which are cells.
        height: lines of pixels, two to a row of cells.
        pixels: three bytes each: red, green, blue.
        of: width and height of the image itself.
        moves: it has more frames; this is the first.
        is_cut: it is not all there, or broken somewhere.
    """

    width: int
    height: int
    pixels: bytes
    of: tuple[int, int]
    moves: bool = False
    is_cut: bool = False

    @property
    def rows(self) -> int:
        """How many rows it takes."""
        return (self.height + 1) // 2

    @property
    def is_reduced(self) -> bool:
        """Whether it is smaller than the image, or turned: with more room it may become larger."""
        return (self.width, self.height) != self.of

    def row(self, index: int) -> Row:
        """Return a row. Neighbours that look the same are one span."""
        upper, lower = self._line(2 * index), self._line(2 * index + 1)
        spans: list[Span] = []
        run, words = 0, ""
        for place in range(0, 3 * self.width, 3):
            above = f"#{upper[place : place + 3].hex()}"
            cell = f"{above} on #{lower[place : place + 3].hex()}" if lower else above
            if cell == words:
                run += 1
                continue
            if run:
                spans.append((HALF * run, words))
            run, words = 1, cell
        return (*spans, (HALF * run, words))

    def _line(self, number: int) -> bytes:
        return self.pixels[3 * self.width * number : 3 * self.width * (number + 1)]

    def within(self, columns: int) -> "Picture":
        """Return a picture that is no wider: every so many pixels are left out."""
        if self.width <= columns:
            return self
        width = max(1, columns)
        height = max(1, round(self.height * width / self.width))
        places = [3 * (place * self.width // width) for place in range(width)]
        lines = [self._line(number * self.height // height) for number in range(height)]
        pixels = b"".join([line[place : place + 3] for line in lines for place in places])
        return Picture(width, height, pixels, self.of, self.moves, self.is_cut)

    @property
    def caption(self) -> Row:
        """What is to be known of the image besides how it looks."""
        words = f"{self.of[0]} × {self.of[1]}"
        if self.moves:
            words += ", the first of its frames"
        cut: Row = ((", not all of it could be read", "warn"),) if self.is_cut else ()
        return ((words, "dim"), *cut)


def can_show_pictures(symbols: Symbols, color_system: str | None, no_color: bool) -> bool:
    """Return whether a terminal has the colours for pictures and the character for them.

    Args:
        symbols: what it can show.
        color_system: as rich names it; "truecolor" has all.
        no_color: the person wants none.
    """
    return symbols is not ASCII and color_system == "truecolor" and not no_color
