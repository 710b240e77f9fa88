"""What a document contains, by portion: counted for a review, and left out. Pure.

Model requests repeat the conversation with its system prompt and files, and replies have the reasoning, so
that they lose their bodies if any of these is left out.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import reduce

from tui.core.language.translate import N_, Message, message, n_message
from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import changed
from tui.core.text import clean_line
from tui.core.traffic import Entry, Kind
from tui.core.units import octets, size
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
from tui.storage.exports.shapes import MODEL, named_servers

NOTHING: Set[Portion] = frozenset()
LEFT_OUT = "(left out)"

WORDS: Mapping[Portion, tuple[Callable[[int], Message], str]] = {
    Portion.CONVERSATION: (
        lambda n: n_message("{n} message", "{n} messages", n),
        N_("questions, answers and the title"),
    ),
    Portion.REASONING: (
        lambda n: n_message("{n} thought", "{n} thoughts", n),
        N_("what models thought before they answered"),
    ),
    Portion.SYSTEM: (lambda n: n_message("{n} prompt", "{n} prompts", n), N_("the system prompt")),
    Portion.WATERFALL: (lambda n: n_message("{n} turn", "{n} turns", n), N_("when each part of a turn ran")),
    Portion.MESSAGES: (
        lambda n: n_message("{n} entry", "{n} entries", n),
        N_("recorded messages, one a line"),
    ),
    Portion.VALUES: (
        lambda n: n_message("{n} value", "{n} values", n),
        N_("arguments, results and the bodies of messages"),
    ),
    Portion.FINDINGS: (
        lambda n: n_message("{n} finding", "{n} findings", n),
        N_("findings of the linter"),
    ),
    Portion.NOTES: (lambda n: n_message("{n} note", "{n} notes", n), N_("your notes and marks")),
    Portion.ATTACHMENTS: (
        lambda n: n_message("{n} file", "{n} files", n),
        N_("attached images, sounds and files"),
    ),
}
"""How much there is of a portion, and what it is."""

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
        self.redacted = 0
        self._seen: set[int] = set()

    @property
    def entries(self) -> int:
        return self.counts[Portion.MESSAGES]

    def lines(self) -> list[tuple[Portion, str]]:
        """Return the portions that there are, each with its count and size: "6 messages, 12 kB"."""
        found: list[tuple[Portion, str]] = []
        for portion, (counted, _about) in WORDS.items():
            if number := self.counts[portion]:
                words = counted(number)
                if octets := self.octets[portion]:
                    words = message("{count}, {size}", count=words, size=size(octets))
                found.append((portion, words))
        return found

    def words(self, entries: Message | None = None) -> Message:
        """Return the numbers on one line: "6 messages, 2 values, from the server “a”, 1 redacted value".

        `entries` replaces the count of entries: "5 of 53 entries".
        """
        counts = ((self.counts[portion], counted) for portion, (counted, _about) in WORDS.items())
        found = [counted(number) for number, counted in counts if number] or [message("0 entries")]
        found[:1] = [entries] if entries is not None else found[:1]
        found += [named_servers(self.servers)] if self.servers else []
        last = n_message("{n} redacted value", "{n} redacted values", self.redacted)
        return reduce(lambda one, two: message("{first}, {second}", first=one, second=two), [*found, last])

    def see(self, part: Part) -> None:
        match part:
            case Row():
                self._see_row(part)
            case Files(attachments=attachments):
                for one in attachments:
                    self._add(Portion.ATTACHMENTS, weight=one.size)
            case Prose(text) | Aside(text):
                self._add(Portion.CONVERSATION, text, number=0)
            case Block(text=text, portion=portion):
                self._add(portion, text)
            case Heading(portion=portion) if portion is not Portion.SYSTEM:
                self._add(portion)
            case Timeline(portion=portion):
                self._add(portion)

    def see_entry(self, entry: Entry) -> None:
        """Count an entry of an export that is no document, once."""
        if entry.seq not in self._seen:
            self._seen.add(entry.seq)
            self._see_message(entry.source, entry.method)
            self.redacted += len(entry.redactions)
            if entry.body:
                self._add(Portion.VALUES, weight=len(entry.body))

    def _see_message(self, source: str, name: str) -> None:
        if source and not source.startswith(MODEL):
            self.servers.add(source)
        self._add(Portion.MESSAGES, name)

    def _see_row(self, row: Row) -> None:
        if self.entries >= MOST_ROWS:
            return
        self._see_message(row.source, row.name)
        if row.body:
            self._add(Portion.VALUES, row.body)
        for one in row.findings:
            self._add(Portion.FINDINGS, one.sentence)
        if row.note or row.marked:
            self._add(Portion.NOTES, row.note)

    def _add(self, portion: Portion, text: str = "", *, weight: int = 0, number: int = 1) -> None:
        if text != LEFT_OUT:
            self.counts[portion] += number
            self.octets[portion] += weight + octets(text)
            self.redacted += len(MARK.findall(text))


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
    """Return a document as it was chosen, which says so, and is counted as it is read.

    Rows are cut where they are made. Without the conversation, turns have their number as heading.
    """
    without, review = choice.without, choice.review or Review()
    review.servers |= document.servers
    has_title = document.is_list or Portion.CONVERSATION not in without

    def seen(parts: Iterator[Part]) -> Iterator[Part]:
        for part in parts:
            if (kept := _kept(part, without)) is not None:
                if getattr(part, "portion", None) not in without:  # not the number of a turn, "(left out)"
                    review.see(kept)
                yield Rows(kept.title, rows(kept.rows)) if isinstance(kept, Rows) else kept

    def rows(found: Iterator[Row]) -> Iterator[Row]:
        for row in found:
            review.see(row)
            yield row

    title = document.title if has_title else "A conversation"
    facts = " · ".join(filter(None, (document.facts, choice.words)))
    return replace(document, title=title, facts=facts, parts=seen(document.parts))


def review_of(document: Document, choice: Choice = WHOLE) -> Review:
    """Return what a document contains, added to the review of `choice`; its parts are read."""
    review = choice.review or Review()
    for part in chosen(document, replace(choice, review=review)).parts:
        deque(part.rows if isinstance(part, Rows) else (), maxlen=0)
    return review


def _kept(part: Part, without: Set[Portion]) -> Part | None:
    is_silent = Portion.CONVERSATION in without
    match part:
        case Row() | Rows():
            return part
        case Heading(turn=turn) if turn and is_silent:
            return replace(part, title=f"Turn {turn}")
        case Block(portion=Portion.VALUES) if Portion.VALUES in without and not is_silent:
            return replace(part, text=LEFT_OUT, note="")
        case Files(is_result=True) if Portion.VALUES in without:
            return None
    return None if part.portion in without else part


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
