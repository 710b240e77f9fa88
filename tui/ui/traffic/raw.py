"""A body as its bytes: every control visible, secrets marked, read page by page however large it is."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from textual.cache import LRUCache

from tui.core.text import clean
from tui.core.traffic import Redaction
from tui.ui.widgets.page import Pictures, Work
from tui.ui.widgets.rows import Row, Span

PAGE = 64 * 1024
KEPT_PAGES = 16


class Raw:
    """Rows of as many bytes as a row has cells: no character is wider than its bytes in UTF-8 are many.

    Args:
        size: bytes of the stored body.
        redactions: where secrets stood.
        want: asks for the page that begins at an offset; `put` is called once it is there.
        cut: what is said after the last byte, "" if the body is whole.
    """

    pictures: Pictures | None = None

    def __init__(
        self, size: int, redactions: Sequence[Redaction], want: Callable[[int], None], cut: str = ""
    ) -> None:
        self.size = size
        self._redactions = redactions
        self._want = want
        self._cut = cut
        self._pages: LRUCache[int, bytes] = LRUCache(KEPT_PAGES)
        self._wanted: set[int] = set()
        self._width = 80

    def put(self, start: int, page: bytes) -> None:
        """Take in a page."""
        self._wanted.discard(start)
        self._pages[start] = page

    def fit(self, width: int) -> None:
        """Lay out the bytes for another width."""
        self._width = max(8, width - 10)

    def count(self) -> int:
        """Return how many rows there are."""
        return max(1, -(-self.size // self._width)) + bool(self._cut)

    def row_of(self, offset: int) -> int:
        """Return the row in which a byte stands."""
        return offset // self._width

    def start_of(self, row: int) -> int:
        """Return the offset of the first byte of a row."""
        return row * self._width

    def row(self, index: int, width: int) -> Row:
        """Return a row: the offset of its first byte, and its characters."""
        start = index * self._width
        if self._cut and start >= self.size:
            return ((self._cut, "warn"),)
        if not self.size:
            return (("no bytes", "dim"),)
        end = min(start + self._width, self.size)
        offset: Span = (f"{start:>8}  ", "aside dim")
        known = self._bytes(max(0, start - 3), min(end + 3, self.size))
        if known is None:
            return (offset, ("reading…", "dim"))
        return (offset, *self._spans(known, start - max(0, start - 3), start, end))

    def _bytes(self, start: int, end: int) -> bytes | None:
        """Return bytes from the pages that are there; None, and the wish for it, if one is not."""
        parts: list[bytes] = []
        for page in range(start - start % PAGE, end, PAGE):
            known = self._pages.get(page)
            if known is None:
                if page not in self._wanted:
                    self._wanted.add(page)
                    self._want(page)
                return None
            parts.append(known[max(0, start - page) : end - page])
        return b"".join(parts)

    def _spans(self, known: bytes, lead: int, start: int, end: int) -> list[Span]:
        edges = sorted(
            {start, end}
            | {edge for one in self._redactions for edge in (one.start, one.end) if start < edge < end}
        )
        spans: list[Span] = []
        for low, high in pairwise(edges):
            hidden = any(one.start <= low < one.end for one in self._redactions)
            text = visible(known, low - start + lead, high - start + lead)
            spans.append((text, "warn reverse" if hidden else "text"))
        return spans

    def toggle(self, index: int, width: int) -> Work | None:
        """Nothing folds here."""
        return None

    def value(self, index: int) -> str:
        """Return a row as text."""
        return "".join(text for text, style in self.row(index, self._width) if "aside" not in style)

    def path(self, index: int) -> str:
        """Return the offset of a row."""
        return f"byte {index * self._width}"


def visible(data: bytes, start: int, end: int) -> str:
    """Return the characters that begin in `start`..`end`, controls as pictures, what is no UTF-8 as �."""
    while start < end and data[start] & 0xC0 == 0x80 and _continues(data, start):
        start += 1
    stop = end
    while stop < len(data) and stop - end < 3 and data[stop] & 0xC0 == 0x80 and _continues(data, stop):
        stop += 1
    text = data[start:stop].decode("utf-8", "replace")
    return clean(text.replace("\r", "␍").replace("\n", "␊").replace("\t", "␉")).replace("\n", "�")


def _continues(data: bytes, at: int) -> bool:
    """Whether the byte at `at` goes on with a character that began before it, and that is one."""
    for begin in range(at - 1, max(-1, at - 4), -1):
        lead = data[begin]
        if lead & 0xC0 == 0x80:
            continue
        end = begin + (4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1)
        try:
            data[begin:end].decode()
        except UnicodeDecodeError:
            return False
        return at < end
    return False
