"""Entries of the traffic as a document: a row for each. Pure."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from tui.core.text import clean_line
from tui.core.traffic import ANSWERS, BODY_LOST_TEXT, KIND_WORDS, Direction, Entry, EntryNote, Kind, Outcome
from tui.core.units import duration, size
from tui.storage.exports.document import LONGEST, Document, Row, readable
from tui.storage.exports.jsonl import NoteOf, no_note, time_text

NOTE_CHARS = 2_000
"""Maximum characters of a note in a readable export."""

MAX_OPEN = 10_000

_ARROWS = {Direction.OUT: "→", Direction.IN: "←", Direction.NONE: "·"}
_BAD = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST})


def entry_document(entries: Iterable[Entry], title: str, note_of: NoteOf = no_note) -> Document:
    """Return the entries as a document."""
    return Document(clean_line(title, 200), "", _rows(entries, note_of), is_list=True)


def _rows(entries: Iterable[Entry], note_of: NoteOf) -> Iterator[Row]:
    asked: OrderedDict[int, int] = OrderedDict()
    for entry in entries:
        note = note_of(entry.seq)
        body = entry.body[: LONGEST * 4].decode("utf-8", "replace")
        yield Row(
            number=entry.seq,
            source=clean_line(entry.source, 60),
            arrow=_ARROWS[entry.direction],
            name=clean_line(f"{entry.method} {entry.tool}".strip() if entry.method else body[:500], 120),
            took=_took(entry, asked),
            outcome=entry.outcome.name.lower().replace("_", " ") if entry.outcome else "",
            is_bad=entry.outcome in _BAD,
            facts=_facts(entry, is_marked=note.marked),
            note=note_line(note),
            body=f"({BODY_LOST_TEXT})" if entry.is_body_lost else readable(body, len(entry.body)),
        )


def _took(entry: Entry, asked: "OrderedDict[int, int]") -> str:
    """Return the duration if an entry is a response; `asked` are the times of the requests before it."""
    if entry.kind in (Kind.REQUEST, Kind.MODEL_REQUEST):
        asked[entry.seq] = entry.mono_ns
        if len(asked) > MAX_OPEN:
            asked.popitem(last=False)
    elif entry.kind in ANSWERS and entry.pair in asked:
        return duration((entry.mono_ns - asked.pop(entry.pair)) / 1e6)
    return ""


def _facts(entry: Entry, *, is_marked: bool) -> str:
    """Return time, size and id of an entry on one line."""
    parts = [time_text(entry.wall_ns), KIND_WORDS[entry.kind], size(entry.size)]
    parts += [f"id {clean_line(entry.ident, 60)}"] if entry.ident else []
    parts += [f"truncated, SHA-256 {clean_line(entry.sha256, 64)}"] if entry.sha256 else []
    parts += [f"{len(entry.redactions)} redacted"] if entry.redactions else []
    return ", ".join([*parts, "marked"] if is_marked else parts)


def note_line(note: EntryNote) -> str:
    """Return the user's note on an entry on one line, or ""."""
    return f"Note: {clean_line(note.text, NOTE_CHARS)}" if note.text else ""
