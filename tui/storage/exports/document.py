"""A document to read: the form that the exports of sessions and recordings have in common. Pure.

Texts are foreign and raw unless a part says otherwise. A writer for each format escapes them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tui.core.conversation.conversation import Attachment
from tui.core.jsonrpc.reader import indented
from tui.core.text import clean, clean_line
from tui.core.traffic import EntryNote, Finding
from tui.core.units import size

LONGEST = 256 * 1024
"""Maximum characters of a text in a readable export."""

NOTE_CHARS = 2_000
"""Maximum characters of a note in a readable export."""

MOST_ROWS = 20_000
"""Maximum entries of a page: a browser can still search and fold it."""

PRETTY = 64 * 1024
"""A longer JSON text is not indented: it would have too many lines to read."""


class Portion(StrEnum):
    """What a document may contain, and whoever shares it may leave out. VALUES: arguments and results."""

    CONVERSATION = "conversation"
    REASONING = "reasoning"
    SYSTEM = "system"
    WATERFALL = "waterfall"
    MESSAGES = "messages"
    VALUES = "values"
    FINDINGS = "findings"
    NOTES = "notes"
    ATTACHMENTS = "attachments"


@dataclass(frozen=True, slots=True)
class Heading:
    """Starts a section: who speaks, and when or for how long. `turn`: its number, if the user begins one."""

    title: str
    time: str = ""
    turn: int = 0
    portion: Portion = Portion.CONVERSATION


@dataclass(frozen=True, slots=True)
class Aside:
    """A line of mcptui's own, or a warning."""

    text: str
    portion: ClassVar = Portion.CONVERSATION


@dataclass(frozen=True, slots=True)
class Prose:
    """Foreign text; if `is_markdown`, it may be rendered, but cannot affect the rest of the document."""

    text: str
    is_markdown: bool = False
    portion: ClassVar = Portion.CONVERSATION


@dataclass(frozen=True, slots=True)
class Block:
    """A text as it is, under a title. `note` is a warning about it, `anchor` that of its message."""

    title: str
    text: str
    language: str = "text"
    is_bad: bool = False
    note: str = ""
    portion: Portion = Portion.VALUES
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Files:
    """Attachments. `is_result`: a tool returned them."""

    attachments: tuple[Attachment, ...]
    is_result: bool = False
    portion: ClassVar = Portion.ATTACHMENTS


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in a turn: its label, what took the time, and when, in nanoseconds of the turn.

    `is_critical`: the turn would have been shorter without it.
    """

    label: str
    kind: str
    start_ns: int
    end_ns: int
    is_bad: bool = False
    is_critical: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """When the parts of a turn of `ns` nanoseconds ran, and the shares of its time on one line."""

    facts: str
    ns: int
    bars: tuple[Bar, ...]
    portion: ClassVar = Portion.WATERFALL


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of the traffic: its columns, facts, note and findings on one line each, and its body.

    `anchor` identifies it in the document. `marked`: the user marked it.
    """

    number: int
    source: str
    arrow: str
    name: str
    took: str
    outcome: str
    is_bad: bool
    facts: str
    note: str
    body: str
    time: str = ""
    anchor: str = ""
    marked: bool = False
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Entries of the traffic under a title, read once."""

    title: str
    rows: Iterator[Row]


Part = Heading | Aside | Prose | Block | Files | Timeline | Rows | Row


@dataclass(frozen=True, slots=True)
class Document:
    """A title, facts about the whole on one line, and the parts, which are read once.

    `is_list`: the parts are rows. `servers` are the names of servers that the parts do not give.
    """

    title: str
    facts: str
    parts: Iterator[Part]
    is_list: bool = False
    servers: frozenset[str] = frozenset()


def bounded(text: str, octets: int = 0) -> str:
    """Return cleaned text, truncated with a note of how much is missing.

    `octets` is the size of the whole if `text` is only its beginning.
    """
    shown = clean(text[:LONGEST])
    if len(text) <= LONGEST:
        return shown
    whole = octets or len(text.encode("utf-8", "replace"))
    return f"{shown}\n… {size(whole - len(shown.encode('utf-8', 'replace')))} more"


def bounded_json(text: str, octets: int = 0) -> str:
    """Return `bounded` text, JSON indented."""
    return bounded(indented(text) if len(text) <= PRETTY else text, octets)


def note_line(note: EntryNote) -> str:
    """Return the user's note on an entry on one line, or ""."""
    return f"Note: {clean_line(note.text, NOTE_CHARS)}" if note.text else ""
