"""Where a text stands in a large body, found without keeping other threads waiting. Pure."""

from collections.abc import Iterator, Sequence
from threading import Event

from tui.core.search_text import ESCAPE, end_of_escapes, escaped_char, holds_json
from tui.core.text import fold, spans

STEP = 16 * 1024
"""Bytes that are looked at together."""

MOST = 10_000
"""Finds; nobody steps through more."""

_BYTES_PER_CHARACTER = 64
"""A folded character may be written as several, each as an escape in a string that is in a string."""


def places(data: bytes, text: str, stop: Event | None = None) -> list[int]:
    """Return the offsets where `text` begins, compared as in a filter; in JSON as it is, and as escaped.

    Set `stop` from another thread to end it with what it has.
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
    """Return the last place up to `at` that is not inside of a character or an escape."""
    if at >= len(data):
        return len(data)
    for _ in range(3):  # a character has at most so many bytes behind its first
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
            offsets = offsets or _offsets(text)
            yield from (offsets[start] for start, _ in spans(text, folded))
        if "\\" not in text:
            return
        text, offsets = _decoded(text, offsets or _offsets(text))


def _offsets(text: str) -> list[int]:
    """Return the offset in bytes of each character."""
    found, at = [], 0
    for char in text:
        found.append(at)
        at += len(char.encode("utf-8", "surrogateescape"))
    return found


def _decoded(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    """Return a text without its escapes, and the offsets of its characters."""
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for escape in ESCAPE.finditer(text):
        start, char = escape.start(), escaped_char(escape)
        parts += text[at:start], char
        kept += *offsets[at:start], *[offsets[start]] * len(char)
        at = escape.end()
    return "".join((*parts, text[at:])), [*kept, *offsets[at:]]
