"""What a document contains, by portion: counted for a review, and left out. Pure.

Model requests repeat the conversation with its system prompt and files, and replies have the reasoning, so
that they lose their bodies if any of these is left out.
"""

import json
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from tui.core.secrets.walk import changed
from tui.core.text import clean_line
from tui.core.traffic import Entry, Kind
from tui.core.units import octets, plural, size
from tui.storage.exports.document import (
    MOST_ROWS,
    Aside,
    Block,
    Document,
    Files,
    Heading,
    Part,
    Portion,
    Prose,
    Row,
    Rows,
    Timeline,
)
from tui.storage.exports.shapes import MODEL

NOTHING: Set[Portion] = frozenset()
LEFT_OUT = "(left out)"

WORDS = {
    Portion.CONVERSATION: ("text", "questions, answers and the title"),
    Portion.REASONING: ("thought", "what models thought before they answered"),
    Portion.SYSTEM: ("prompt", "the system prompt"),
    Portion.WATERFALL: ("turn", "when each part of a turn ran"),
    Portion.MESSAGES: ("entry", "recorded messages, one a line"),
    Portion.VALUES: ("value", "arguments, results and the bodies of messages"),
    Portion.FINDINGS: ("finding", "findings of the linter"),
    Portion.NOTES: ("note", "your notes and marks"),
    Portion.ATTACHMENTS: ("file", "attached images, sounds and files"),
}
"""What is counted of a portion, and what it is."""

_SAID = frozenset(
    {Portion.CONVERSATION, Portion.REASONING, Portion.SYSTEM, Portion.VALUES, Portion.ATTACHMENTS}
)
"""What a request to a model repeats, or its reply has."""

_OF_MODELS = frozenset({Kind.MODEL_REQUEST, Kind.MODEL_REPLY})
_SAMPLING = "sampling/createMessage"
_DATA = frozenset({"data", "blob"})
_DEEPEST = 100


class Review:
    """Counts what a document contains, by portion, and its bytes. `servers` are the names of servers."""

    def __init__(self) -> None:
        self.counts: Counter[Portion] = Counter()
        self.octets: Counter[Portion] = Counter()
        self.servers: set[str] = set()

    def lines(self) -> list[tuple[Portion, str]]:
        """Return the portions that there are, each with its count and size: "6 messages, 12 kB"."""
        found = []
        for portion, (word, _) in WORDS.items():
            if number := self.counts[portion]:
                weight = f", {size(self.octets[portion])}" if self.octets[portion] else ""
                found.append((portion, f"{plural(number, word)}{weight}"))
        return found

    def see(self, part: Part) -> None:
        match part:
            case Heading(portion=portion) if portion is not Portion.SYSTEM:
                self._add(portion, "")
            case Prose(text) | Aside(text):
                self.octets[Portion.CONVERSATION] += octets(text)
            case Block(text=text, portion=portion):
                self._add(portion, text)
            case Files(attachments=attachments):
                for one in attachments:
                    self._add(Portion.ATTACHMENTS, "", one.size)
            case Timeline():
                self._add(Portion.WATERFALL, "")
            case Row():
                self._see_row(part)

    def _see_row(self, row: Row) -> None:
        if self.counts[Portion.MESSAGES] >= MOST_ROWS:
            return
        if row.source and not row.source.startswith(MODEL):
            self.servers.add(row.source)
        self._add(Portion.MESSAGES, row.name)
        if row.body:
            self._add(Portion.VALUES, row.body)
        for one in row.findings:
            self._add(Portion.FINDINGS, one.sentence)
        if row.note or row.marked:
            self._add(Portion.NOTES, row.note)

    def _add(self, portion: Portion, text: str, weight: int = 0) -> None:
        if text != LEFT_OUT:
            self.counts[portion] += 1
            self.octets[portion] += weight + octets(text)


@dataclass(frozen=True, slots=True)
class Choice:
    """What whoever shares an export chose: with `shapes`, values become placeholders; `without` is left out.

    `review`, if given, counts what the document contains.
    """

    shapes: bool = False
    without: Set[Portion] = NOTHING
    review: Review | None = None

    @property
    def words(self) -> str:
        """What was chosen, such as "redacted, without notes, values"; "" for the whole."""
        left_out = f"without {', '.join(sorted(self.without))}" if self.without else ""
        return ", ".join(filter(None, ("redacted" if self.shapes else "", left_out)))


WHOLE = Choice()


def chosen(document: Document, choice: Choice) -> Document:
    """Return a document as it was chosen, which says so. Rows are cut where they are made."""
    kept = without_portions(document, choice.without) if choice.without else document
    kept = replace(kept, facts=" · ".join(filter(None, (kept.facts, choice.words))))
    return kept if choice.review is None else reviewed(kept, choice.review)


def reviewed(document: Document, review: Review) -> Document:
    """Return a document whose parts `review` counts as they are read."""
    review.servers |= document.servers

    def rows(found: Iterator[Row]) -> Iterator[Row]:
        for row in found:
            review.see(row)
            yield row

    def parts() -> Iterator[Part]:
        for part in document.parts:
            review.see(part)
            yield Rows(part.title, rows(part.rows)) if isinstance(part, Rows) else part

    return replace(document, parts=parts())


def review_of(document: Document) -> Review:
    """Return what a document contains; its parts are read."""
    review = Review()
    for part in reviewed(document, review).parts:
        if isinstance(part, Rows):
            for _ in part.rows:
                pass
    return review


def without_portions(document: Document, without: Set[Portion]) -> Document:
    """Return a document without some portions.

    Without the conversation, turns have their number as heading, and the title is left out.
    """
    parts = (kept for part in document.parts if (kept := _kept(part, without)) is not None)
    has_title = document.is_list or Portion.CONVERSATION not in without
    title = document.title if has_title else "A conversation"
    return replace(document, title=title, parts=parts)


def _kept(part: Part, without: Set[Portion]) -> Part | None:
    is_silent = Portion.CONVERSATION in without
    match part:
        case Heading(turn=turn) if turn and is_silent:
            return replace(part, title=f"Turn {turn}")
        case Heading(portion=portion):
            return None if portion in without else part
        case Prose() | Aside():
            return None if is_silent else part
        case Block(portion=portion):
            if portion in without:
                is_call = portion is Portion.VALUES
                return replace(part, text=LEFT_OUT, note="") if is_call and not is_silent else None
            return part
        case Files(is_result=is_result):
            left_out = {Portion.ATTACHMENTS, Portion.VALUES} if is_result else {Portion.ATTACHMENTS}
            return None if left_out & without else part
        case Timeline():
            return None if Portion.WATERFALL in without else part
    return part


def cut(entry: Entry, without: Set[Portion]) -> tuple[Entry, str]:
    """Return an entry for a document without some portions, and what stands for a body that is left out."""
    speaks = entry.kind in _OF_MODELS or entry.method == _SAMPLING
    if {Portion.MESSAGES, Portion.VALUES} & without or (speaks and _SAID & without):
        return entry._replace(body=b"", redactions=(), sha256=""), LEFT_OUT if entry.size else ""
    if Portion.ATTACHMENTS in without and entry.body:
        return entry._replace(body=_without_data(entry.body)), ""
    return entry, ""


def _without_data(body: bytes) -> bytes:
    """Return a body without the Base64 of images, sounds and files."""

    def data(path: tuple[object, ...], part: object) -> object:
        is_data = bool(path) and path[-1] in _DATA and isinstance(part, str)
        return LEFT_OUT if is_data or len(path) > _DEEPEST else part

    try:
        return json.dumps(changed(json.loads(body), data), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):  # such as the head of a message that is too long
        return LEFT_OUT.encode() if any(f'"{name}"'.encode() in body for name in _DATA) else body


def portions_of(text: str) -> frozenset[Portion]:
    """Return the portions that a user names, separated by commas. Raises ValueError with the sentence."""
    names = [clean_line(name.strip(), 40) for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in set(Portion)]:
        raise ValueError(f"no part is named {unknown[0]}; there are {', '.join(Portion)}")
    return frozenset(map(Portion, names))
