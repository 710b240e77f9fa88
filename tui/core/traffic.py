"""Traffic: the values that taps, recorder, store and views share. Values only.

A *tap* (a transport, the model's client, `mcptui tap`) hands over `Captured` values: bytes as they were on
the wire, and when. The recorder pairs and redacts them and makes each one an `Entry` with a number; entries
are stored once and never change. Later events (the response to a request, a cancellation, the next
round of a call) are entries of their own that name the entry they belong to.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from tui import __version__
from tui.core.language.translate import N_, c_message, localized


class Direction(IntEnum):
    """The direction, seen from the host; NONE for what did not travel (stderr, lifecycle)."""

    NONE = 0
    OUT = 1
    IN = 2


class Kind(IntEnum):
    """The kind of an entry. `KIND_WORDS` are its words on screen; the filter uses the names in lower case."""

    REQUEST = 1
    RESPONSE = 2
    ERROR = 3
    NOTIFICATION = 4
    BATCH = 5
    NOT_RPC = 6
    NOT_JSON = 7
    STDERR = 8
    EVENT = 9
    MODEL_REQUEST = 10
    MODEL_REPLY = 11


KIND_WORDS = {kind: kind.name.lower().replace("_", " ") for kind in Kind}
KIND_WORDS |= {Kind.NOT_RPC: "not JSON-RPC", Kind.NOT_JSON: "not JSON"}

_EVENT_WORDS = (
    c_message("event", "answered"),
    c_message("event", "broken"),
    c_message("event", "command"),
    c_message("event", "connect"),
    c_message("event", "discarded"),
    c_message("event", "disconnect"),
    c_message("event", "dropped"),
    c_message("event", "edited"),
    c_message("event", "end"),
    c_message("event", "endpoint"),
    c_message("event", "exit"),
    c_message("event", "fault"),
    c_message("event", "gave up"),
    c_message("event", "held"),
    c_message("event", "log left out"),
    c_message("event", "not recorded"),
    c_message("event", "not sent"),
    c_message("event", "note"),
    c_message("event", "our progress"),
    c_message("event", "released"),
    c_message("event", "restart failed"),
    c_message("event", "restarted"),
    c_message("event", "server ended"),
    c_message("event", "session opened again"),
    c_message("event", "sign-in"),
    c_message("event", "signal"),
    c_message("event", "spawn"),
    c_message("event", "stop"),
    c_message("event", "stream opened again"),
    c_message("event", "too large"),
    c_message("event", "undelivered"),
    c_message("event", "unreadable"),
)
_WORD_OF: dict[str, str] = {word: word for word in _EVENT_WORDS}


def shown_method(kind: int, method: str) -> str:
    """Return the method of an entry as screens show it: that of an event is mcptui's own word for it."""
    return localized(_WORD_OF.get(method, method)) if kind == Kind.EVENT else method


ANSWERS = frozenset({Kind.RESPONSE, Kind.ERROR, Kind.MODEL_REPLY})
"""Kinds that end a request."""

REQUESTS = frozenset({Kind.REQUEST, Kind.MODEL_REQUEST})
"""Kinds that wait for an answer."""

PROBE_METHOD = "server/discover"
"""The first request to a server, unless its era is known: servers since 2026-07-28 answer it."""

DROPPED = "dropped"
"""Method of the event for entries that a recording has dropped."""

CHANGES = {
    **{word: word for word in ("edited", "answered", "fault", "undelivered")},
    "discarded": "dropped",
}
"""Words for what mcptui did to a message on its way, by the events that report it."""

CHANGE_WORDS = ("", *CHANGES.values())

BODY_LOST_TEXT = N_("body lost: this part of the recording is damaged")
"""Replaces a body that is on a damaged page."""

BODY_LOST, DETAIL_LOST = "body_lost", "detail_lost"
"""True in the detail of an entry whose body, or whose own detail, is on a damaged page of its recording."""


class Outcome(IntEnum):
    """How a request ended, on the entry that ended it; NONE on all others. `OUTCOME_WORDS` are its words."""

    NONE = 0
    PENDING = 1
    OK = 2
    ERROR = 3
    """A JSON-RPC error, or a model endpoint that refused or broke off."""
    TOOL_ERROR = 4
    """A result with `isError`."""
    CANCELLED = 5
    """Cancelled, or not answered when mcptui ended the session itself."""
    LOST = 6
    """The server ended before it answered."""
    INPUT_REQUIRED = 7
    """A round of a call (2026-07-28, multi round-trip requests); another round follows."""
    PROBE = 8
    """A server of the other era refused `PROBE_METHOD` or the handshake, or ignored it; not a failure."""


OUTCOME_WORDS = {outcome: outcome.name.lower().replace("_", " ") for outcome in Outcome}
OUTCOME_WORDS |= {Outcome.NONE: "", Outcome.INPUT_REQUIRED: "asks for input"}


def is_failed_case(note: str) -> bool:
    """Return whether a note is that of a test run on a case that failed, or could not be run."""
    return note.startswith(("failed: ", "error: "))


class Severity(IntEnum):
    """The severity of a finding."""

    NONE = 0
    HINT = 1
    WARNING = 2
    ERROR = 3


def end_of(method: str, outcome: Outcome) -> Outcome:
    """Return how a request of this method ended: a probe cannot fail, but old recordings store failures."""
    return Outcome.PROBE if method == PROBE_METHOD and outcome in _UNANSWERED else outcome


_UNANSWERED = frozenset({Outcome.ERROR, Outcome.CANCELLED, Outcome.LOST})


@dataclass(frozen=True, slots=True)
class Cause:
    """The part of a conversation that caused a message.

    Attributes:
        turn: counts from 1 over all conversations of one run of the program; 0 for a manual call.
        step: counts from 1 in the turn.
        call: id of the tool call, "" for a request to the model; for a manual call, it starts with "hand-".
    """

    turn: int
    step: int = 0
    call: str = ""


CAUSE: ContextVar[Cause | None] = ContextVar("mcptui_cause", default=None)
"""Set by the caller, read by the tap in the same task."""


_NOTHING: Mapping[str, Any] = MappingProxyType({})


# `Captured` and `Entry` are tuples: one is made for every message, and a frozen dataclass takes four times as
# long (measured with CPython 3.11: 2.5 and 4.1 µs).


class Captured(NamedTuple):
    """One thing that a tap saw. `source` is the name of the server, or "model:NAME" for the model's side.

    Attributes:
        kind: its kind if the tap knows it (STDERR, EVENT, MODEL_…), or None for a line to be classified.
        mono_ns: monotonic nanoseconds when it was complete, so that entries are in the order of their times.
        wall_ns: nanoseconds since 1970, UTC.
        raw: the bytes without the newline; only a head if `size` is larger.
        size: bytes that travelled, -1 for len(raw).
        detail: what else the transport knows, JSON values only: HTTP status and headers, argv, pid, exit.
    """

    source: str
    direction: Direction
    mono_ns: int
    wall_ns: int
    raw: bytes
    kind: Kind | None = None
    size: int = -1
    cause: Cause | None = None
    detail: Mapping[str, Any] = _NOTHING


TrafficSink = Callable[[Captured], None]
"""Takes captured values. Never raises, never waits, never changes a byte."""


class Redaction(NamedTuple):
    """A secret in a text, or the mark for it in a stored body, from `start` to `end`, and its name."""

    start: int
    end: int
    name: str


FIRST_NS = -(1 << 62)
"""The earliest wall clock of an entry, in nanoseconds since 1970: a machine may start with any clock.

The difference to a monotonic clock still fits in 64 bits.
"""

LAST_NS = (1 << 63) - 1
"""The latest one, in the year 2262: a file stores no larger number."""


class Entry(NamedTuple):
    """One stored entry of the traffic.

    Attributes:
        seq: number in its recording, from 1, without gaps until the oldest are dropped.
        mono_ns: monotonic nanoseconds, comparable within one recording.
        method: JSON-RPC method; for a response, that of its request; for EVENT the event's word ("spawn",
            "exit", "signal", "dropped", …); for a model entry the model's name.
        tool: tool, prompt or resource named by `tools/call` and the like; for a response, that of its
            request.
        ident: the JSON-RPC id as JSON text (`7`, `"a"`), "" for none.
        pair: seq of the request that this entry answers, cancels or reports progress of; of an event about a
            response, that of its request; 0 for none.
        root: seq of the first request of the call that this entry is part of (rounds, responses, progress,
            cancellations); 0 for none. A first request has its own seq.
        outcome: how it ends a request; otherwise NONE.
        cause: its part of the conversation; for a response, that of its request.
        sha256: hex digest of all bytes of the message, if `body` is only a head; otherwise "".
        body: the bytes, redacted; empty when only the columns were read.
    """

    seq: int
    mono_ns: int
    wall_ns: int
    source: str
    direction: Direction
    kind: Kind
    method: str = ""
    tool: str = ""
    ident: str = ""
    size: int = 0
    pair: int = 0
    root: int = 0
    outcome: Outcome = Outcome.NONE
    cause: Cause | None = None
    sha256: str = ""
    redactions: tuple[Redaction, ...] = ()
    detail: Mapping[str, Any] = _NOTHING
    body: bytes = b""

    @property
    def is_body_lost(self) -> bool:
        """Whether it had a body that is on a damaged page of its recording."""
        return self.detail.get(BODY_LOST) is True

    @property
    def in_batch(self) -> tuple[int, int, int] | None:
        """The seq of the batch whose body contains this message, with its start and end; None for none."""
        match self.detail:
            case {"batch": int(seq), "at": [int(start), int(end)]} if seq >= 0 <= start <= end < 1 << 31:
                return seq, start, end
        return None


def without_body(entry: Entry) -> Entry:
    """Return an entry as one whose body is on a damaged page."""
    return entry._replace(body=b"", redactions=(), detail={**entry.detail, BODY_LOST: True})


@dataclass(frozen=True, slots=True)
class EntryNote:
    """The user's mark and note on an entry."""

    marked: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the linter: a stable code ("unknown-id", "not-json", …) and one sentence.

    `section` is that of the specification ("2026-07-28 basic/lifecycle"), or "". `source` and `method` are
    those of its entry. A stored finding has the `count` of entries with the same source, method and code, and
    the seqs of the first of them as `places`; findings of the other entries have "" as their sentence.
    `subject` is the tool, or the part of the message, that it is about, the same in each run. It is not
    stored.
    """

    seq: int
    code: str
    severity: Severity
    sentence: str
    section: str = ""
    source: str = ""
    method: str = ""
    count: int = 1
    places: tuple[int, ...] = ()
    subject: str = ""


RULES = f"{__version__}-4"
"""The version of the linter's rules. Entries judged by another version are judged again. Increase the number
after the program's version when a rule changes."""


@dataclass(frozen=True, slots=True)
class BodyTerm:
    """A term to search for in bodies, as `core.search_text` reads them; `fold` ignores case, in every script.

    `needle` is the text, or with `regex` a pattern of Python's `re`.
    """

    needle: str
    regex: bool = False
    fold: bool = True


class TrafficWriter(Protocol):
    """Stores entries. Created, used and closed by one thread."""

    def write(self, entries: Sequence[Entry], findings: Sequence[Finding] = (), judged: int = 0) -> None:
        """Store entries, and findings of these or earlier ones; when it returns they survive kill -9.

        With these findings, all of the entries up to `judged` are known; 0 for no more than before. Never
        raises: a failing disk is reported by `problem`, and the recording continues in memory.
        """

    def note(self, seq: int, *, marked: bool | None = None, text: str | None = None) -> None:
        """Change the mark or the note of an entry; None keeps it."""

    @property
    def problem(self) -> str:
        """Why storing has stopped (disk full, read-only), or ""."""

    @property
    def gone(self) -> int:
        """Seq of the last entry that was dropped for lack of space, 0 if none was."""

    def close(self) -> None: ...


class TrafficReader(Protocol):
    """Reads a recording, also while it is written. One thread at a time may use a reader."""

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        """Return up to `limit` entries with seq > `after`, in order, without bodies and redactions."""

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        """Return up to `limit` entries with seq > `after`, in order, with bodies of at most `most` bytes.

        A larger body is omitted.
        """

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        """Return an entry with at most `body_limit` bytes of its body; None if it was dropped."""

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        """Return a part of a stored body, b"" if it was dropped."""

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        """Return for each term the seqs in `first`..`last` (both included) whose body contains it.

        Stops early, with the matches so far, when `interrupt` is called from another thread, also before it
        starts.
        """

    def interrupt(self) -> None:
        """Stop the `search` that runs in another thread, or the next one."""

    def rearm(self) -> None:
        """Reset an `interrupt` that stopped no search, before the next `search`."""

    def findings_of(self, seq: int) -> Sequence[Finding]:
        """Return the findings of an entry."""

    def close(self) -> None: ...
