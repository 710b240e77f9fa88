"""Picture: pixels as rows of half blocks, two pixels per cell, one above the other. Pure.

A cell is about twice as high as wide, so pixels are square. The upper half is the character ▀ in one color,
the lower half the background in another. This requires a terminal with true color.
"""

from dataclasses import dataclass

from tui.ui.widgets.rows import Row, Span
from tui.ui.widgets.symbols import ASCII, Symbols

HALF = "▀"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image, scaled to the size at which it is shown.

    Attributes:
        width: in pixels, one per cell.
        height: in pixels, two per cell.
        pixels: three bytes each: red, green, blue.
        of: width and height of the original.
        moves: whether it is animated; this is the first frame.
        is_cut: whether it is truncated or damaged.
    """

    width: int
    height: int
    pixels: bytes
    of: tuple[int, int]
    moves: bool = False
    is_cut: bool = False

    @property
    def rows(self) -> int:
        return (self.height + 1) // 2

    @property
    def is_reduced(self) -> bool:
        """Whether it is smaller than the original, so that a larger pane may show it larger."""
        return (self.width, self.height) != self.of

    def row(self, index: int) -> Row:
        """Return a row; neighboring cells with the same colors are one span."""
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
        """Return a picture that is no wider; pixels are skipped at regular intervals."""
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
        words = f"{self.of[0]} × {self.of[1]}"
        if self.moves:
            words += ", first frame"
        cut: Row = ((", incomplete", "warn"),) if self.is_cut else ()
        return ((words, "dim"), *cut)


def can_show_pictures(symbols: Symbols, color_system: str | None, no_color: bool) -> bool:
    """Return whether a terminal has the colors and the character. `color_system` is a name of rich."""
    return symbols is not ASCII and color_system == "truecolor" and not no_color
