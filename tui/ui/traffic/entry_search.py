"""Searches the open entry: the offsets of a text in a body, and navigation between matches."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from threading import Event

from tui.core.search_text import ESCAPE, end_of_escapes, escaped_char, holds_json
from tui.core.text import fold, spans
from tui.ui.traffic.entry_loader import LoadedEntry
from tui.ui.traffic.sheets import RawSheet
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.page import Page
from tui.ui.widgets.rows import text_of
from tui.ui.widgets.tree import Tree

STEP = 16 * 1024
"""Bytes to search at once."""

MOST = 10_000
"""Maximum matches; more are not worth stepping through."""

_BYTES_PER_CHARACTER = 64
"""A folded character may be several characters, each of them an escape in a string within a string."""


def places(data: bytes, text: str, stop: Event | None = None) -> list[int]:
    """Return the offsets where `text` occurs, compared as in a filter; in JSON, also with escapes resolved.

    Setting `stop` from another thread ends the search early.
    """
    folded = fold(text)
    has_escapes = holds_json(data[:STEP].decode("utf-8", "replace"))
    found: set[int] = set()
    start = 0
    while folded and start < len(data) and len(found) < MOST:
        if stop is not None and stop.is_set():
            break
        end = _cut(data, start + STEP)
        reach = _cut(data, end + _BYTES_PER_CHARACTER * (len(folded) + 1))
        found.update(
            start + place for place in _places(data[start:reach], folded, has_escapes) if start + place < end
        )
        start = end
    return sorted(found)[:MOST]


def _cut(data: bytes, at: int) -> int:
    """Return the last offset up to `at` that is not inside a character or an escape."""
    if at >= len(data):
        return len(data)
    for _ in range(3):  # a character has at most three bytes after the first
        at -= data[at] & 0xC0 == 0x80
    start = max(0, at - STEP // 2)
    return start + end_of_escapes(data[start:at].decode("latin-1"))


def _places(piece: bytes, folded: str, has_escapes: bool) -> Iterator[int]:
    if piece.isascii() and not (has_escapes and b"\\" in piece):
        raw, lowered = folded.encode("utf-8", "surrogatepass"), piece.lower()
        at = lowered.find(raw)
        while at >= 0:
            yield at
            at = lowered.find(raw, at + len(raw))
        return
    text = piece.decode("utf-8", "surrogateescape")
    offsets: Sequence[int] = range(len(text)) if text.isascii() else ()
    for _ in range(3 if has_escapes else 1):
        if folded in fold(text):
            offsets = offsets or _byte_offsets(text)
            yield from (offsets[start] for start, _ in spans(text, folded))
        if "\\" not in text:
            return
        text, offsets = _decoded(text, offsets or _byte_offsets(text))


def _byte_offsets(text: str) -> list[int]:
    found, at = [], 0
    for char in text:
        found.append(at)
        at += len(char.encode("utf-8", "surrogateescape"))
    return found


def _decoded(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    """Return a text with its escapes resolved, and the offsets of its characters."""
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for escape in ESCAPE.finditer(text):
        start, char = escape.start(), escaped_char(escape)
        parts += text[at:start], char
        kept += *offsets[at:start], *[offsets[start]] * len(char)
        at = escape.end()
    return "".join((*parts, text[at:])), [*kept, *offsets[at:]]


class EntrySearch:
    """Goes from match to match in the page with the focus; the text is highlighted in all `pages`."""

    def __init__(
        self,
        pages: Sequence[Page],
        current: Callable[[], tuple[Page, LoadedEntry | None]],
        prompt: PromptLine,
    ) -> None:
        self._pages, self._current, self._prompt = pages, current, prompt
        self._searched: tuple[str, object] = ("", None)  # text and entry of `_offsets`
        self._offsets: list[int] = []
        self._last: tuple[object, int, int] = (None, -1, 0)  # sheet, row and offset of the last match

    def ask(self) -> None:
        self._prompt.ask(
            "search in this entry",
            self.begin,
            value=self._current()[0].search_text,
            cancelled=lambda: self.begin(""),
            replaces=True,
        )

    def begin(self, text: str) -> None:
        """Highlight a text and go to the first match."""
        for page in self._pages:
            page.seek(text)
        if text:
            self.go(1, first=True)

    def go(self, direction: int, *, first: bool = False) -> None:
        page, loaded = self._current()
        if not page.search_text:
            self.ask()
        elif isinstance(page.sheet, Tree | RawSheet) and loaded is not None:
            stop = Event()
            page.work(lambda: self._match_in_body(page, loaded, direction, first, stop), stop)
        else:
            self._go_in_rows(page, direction)

    def _go_in_rows(self, page: Page, direction: int) -> None:
        count = page.sheet.count()
        for step in range(1, count + 1):
            row = (page.cursor + direction * step) % count
            if page.search_text in fold(text_of(page.sheet.row(row, page.columns))):
                page.go_to_row(row)
                return
        page.app.notify("no matches", timeout=2)

    def _match_in_body(
        self, page: Page, loaded: LoadedEntry, direction: int, first: bool, stop: Event
    ) -> Callable[[], None]:
        """Find the next match, in a thread; return a function that goes to it."""
        searched, offsets = (page.search_text, loaded), self._offsets
        if self._searched != searched:
            offsets = places(loaded.body, page.search_text, stop)
            if not stop.is_set():
                self._searched, self._offsets = searched, offsets
        if not offsets:
            return lambda: page.app.notify("no matches", timeout=2)
        here = self._offset(page)
        at = bisect_right(offsets, here) if direction > 0 else bisect_left(offsets, here) - 1
        if first:
            at = bisect_left(offsets, here)
        offset = offsets[at % len(offsets)]
        sheet = page.sheet
        row = sheet.reveal(offset) if isinstance(sheet, Tree) else -1

        def go() -> None:
            page.go_to_row(sheet.row_of(offset) if isinstance(sheet, RawSheet) else max(0, row))
            self._last = (sheet, page.cursor, offset)

        return go

    def _offset(self, page: Page) -> int:
        sheet = page.sheet
        found_in, row, offset = self._last
        if found_in is sheet and row == page.cursor:
            return offset
        if isinstance(sheet, Tree):
            return sheet.offset(page.cursor)
        return sheet.start_of(page.cursor) if isinstance(sheet, RawSheet) else 0
