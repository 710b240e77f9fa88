"""Entries and bodies as text, for readable exports. Pure."""

import json
from collections import OrderedDict

from tui.core.text import clean, clean_line
from tui.core.traffic import ANSWERS, BODY_LOST_TEXT, KIND_WORDS, Direction, Entry, EntryNote, Kind
from tui.core.units import duration, size
from tui.storage.exports.jsonl import time_text

BODY_CHARS = 256 * 1024
"""Maximum characters of a body in a readable export."""

PRETTY_BYTES = 64 * 1024
"""Larger bodies are not indented: they would have too many lines to read."""

NOTE_CHARS = 2_000
"""Maximum characters of a note in a readable export."""

MAX_OPEN = 10_000

ARROWS = {Direction.OUT: "→", Direction.IN: "←", Direction.NONE: "·"}


def body_text(entry: Entry) -> str:
    """Return the readable body of an entry, or a note that it is lost."""
    return f"({BODY_LOST_TEXT})" if entry.is_body_lost else readable(entry.body)


def readable(body: bytes) -> str:
    """Return a body as cleaned text, JSON indented, truncated with a note of how much is missing."""
    text = ""
    if len(body) <= PRETTY_BYTES:
        try:
            text = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
        except (ValueError, RecursionError):
            text = ""
    text = text or body[: BODY_CHARS * 4].decode("utf-8", "replace")
    shown = clean(text[:BODY_CHARS])
    left_out = len(body) - len(shown.encode("utf-8", "replace")) if len(text) > BODY_CHARS else 0
    return f"{shown}\n… {size(left_out)} more" if left_out > 0 else shown


def name_of(entry: Entry) -> str:
    """Return the subject of an entry in a few words."""
    if entry.method:
        return clean_line(f"{entry.method} {entry.tool}".strip(), 120)
    return clean_line(entry.body[:500].decode("utf-8", "replace"), 120)


def facts(entry: Entry, *, is_marked: bool = False) -> str:
    """Return time, size and id of an entry on one line."""
    parts = [time_text(entry.wall_ns), KIND_WORDS[entry.kind], size(entry.size)]
    if entry.ident:
        parts.append(f"id {clean_line(entry.ident, 60)}")
    if entry.sha256:
        parts.append(f"truncated, SHA-256 {clean_line(entry.sha256, 64)}")
    if entry.redactions:
        parts.append(f"{len(entry.redactions)} redacted")
    if is_marked:
        parts.append("marked")
    return ", ".join(parts)


def note_line(note: EntryNote) -> str:
    """Return the user's note on an entry on one line, or ""."""
    return f"Note: {clean_line(note.text, NOTE_CHARS)}" if note.text else ""


class Latencies:
    """Measures response times in a stream of entries."""

    def __init__(self) -> None:
        self._asked: OrderedDict[int, int] = OrderedDict()

    def of(self, entry: Entry) -> str:
        """Add the next entry. Return the duration if it is a response, otherwise ""."""
        if entry.kind in (Kind.REQUEST, Kind.MODEL_REQUEST):
            self._asked[entry.seq] = entry.mono_ns
            if len(self._asked) > MAX_OPEN:
                self._asked.popitem(last=False)
        elif entry.kind in ANSWERS and entry.pair in self._asked:
            return duration((entry.mono_ns - self._asked.pop(entry.pair)) / 1e6)
        return ""
