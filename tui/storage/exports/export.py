"""Exports of recordings: selected entries in a format for other programs or to read."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from tui.core.text import clean_line
from tui.core.traffic import BODY_LOST_TEXT, KIND_WORDS, Direction, Entry, EntryNote, Outcome
from tui.core.units import rfc3339, size, span
from tui.storage.exports.document import LONGEST, Document, Row, bounded_json, note_line
from tui.storage.exports.har import har
from tui.storage.exports.html import html
from tui.storage.exports.jsonl import NoteOf, jsonl, no_note
from tui.storage.exports.markdown import markdown
from tui.storage.exports.shapes import ExportContents as ExportContents
from tui.storage.exports.shapes import shape, with_shapes

_ARROWS = {Direction.OUT: "→", Direction.IN: "←", Direction.NONE: "·"}
_BAD = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST})


class Format(StrEnum):
    """The format of an export."""

    JSONL = "jsonl"
    MARKDOWN = "md"
    HAR = "har"
    HTML = "html"


Writer = Callable[[Iterable[Entry], Callable[[int], Entry | None]], Iterator[str]]
"""Writes a format of an add-on, from entries without bodies and a function that returns one with its body."""

LatencyOf = Callable[[int], int]
"""Returns how long the response took, in nanoseconds, for an entry with a seq; -1 for none."""


def no_latency(seq: int) -> int:
    """Return the latency of an entry without a response."""
    return -1


def exported(
    form: Format | Writer,
    columns: Iterable[Entry],
    whole: Callable[[int], Entry | None],
    title: str,
    note_of: NoteOf = no_note,
    latency_of: LatencyOf = no_latency,
    *,
    shapes: bool = False,
) -> Iterator[str]:
    """Yield an export piece by piece: the entries of `columns`, in order, with their bodies from `whole`.

    Secrets stay redacted. With `shapes`, values are replaced with placeholders.
    """

    def shown(seq: int) -> Entry | None:
        entry = whole(seq)
        return with_shapes(entry) if shapes and entry is not None else entry

    def noted(seq: int) -> EntryNote:
        note = note_of(seq)
        return EntryNote(note.marked, str(shape(note.text))) if shapes else note

    entries = (entry for one in columns if (entry := shown(one.seq)) is not None)
    if not isinstance(form, Format):
        return form(columns, shown)
    match form:
        case Format.JSONL:
            return jsonl(entries, noted)
        case Format.MARKDOWN:
            return markdown(entry_document(entries, title, noted, latency_of))
        case Format.HAR:
            return har(columns, shown, noted)
        case Format.HTML:
            return html(entry_document(entries, title, noted, latency_of))


def entry_document(
    entries: Iterable[Entry], title: str, note_of: NoteOf = no_note, latency_of: LatencyOf = no_latency
) -> Document:
    """Return the entries as a document."""
    return Document(clean_line(title, 200), "", _rows(entries, note_of, latency_of), is_list=True)


def _rows(entries: Iterable[Entry], note_of: NoteOf, latency_of: LatencyOf) -> Iterator[Row]:
    for entry in entries:
        note, latency = note_of(entry.seq), latency_of(entry.seq)
        body = entry.body[: LONGEST * 4].decode("utf-8", "replace")
        facts = [rfc3339(entry.wall_ns), KIND_WORDS[entry.kind], size(entry.size)]
        facts += [f"id {clean_line(entry.ident, 60)}"] if entry.ident else []
        facts += [f"truncated, SHA-256 {clean_line(entry.sha256, 64)}"] if entry.sha256 else []
        facts += [f"{len(entry.redactions)} redacted"] if entry.redactions else []
        facts += ["marked"] if note.marked else []
        yield Row(
            number=entry.seq,
            source=clean_line(entry.source, 60),
            arrow=_ARROWS[entry.direction],
            name=clean_line(f"{entry.method} {entry.tool}".strip() if entry.method else body[:500], 120),
            took=span(latency) if latency >= 0 else "",
            outcome=entry.outcome.name.lower().replace("_", " ") if entry.outcome else "",
            is_bad=entry.outcome in _BAD,
            facts=", ".join(facts),
            note=note_line(note),
            body=f"({BODY_LOST_TEXT})" if entry.is_body_lost else bounded_json(body, len(entry.body)),
        )
