"""Images as pictures: decoded in a process, drawn as half blocks.

Images come from servers, and decoders are a common target of hostile files. So no decoder runs in the process
that has the API keys and the screen: `tui.ui.widgets.decoder` decodes each image in its own process, with
limited time, memory and pixels, without our file descriptors, keys or environment. It is killed when
cancelled.

A cell is about twice as high as wide, so pixels are square: a cell shows two, one above the other. The upper
half is the character ▀ in one color, the lower half the background in another. This requires a terminal with
true color.
"""

import asyncio
import contextlib
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tui.core import units
from tui.core.background import end_worker, start_worker
from tui.core.errors import reason_of
from tui.core.language.translate import _
from tui.core.text import clean_line
from tui.ui.widgets.rows import Row, Span
from tui.ui.widgets.symbols import ASCII, symbols_for

HALF = "▀"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image, scaled to the size at which it is shown: a cell is a pixel wide and two high.

    A pixel is three bytes: red, green, blue. Of an image that `moves`, this is the first frame.
    """

    width: int
    height: int
    pixels: bytes
    of: tuple[int, int]  # width and height of the original
    moves: bool = False
    is_cut: bool = False  # truncated or damaged

    @property
    def rows(self) -> int:
        return (self.height + 1) // 2

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
        words += f", {_('first frame')}" if self.moves else ""
        return ((words, "dim"), (f", {_('incomplete')}" if self.is_cut else "", "warn"))


def can_show_pictures(color_system: str | None, no_color: bool) -> bool:
    """Return whether a terminal has the colors and the character. `color_system` is a name of rich."""
    return symbols_for() is not ASCII and color_system == "truecolor" and not no_color


SECONDS = 5.0
"""Timeout for one image (measured: 40 million pixels of PNG take 0.9 s)."""

MOST_BYTES = 32 * 1024 * 1024
"""Maximum base64 characters of an image."""

MOST_PIXELS = 40_000_000
"""Maximum pixels of an image, according to its header."""

MEMORY_BYTES = 1024 * 1024 * 1024
"""Address space of the process: several copies of the maximum pixels, at four bytes per pixel."""

MOST_COLUMNS, MOST_ROWS = 80, 30
"""Maximum cells of a picture; painting a cell takes 10 µs (measured)."""


class PictureError(Exception):
    """An image cannot be shown; the text says why."""


async def decoded(
    encoded: bytes, columns: int, rows: int, ground: tuple[int, int, int] = (0, 0, 0)
) -> Picture:
    """Return an image as a picture, or raise `PictureError`. If cancelled, it leaves no process behind.

    `columns` and `rows` limit its cells, `ground` is the color behind transparent parts.
    """
    if len(encoded) > MOST_BYTES:
        raise PictureError(_("too large ({size} in base64)", size=units.size(len(encoded))))
    size = {"columns": max(1, min(columns, MOST_COLUMNS)), "rows": max(1, min(rows, MOST_ROWS))}
    limits = {"seconds": SECONDS, "pixels": MOST_PIXELS, "memory": MEMORY_BYTES}
    request = json.dumps({**size, "ground": ground, **limits}).encode() + b"\n" + encoded
    try:
        async with asyncio.timeout(SECONDS + 1):  # the process has the same timeout and ends first
            answer = await _answer(request)
    except TimeoutError:
        answer = b""
    except OSError as error:
        raise PictureError(_("cannot start the decoder ({why})", why=reason_of(error))) from None
    return _picture(answer)


async def _answer(request: bytes) -> bytes:
    """Start the process and return its answer; b"" if it exits without one."""
    pillow = importlib.util.find_spec("PIL")
    if pillow is None or pillow.origin is None:
        raise PictureError(_("Pillow is not installed"))
    folder = str(Path(pillow.origin).parent.parent)
    process = await start_worker(("-I", "-S", str(Path(__file__).with_name("decoder.py")), folder))
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with contextlib.suppress(ConnectionError):  # the process has exited: then there is no answer
            process.stdin.write(request)
            await process.stdin.drain()
            process.stdin.close()
        try:
            await process.stdout.readexactly(6 * MOST_COLUMNS * MOST_ROWS + 1000)
        except asyncio.IncompleteReadError as end:
            await process.wait()
            return end.partial
        raise PictureError(_("the decoder returned too much"))
    finally:
        await end_worker(process)


def _picture(answer: bytes) -> Picture:
    """Parse an answer; a compromised decoder may send anything."""
    line, _newline, pixels = answer.partition(b"\n")
    try:
        head = json.loads(line)
        if problem := head.get("problem"):
            raise PictureError(clean_line(str(problem), 200))
        width, height, of = (head[name] for name in ("width", "height", "of"))
        if not 0 < width <= MOST_COLUMNS or len(pixels) != 3 * width * height:
            raise ValueError(head)
        size = int(of[0]), int(of[1])
        return Picture(width, height, pixels, size, bool(head["moves"]), bool(head["cut"]))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise PictureError(_("it needs too much time or memory")) from None


@dataclass(slots=True, eq=False)
class Image:
    """An image on a sheet, which is decoded once it is unfolded; `encoded` returns its base64."""

    encoded: Callable[[], str]
    changed: Callable[[], None]
    indent: int = 0
    is_wanted: bool = True  # to be decoded: for the first time, or because it could be larger
    _found: Picture | str | None = None

    def put(self, found: Picture | str) -> None:
        """Take the picture, or the reason why it cannot be decoded."""
        self._found, self.is_wanted = found, False
        self.changed()

    def again(self) -> None:
        """Decode it again if a larger pane may show it larger."""
        found = self._found
        self.is_wanted |= isinstance(found, Picture) and (found.width, found.height) != found.of

    def rows(self, width: int) -> list[Row]:
        """Return the rows of the picture, of the reason why there is none, or of one being decoded."""
        match self._found:
            case Picture() as picture:
                fits = picture.within(max(1, width))
                return [*(fits.row(index) for index in range(fits.rows)), fits.caption]
            case str() as problem:
                return [((_("Cannot decode this image: {why}", why=problem), "warn"),)]
            case None:
                return [((_("decoding…"), "dim"),)]
