"""A mock of a recorded server: requests in, recorded responses out. Pure; no I/O, no clock.

The recording is read as scripts. Everything that the host sent starts one, and what the server sent up to its
response, or after it until the host sent something else, belongs to the script. A request plays the script of
the same recorded request; a repeated request plays the next one that was recorded, and finally the last one
again and again. Bytes are unchanged except for ids and progress tokens, which are those of the request being
answered. A batch is answered by a batch, unless the server answered it message by message.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Generic, NamedTuple, TypeVar

from tui.core.jsonrpc.skimmer import outline, value_end
from tui.core.traffic import ANSWERS, Direction, Entry, Kind, Outcome

OPENINGS = frozenset({"initialize", "server/discover", "notifications/initialized", "logging/setLevel"})
"""Sent once by every client, each with its own params."""

MAX_SHOWN = 400
_MARK = re.compile(r"\[redacted:[^\]\s]{1,80}\]")

Recorded = TypeVar("Recorded")


@dataclass(frozen=True, slots=True)
class Question:
    """A request or notification of a client, without `_meta` in its params.

    `meta` is without the progress token; `token` is that as JSON text, b"" for none.
    """

    method: str
    params: Any
    meta: Any
    token: bytes = b""

    @classmethod
    def of(cls, method: str, params: Any) -> "Question":
        if not isinstance(params, dict):
            return cls(method, params or {}, {})
        meta = params.get("_meta")
        rest = {key: value for key, value in params.items() if key != "_meta"}
        if not isinstance(meta, dict):
            return cls(method, rest, meta or {})
        token = json.dumps(meta["progressToken"]).encode() if "progressToken" in meta else b""
        return cls(method, rest, {key: value for key, value in meta.items() if key != "progressToken"}, token)

    def key(self) -> str:
        return self.method + "\n" + _canonical(self.params)

    def exact_key(self) -> str:
        return self.key() + "\n" + _canonical(self.meta)

    def shown(self) -> str:
        text = json.dumps(self.params, ensure_ascii=False)
        return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def request_of(raw: bytes, method: str) -> Question | None:
    """Return a recorded request, None if its bytes are incomplete or cannot be parsed."""
    try:
        message = json.loads(raw.decode("utf-8", "replace"))
        asked = Question.of(method, message.get("params"))
        asked.exact_key()  # what can be parsed may be nested too deeply to be compared
        return asked
    except (ValueError, RecursionError, AttributeError):
        return None


class _Uses(Generic[Recorded]):
    """Recordings for one key: each is used once in order, the last again and again."""

    def __init__(self) -> None:
        self.recorded: list[Recorded] = []
        self.next = 0

    def take(self) -> Recorded:
        found = self.recorded[min(self.next, len(self.recorded) - 1)]
        self.next += 1
        return found


class RecordedAnswers(Generic[Recorded]):
    """Recordings by their requests."""

    def __init__(self) -> None:
        self._exact: dict[str, _Uses[Recorded]] = {}
        self._same: dict[str, _Uses[Recorded]] = {}
        self._by_method: dict[str, list[Question]] = {}
        self._redacted: dict[str, list[Question]] = {}
        self._openings: dict[str, _Uses[Recorded]] = {}

    def add(self, asked: Question, recorded: Recorded) -> None:
        """Add a recording; in the order of recording."""
        self._exact.setdefault(asked.exact_key(), _Uses()).recorded.append(recorded)
        uses = self._same.setdefault(asked.key(), _Uses())
        if not uses.recorded:
            self._by_method.setdefault(asked.method, []).append(asked)
            if _MARK.search(asked.key()):
                self._redacted.setdefault(asked.method, []).append(asked)
        uses.recorded.append(recorded)
        if asked.method in OPENINGS:
            self._openings.setdefault(asked.method, _Uses()).recorded.append(recorded)

    def find(self, asked: Question) -> Recorded | None:
        uses = self._exact.get(asked.exact_key()) or self._same.get(asked.key())
        if uses is None:
            for one in self._redacted.get(asked.method, ()):
                if alike(one.params, asked.params):
                    uses = self._same[one.key()]
                    break
            else:
                uses = self._openings.get(asked.method)
        return None if uses is None else uses.take()

    def recorded(self, method: str) -> Sequence[Question]:
        return self._by_method.get(method, ())

    def methods(self) -> list[str]:
        return sorted(method for method in self._by_method if not method.startswith("notifications/"))


def alike(recorded: Any, asked: Any) -> bool:
    """Return whether two values are equal; a redacted part of the recorded one matches any text."""
    if isinstance(recorded, str) and isinstance(asked, str):
        if recorded == asked:
            return True
        parts = _MARK.split(recorded)
        return len(parts) > 1 and bool(re.fullmatch(".+".join(map(re.escape, parts)), asked, re.DOTALL))
    if isinstance(recorded, dict) and isinstance(asked, dict):
        return recorded.keys() == asked.keys() and all(alike(recorded[key], asked[key]) for key in recorded)
    if isinstance(recorded, list) and isinstance(asked, list):
        return len(recorded) == len(asked) and all(map(alike, recorded, asked))
    return type(recorded) is type(asked) and bool(recorded == asked)


def nearest(asked: Question, known: Sequence[Question]) -> list[Question]:
    """Return `known` sorted by similarity to `asked`."""
    wanted = asked.shown()
    return sorted(known, key=lambda one: -SequenceMatcher(None, wanted, one.shown()).quick_ratio())


NOT_FOUND, INVALID_PARAMS, INTERNAL, PARSE_ERROR, INVALID_REQUEST = -32601, -32602, -32603, -32700, -32600
"""JSON-RPC error codes, section 5.1 of JSON-RPC 2.0."""

MAX_LISTED = 20
MAX_BATCH = 1000

Body = Callable[[int], bytes]
"""Returns the complete stored body of an entry, by its seq."""


@dataclass(frozen=True, slots=True)
class Send:
    """A line to write, without the newline, and how long after the line that caused it.

    `is_shared`: it is a response to a message of a batch, to be joined with the others.
    """

    raw: bytes
    after_ns: int = 0
    is_shared: bool = False


class Bodies:
    """The bytes of messages, also of those in a batch.

    `body` returns the complete stored body of an entry, by its seq.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._batches: set[int] = set()
        self._last: tuple[int, bytes] = (0, b"")

    def note(self, entry: Entry) -> None:
        """Add an entry; a batch before its messages."""
        if entry.kind is Kind.BATCH:
            self._batches.add(entry.seq)

    def place(self, entry: Entry) -> "BodyPosition":
        line = entry.detail.get("batch")
        if not isinstance(line, int) or line not in self._batches:
            return BodyPosition(entry.seq, torn=entry.size if entry.sha256 else 0)
        _, start, end = entry.in_batch or (line, 0, 0)
        return BodyPosition(line, start, end)

    def read(self, place: "BodyPosition") -> bytes:
        """Return the bytes; of a message in a batch, b"" if they are incomplete."""
        if place.end < 0:
            return self._body(place.seq)
        if self._last[0] != place.seq:  # the messages of a batch follow each other
            self._last = place.seq, self._body(place.seq)
        raw = self._last[1][place.start : place.end]
        try:
            is_whole = raw.startswith(b"{") and value_end(raw, 0) == place.end - place.start
        except ValueError:
            is_whole = False
        return raw if is_whole else b""


class BodyPosition(NamedTuple):
    """The position of a message's bytes in the body of the entry `seq`: its own, or the batch.

    An `end` of -1 is that of the whole body. `torn` is the bytes that travelled, if only the head is stored.
    """

    seq: int
    start: int = 0
    end: int = -1
    torn: int = 0

    @property
    def is_in_batch(self) -> bool:
        return self.end >= 0


@dataclass(frozen=True, slots=True)
class _Step:
    """Something that the server sent: its position, time and kind."""

    place: BodyPosition
    mono_ns: int
    kind: Kind
    answers: bool = False
    ident: str = ""


@dataclass(slots=True)
class _Script:
    """What the host sent, and the server's reaction."""

    mono_ns: int
    is_in_batch: bool = False
    steps: list[_Step] = field(default_factory=list)
    outcome: Outcome = Outcome.PENDING


@dataclass(slots=True)
class _Play:
    """A script that waits for the host's response to a request of the server."""

    script: _Script
    at: int
    base_ns: int
    ident: bytes
    token: bytes


class MockServer:
    """Answers as a recorded server did, whose `entries` are its columns, in order."""

    def __init__(self, entries: Iterable[Entry], body: Body) -> None:
        self._bodies = Bodies(body)
        self._book: RecordedAnswers[_Script] = RecordedAnswers()
        self._waiting: dict[str, _Play] = {}
        self._read(entries)

    def _read(self, entries: Iterable[Entry]) -> None:
        by_seq: dict[int, _Script] = {}
        latest: _Script | None = None
        for entry in entries:
            self._bodies.note(entry)
            if entry.direction is Direction.OUT and entry.outcome is Outcome.CANCELLED:
                if (cancelled := by_seq.get(entry.pair)) is not None:
                    cancelled.outcome = Outcome.CANCELLED
            elif entry.direction is Direction.OUT and entry.kind in (Kind.REQUEST, Kind.NOTIFICATION):
                place = self._bodies.place(entry)
                latest = by_seq[entry.seq] = _Script(entry.mono_ns, place.is_in_batch)
                asked = request_of(self._bodies.read(place), entry.method)
                if asked is not None:
                    self._book.add(asked, latest)
            elif entry.direction is Direction.IN and entry.kind is not Kind.BATCH:
                script = by_seq.get(entry.pair) or by_seq.get(entry.root) or latest
                if script is not None:
                    self._add_step(script, entry, answers=entry.pair in by_seq)

    def _add_step(self, script: _Script, entry: Entry, *, answers: bool) -> None:
        ends = answers and entry.kind in ANSWERS
        if ends:
            script.outcome = entry.outcome
        place = self._bodies.place(entry)
        script.steps.append(_Step(place, entry.mono_ns, entry.kind, ends, entry.ident))

    def take(self, line: bytes) -> list[Send]:
        if not line.strip():
            return []
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return [_error("null", PARSE_ERROR, "this is not JSON")]
        if message == []:
            return [_error("null", INVALID_REQUEST, "this batch is empty")]
        try:
            if not isinstance(message, list):
                return self._take(message)
            sends = [send for one in message[:MAX_BATCH] for send in self._take(one)]
        except RecursionError:
            return [_error("null", INVALID_REQUEST, "this is nested too deeply")]
        shared = [send for send in sends if send.is_shared]
        if not shared:
            return sends
        answer = b"[" + b",".join(send.raw for send in shared) + b"]"
        alone = [send for send in sends if not send.is_shared]
        return [*alone, Send(answer, max(send.after_ns for send in shared))]

    def _take(self, message: Any) -> list[Send]:
        if not isinstance(message, dict):
            return [_error("null", INVALID_REQUEST, "this is not a JSON-RPC message")]
        method, ident = message.get("method"), json.dumps(message.get("id"))
        if not isinstance(method, str):
            play = self._waiting.pop(ident, None)
            return [] if play is None else list(self._go_on(play))
        asked = Question.of(method, message.get("params"))
        if method == "notifications/cancelled":
            self._cancel(message.get("params"))
        script = self._book.find(asked)
        if "id" not in message:
            return [] if script is None else list(self._play(script, b"", b""))
        if script is None:
            return [self._unknown(asked, ident)]
        return list(self._play(script, ident.encode(), asked.token))

    def _cancel(self, params: Any) -> None:
        wanted = json.dumps(params.get("requestId")) if isinstance(params, dict) else ""
        for key, play in list(self._waiting.items()):
            if play.ident == wanted.encode():
                del self._waiting[key]

    def _play(self, script: _Script, ident: bytes, token: bytes) -> Iterator[Send]:
        yield from self._go_on(_Play(script, 0, script.mono_ns, ident, token))
        unanswered = ident and not any(step.answers for step in script.steps)
        if unanswered and script.outcome is not Outcome.CANCELLED:
            yield _error(ident.decode(), INTERNAL, "the recording ends before the answer to this request")

    def _go_on(self, play: _Play) -> Iterator[Send]:
        steps = play.script.steps
        base = play.base_ns
        while play.at < len(steps):
            step = steps[play.at]
            play.at += 1
            raw = self._words(step, play)
            if raw or not step.place.is_in_batch:
                is_shared = step.answers and (step.place.is_in_batch or not play.script.is_in_batch)
                yield Send(raw, max(0, step.mono_ns - base), is_shared)
            if step.kind is Kind.REQUEST and any(later.answers for later in steps[play.at :]):
                play.base_ns = step.mono_ns
                self._waiting[step.ident] = play
                return

    def _words(self, step: _Step, play: _Play) -> bytes:
        raw, torn = self._bodies.read(step.place), step.place.torn
        if step.answers and (torn or not raw):
            size = torn or max(0, step.place.end - step.place.start)
            text = f"of this answer of {size} bytes the recording holds only the beginning"
            if not size:
                text = "the recording does not hold this answer any more"
            return _error(play.ident.decode(), INTERNAL, text).raw
        if step.answers:
            return with_member(raw, ("id",), play.ident)
        if step.kind is Kind.NOTIFICATION and play.token:
            return with_member(raw, ("params", "progressToken"), play.token)
        return raw

    def _unknown(self, asked: Question, ident: str) -> Send:
        if asked.method == "ping":  # every server answers it, recorded or not
            return Send(b'{"jsonrpc":"2.0","id":' + ident.encode() + b',"result":{}}', is_shared=True)
        known = self._book.recorded(asked.method)
        if not known:
            methods = self._book.methods()
            text = f"{asked.method} is not in the recording, which holds: {', '.join(methods) or 'nothing'}"
            return _error(ident, NOT_FOUND, text, {"recorded": methods})
        text = f"{asked.method} is in the recording, but not with these parameters"
        listed = [one.shown() for one in nearest(asked, known)[:MAX_LISTED]]
        return _error(ident, INVALID_PARAMS, f"{text}; the nearest: {listed[0]}", {"recorded": listed})


def _error(ident: str, code: int, text: str, data: Mapping[str, Any] | None = None) -> Send:
    error = {"code": code, "message": f"stand-in: {text}", **({"data": data} if data else {})}
    raw = f'{{"jsonrpc":"2.0","id":{ident},"error":{json.dumps(error)}}}'.encode()
    return Send(raw, is_shared=True)


def with_member(raw: bytes, path: tuple[str, ...], value: bytes) -> bytes:
    """Return `raw` with another value at `path`, every other byte unchanged; as it is without one."""
    start, end = member_span(raw, path)
    return raw if end < 0 else raw[:start] + value + raw[end:]


def member_span(raw: bytes, path: tuple[str, ...]) -> tuple[int, int]:
    """Return start and end of a member's value; the end is -1 if it is cut off or there is none."""
    start, end = 0, -1
    try:
        for key in path:
            start, end = outline(raw, start).members[key]
    except (ValueError, KeyError):
        return start, -1
    return start, end
