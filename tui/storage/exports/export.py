"""Exports of recordings: selected entries in a format for other programs or to read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tui.core.text import clean_line
from tui.core.traffic import BODY_LOST_TEXT, KIND_WORDS, Direction, Entry, EntryNote, Finding, Outcome
from tui.core.units import rfc3339, size, span, time_of_day
from tui.storage.exports.contents import WHOLE, Choice, chosen, cut
from tui.storage.exports.document import LONGEST, Document, Portion, Row, bounded_json, note_line
from tui.storage.exports.har import har
from tui.storage.exports.html import html
from tui.storage.exports.jsonl import NoteOf, jsonl, no_note
from tui.storage.exports.markdown import markdown
from tui.storage.exports.shapes import shape, with_shapes

_ARROWS = {Direction.OUT: "→", Direction.IN: "←", Direction.NONE: "·"}
_BAD = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST})


MOST_FINDINGS, MOST_SENTENCE = 50, 600
"""Maximum findings of an entry, and characters of the sentence of each."""


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

FindingsOf = Callable[[int], Sequence[Finding]]
"""Returns the linter's findings of the entry with a seq."""


def no_findings(seq: int) -> Sequence[Finding]:
    """Return the findings of an entry without any."""
    return ()


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What is known of entries besides themselves."""

    note_of: NoteOf = no_note
    latency_of: LatencyOf = lambda seq: -1
    findings_of: FindingsOf = no_findings


def exported(
    form: Format | Writer,
    columns: Iterable[Entry],
    whole: Callable[[int], Entry | None],
    title: str,
    facts: EntryFacts = EntryFacts(),
    choice: Choice = WHOLE,
) -> Iterator[str]:
    """Yield an export piece by piece: the entries of `columns`, in order, with their bodies from `whole`.

    Secrets stay redacted. Only a document (Markdown and HTML) leaves portions out.
    """

    def shown(seq: int) -> Entry | None:
        entry = whole(seq)
        return with_shapes(entry) if choice.shapes and entry is not None else entry

    entries = (entry for one in columns if (entry := shown(one.seq)) is not None)
    if not isinstance(form, Format):
        return form(columns, shown)
    match form:
        case Format.JSONL:
            return jsonl(entries, _noted(facts.note_of, choice))
        case Format.HAR:
            return har(columns, shown, _noted(facts.note_of, choice))
        case Format.MARKDOWN:
            return markdown(entry_document(entries, title, facts, choice))
        case Format.HTML:
            return html(entry_document(entries, title, facts, choice))


def entry_document(
    entries: Iterable[Entry],
    title: str,
    facts: EntryFacts = EntryFacts(),
    choice: Choice = WHOLE,
) -> Document:
    """Return the entries, which have shapes already, as a document."""
    rows = entry_rows(entries, facts, choice)
    return chosen(Document(clean_line(title, 200), "", rows, is_list=True), choice)


def _noted(note_of: NoteOf, choice: Choice) -> NoteOf:
    if Portion.NOTES in choice.without:
        return no_note
    if not choice.shapes:
        return note_of

    def noted(seq: int) -> EntryNote:
        note = note_of(seq)
        return EntryNote(note.marked, str(shape(note.text)))

    return noted


def entry_rows(
    entries: Iterable[Entry], facts: EntryFacts, choice: Choice = WHOLE, prefix: str = "e"
) -> Iterator[Row]:
    """Yield the rows of entries that have shapes already. `prefix` begins their anchors.

    Without messages, only entries with a finding or a note remain, without their bodies. The sentence of a
    finding may quote the message, so that it is left out with the values.
    """
    note_of = _noted(facts.note_of, choice)
    findings_of = no_findings if Portion.FINDINGS in choice.without else facts.findings_of
    is_quoted = not choice.shapes and not {Portion.VALUES, Portion.MESSAGES} & choice.without
    for each in entries:
        note, latency, found = note_of(each.seq), facts.latency_of(each.seq), findings_of(each.seq)
        if Portion.MESSAGES in choice.without and not (note.marked or note.text or found):
            continue
        entry, left_out = cut(each, choice.without)
        body = entry.body[: LONGEST * 4].decode("utf-8", "replace")
        shown = bounded_json(body, len(entry.body))
        about = [rfc3339(entry.wall_ns), KIND_WORDS[entry.kind], size(entry.size)]
        about += [f"id {clean_line(entry.ident, 60)}"] if entry.ident else []
        about += [f"truncated, SHA-256 {clean_line(entry.sha256, 64)}"] if entry.sha256 else []
        about += [f"{len(entry.redactions)} redacted"] if entry.redactions else []
        about += ["marked"] if note.marked else []
        said = f"{entry.method} {entry.tool}".strip() if entry.method else body[:500]
        yield Row(
            number=entry.seq,
            source=clean_line(entry.source, 60),
            arrow=_ARROWS[entry.direction],
            name=clean_line(said or KIND_WORDS[entry.kind], 120),
            took=span(latency) if latency >= 0 else "",
            outcome=entry.outcome.name.lower().replace("_", " ") if entry.outcome else "",
            is_bad=entry.outcome in _BAD,
            facts=", ".join(about),
            note=note_line(note),
            body=left_out or (f"({BODY_LOST_TEXT})" if entry.is_body_lost else shown),
            time=time_of_day(entry.wall_ns),
            anchor=f"{prefix}{entry.seq}",
            marked=note.marked,
            findings=tuple(_cleaned(one, is_quoted=is_quoted) for one in found[:MOST_FINDINGS]),
        )


def _cleaned(one: Finding, *, is_quoted: bool) -> Finding:
    """Return a finding, which a foreign recording may have stored, with its sentence if it `is_quoted`."""
    sentence = clean_line(one.sentence, MOST_SENTENCE) if is_quoted else ""
    return replace(one, code=clean_line(one.code, 60), sentence=sentence)
