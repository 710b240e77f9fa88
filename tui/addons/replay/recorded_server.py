"""A recorded server as scripts: finds the recorded request that a new one matches. Pure.

Each message of the host starts a script, which consists of the server's messages up to its response, and
those after it until the host's next message.

Any recording can answer clients of both eras. Up to 2025-11-25 a session begins with `initialize`, and a
server may send requests in the middle of a call. From 2026-07-28 on each request names its revision,
`server/discover` is optional, each result has a `resultType`, and a server asks for input in a result
(`input_required`) that leads to another round.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from tui.core.comparison.placeholders import same
from tui.core.errors import StorageError
from tui.core.jsonrpc.messages import write_line
from tui.core.jsonrpc.protocol import (
    LOG_LEVEL_KEY,
    MODERN,
    REVISIONS,
    SERVER_INFO_KEY,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    is_modern,
)
from tui.core.jsonrpc.reader import json_value
from tui.core.jsonrpc.skimmer import outline, value_end
from tui.core.secrets.secret_names import MARK
from tui.core.text import compact, mapping, object_in
from tui.core.traffic import ANSWERS, Direction, Entry, Kind, Outcome

INPUT_REQUIRED = "input_required"
BY_HAND = frozenset({"edited", "answered", "discarded"})
"""What the user did to a message. A fault is not played: the mock can have faults as well."""

SUBSCRIPTION_PATH = ("params", "_meta", SUBSCRIPTION_KEY)
"""The key under which a notification names its request."""

_LEGACY = tuple(revision for revision in reversed(REVISIONS) if not is_modern(revision))
KNOWN = (MODERN, *_LEGACY)
"""The revisions that a mock answers, the newest first."""

_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_CACHEABLE = frozenset({"server/discover", *_LISTS, "resources/read"})
_CAPABILITIES = {
    "tools": "tools",
    "prompts": "prompts",
    "resources": "resources",
    "completion": "completions",
}
"""The capability that a method needs, by the part of its name before the slash."""


def handshake(method: str, requested: Any, recorded: Any, methods: Collection[str]) -> dict[str, Any]:
    """Return a result of `initialize` or `server/discover`, from that of the other one.

    `recorded` is that result. Without one, capabilities are inferred from the recorded `methods`. A
    `requested` revision is answered with itself if it has a handshake.
    """
    recorded = mapping(recorded)
    server = recorded.get("serverInfo") or object_in(recorded, "_meta").get(SERVER_INFO_KEY)
    server = server if isinstance(server, Mapping) else {"name": "mock", "version": "0"}
    capabilities = recorded.get("capabilities")
    if not isinstance(capabilities, Mapping):
        areas = {known.partition("/")[0] for known in methods}
        capabilities = {name: {} for area, name in _CAPABILITIES.items() if area in areas}
    said = recorded.get("instructions")
    instructions = {"instructions": said} if isinstance(said, str) and said else {}
    if method == "initialize":
        version = legacy_revision(requested) or _LEGACY[0]
        found = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}
        return found | instructions
    capabilities = {key: value for key, value in capabilities.items() if key != "tasks"}
    found = {"resultType": "complete", "supportedVersions": [*KNOWN], "capabilities": capabilities}
    return found | instructions | {"ttlMs": 0, "cacheScope": "private", "_meta": {SERVER_INFO_KEY: server}}


def parsed(raw: bytes) -> Any:
    """Return the value of a message as JSON, None if it is not JSON."""
    return json_value(raw.decode("utf-8", "replace"))


def legacy_revision(version: Any) -> str:
    """Return a revision that has a handshake, or ""."""
    return version if version in _LEGACY else ""


def is_sent_unasked(method: str, meta: Any) -> bool:
    """Return whether a modern client gets this notification while its request with `meta` is answered."""
    if method == "notifications/message":
        return LOG_LEVEL_KEY in mapping(meta)
    return method == "notifications/progress"


def modern_answer(raw: bytes, method: str) -> bytes:
    """Return a legacy response with the members of a modern result, every other byte unchanged."""
    try:
        start, _ = outline(raw).members["result"]
        there = outline(raw, start).members
    except (ValueError, KeyError):
        return raw
    missing: dict[str, Any] = {"resultType": "complete"}
    if method in _CACHEABLE:
        missing |= {"ttlMs": 0, "cacheScope": "private"}
    added = json.dumps({key: value for key, value in missing.items() if key not in there})[1:-1]
    comma = ", " if there and added else ""
    return raw[: start + 1] + added.encode() + comma.encode() + raw[start + 1 :]


def input_required(ident: str, request: bytes, state: str) -> bytes:
    """Return a modern result that asks for what a legacy server asked in a request."""
    inner = {key: value for key, value in mapping(parsed(request)).items() if key in ("method", "params")}
    result = {"resultType": INPUT_REQUIRED, "inputRequests": {"1": inner}, "requestState": state}
    return f'{{"jsonrpc":"2.0","id":{ident},"result":{json.dumps(result)}}}'.encode()


def wanted_input(raw: bytes) -> list[Mapping[str, Any]] | None:
    """Return the requests in a result that asks for input; None for any other response."""
    if INPUT_REQUIRED.encode() not in raw:
        return None
    result = object_in(mapping(parsed(raw)), "result")
    if result.get("resultType") != INPUT_REQUIRED:
        return None
    return [one for one in object_in(result, "inputRequests").values() if isinstance(one, Mapping)]


HANDSHAKES = ("initialize", "server/discover")
OPENINGS = frozenset({*HANDSHAKES, "notifications/initialized", "logging/setLevel"})
"""Methods of messages that every client sends once, with its own params."""

MAX_SHOWN = 400

Body = Callable[[int], bytes]
"""Returns the complete stored body of an entry, by its seq."""


class Bodies:
    """The bytes of messages, including those in a batch."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._last: tuple[int, bytes] = (0, b"")
        self.sent: dict[int, bytes] = {}
        """What was sent in place of a message of the server, by seq."""

    def read(self, entry: Entry) -> bytes:
        """Return the bytes of an entry; for a message in a batch, b"" if they are incomplete."""
        if (sent := self.sent.get(entry.seq)) is not None:
            return sent
        if (place := entry.in_batch) is None:
            return self._body(entry.seq)
        line, start, end = place
        if self._last[0] != line:  # the messages of a batch are consecutive
            self._last = line, b""
            with suppress(StorageError):  # it is on a damaged page
                self._last = line, self._body(line)
        raw = self._last[1][start:end]
        try:
            is_whole = raw.startswith(b"{") and value_end(raw, 0) == end - start
        except ValueError:
            is_whole = False
        return raw if is_whole else b""

    def missing(self, entry: Entry, raw: bytes) -> int | None:
        """Return the full size of a message if `raw` is only a part, 0 if unknown; None if it is whole."""
        if entry.seq in self.sent:
            return None
        if (place := entry.in_batch) is not None:
            return None if raw else place[2] - place[1]
        return entry.size if entry.sha256 else None if raw else 0


@dataclass(frozen=True, slots=True)
class Question:
    """A request or notification of a client, without `_meta` in its params.

    `meta` is without the progress token; `token` is the progress token as JSON text, b"" for none.
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
        rest = {key: value for key, value in params.items() if key != "_meta" and value is not None}
        if rest.get("arguments") == {}:  # the same as no arguments
            del rest["arguments"]
        if not isinstance(meta, dict):
            return cls(method, rest, meta or {})
        token = json.dumps(meta["progressToken"]).encode() if "progressToken" in meta else b""
        return cls(method, rest, {key: value for key, value in meta.items() if key != "progressToken"}, token)

    def key(self) -> str:
        return f"{self.method}\n{_canonical(self.params)}"

    def param(self, name: str) -> Any:
        return mapping(self.params).get(name)

    def loose_key(self) -> str:
        """Return the key of what every client sends once, or of a further round of a call, or ""."""
        if self.method in OPENINGS:
            return f"{self.method}\nopening"
        if not isinstance(self.params, dict) or "inputResponses" not in self.params:
            return ""
        rest = {key: value for key, value in self.params.items() if key != "inputResponses"}
        return f"{self.method}\n{_canonical(rest)}\nround"

    def exact_key(self) -> str:
        return f"{self.key()}\n{_canonical(self.meta)}"

    @property
    def revision(self) -> str:
        """The revision that it names (only in the modern era), or ""."""
        version = mapping(self.meta).get(VERSION_KEY)
        return version if isinstance(version, str) else ""

    @property
    def modern(self) -> bool:
        return is_modern(self.revision)

    def shown(self) -> str:
        return compact(self.params, MAX_SHOWN)


def _canonical(value: Any) -> str:
    """Return the same text for the same value: 1.0 is 1, and the order of members does not matter."""
    whole = json.loads(json.dumps(value), parse_float=_number)
    return json.dumps(whole, sort_keys=True, separators=(",", ":"))


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


def request_of(raw: bytes, method: str) -> Question | None:
    """Return a recorded request, None if its bytes are incomplete or cannot be parsed."""
    message = mapping(parsed(raw))
    try:
        asked = Question.of(method, message.get("params"))
        asked.exact_key()  # parseable, but nested too deeply to compare
    except RecursionError:
        return None
    return asked if message else None


@dataclass(slots=True)
class Script:
    """A message of the host, and the server's reaction. `then` is the next round of the same call."""

    mono_ns: int
    is_in_batch: bool = False
    modern: bool = False
    steps: list[tuple[Entry, bool]] = field(default_factory=list)
    """The server's messages, each with whether it answers the message that began the script."""
    outcome: Outcome = Outcome.PENDING
    then: "Script | None" = None

    def result(self) -> Entry | None:
        """Return the response, if it is not an error."""
        return next((one for one, answers in self.steps if answers and one.kind is Kind.RESPONSE), None)


class RecordedServer:
    """The scripts of one server by their requests. `handshakes` are the last ones, by method.

    Each script of a key is used once, in order, then the last one repeatedly.
    """

    def __init__(self, bodies: Bodies) -> None:
        self.handshakes: dict[str, Script] = {}
        self._bodies = bodies
        self._scripts: dict[str, list[Script]] = {}
        self._by_method: dict[str, list[Question]] = {}

    def read(self, entries: Iterable[Entry]) -> None:
        """Read the columns of a recording, in order."""
        by_seq: dict[int, Script] = {}
        last_rounds: dict[int, Script] = {}
        latest: Script | None = None
        for entry in entries:
            if entry.direction is Direction.OUT and entry.outcome is Outcome.CANCELLED:
                if (cancelled := by_seq.get(entry.pair)) is not None:
                    cancelled.outcome = Outcome.CANCELLED
            elif entry.direction is Direction.OUT and entry.kind in (Kind.REQUEST, Kind.NOTIFICATION):
                latest = by_seq[entry.seq] = Script(entry.mono_ns, entry.in_batch is not None)
                asked = request_of(self._bodies.read(entry), entry.method)
                if asked is not None:
                    self.add(asked, latest)
                if (before := last_rounds.get(entry.root)) is not None:
                    before.then = latest
                last_rounds[entry.root or entry.seq] = latest
            elif entry.kind is Kind.EVENT and entry.method in BY_HAND:
                self._change(entry, by_seq.get(entry.pair))
            elif entry.direction is Direction.IN and entry.kind is not Kind.BATCH:
                script = by_seq.get(entry.pair) or by_seq.get(entry.root) or latest
                if script is not None:
                    ends = entry.pair in by_seq and entry.kind in ANSWERS
                    script.outcome = entry.outcome if ends else script.outcome
                    script.steps.append((entry, ends))

    def _change(self, event: Entry, script: Script | None) -> None:
        """Take what was sent by hand for a response of the server."""
        sent = event.detail.get("sent")
        raw = write_line(sent) if isinstance(sent, dict) else b""
        kind = Kind.ERROR if "error" in mapping(sent) else Kind.RESPONSE
        if event.detail.get("dir") == "out":
            asked = request_of(write_line(mapping(event.detail.get("was"))), event.detail.get("method", ""))
            if event.method == "answered" and raw and asked is not None:  # the server has not seen it
                self._bodies.sent[event.seq] = raw
                answer = event._replace(kind=kind, direction=Direction.IN)
                self.add(asked, Script(event.mono_ns, steps=[(answer, True)], outcome=Outcome.OK))
            return
        last = (
            next((at for at, (_, ends) in enumerate(script.steps) if ends), -1) if script is not None else -1
        )
        if script is None or last < 0:
            return
        entry, _ = script.steps[last]
        if event.method == "discarded":
            del script.steps[last]
            script.outcome = Outcome.CANCELLED
        elif raw:
            self._bodies.sent[entry.seq] = raw
            script.steps[last] = entry._replace(kind=kind), True

    def add(self, asked: Question, script: Script) -> None:
        """Add the script of a request."""
        script.modern = asked.modern
        if asked.method in HANDSHAKES:
            self.handshakes[asked.method] = script
        if asked.key() not in self._scripts:
            self._by_method.setdefault(asked.method, []).append(asked)
        for key in filter(None, (asked.exact_key(), asked.key(), asked.loose_key())):
            self._scripts.setdefault(key, []).append(script)

    def exact(self, asked: Question) -> Script | None:
        """Return the script for the same request by the same client."""
        return self._next(asked.exact_key())

    def find(self, asked: Question) -> Script | None:
        """Return the script for a request: the same one, one that is equal but for secrets, or alike."""
        if (script := self._next(asked.exact_key(), asked.key())) is not None:
            return script
        redacted = (one for one in self.recorded(asked.method) if MARK.search(one.key()))
        found = next((one for one in redacted if alike(one.params, asked.params)), None)
        return self._next(found.key() if found is not None else asked.loose_key())

    def _next(self, *keys: str) -> Script | None:
        """Return the next script of the first key that has any."""
        scripts = next((self._scripts[key] for key in keys if key in self._scripts), [])
        return scripts.pop(0) if len(scripts) > 1 else next(iter(scripts), None)

    def recorded(self, method: str) -> Sequence[Question]:
        """Return the different recorded requests of a method."""
        return self._by_method.get(method, ())

    def methods(self) -> list[str]:
        """Return the methods of the recorded requests."""
        return sorted(method for method in self._by_method if not method.startswith("notifications/"))


def alike(recorded: Any, asked: Any) -> bool:
    """Return whether two values are equal; a redacted part of the recorded value matches any text.

    A completely redacted value also matches numbers and any other non-empty value, since its type is unknown.
    """
    if isinstance(recorded, str) and not isinstance(asked, str) and MARK.fullmatch(recorded):
        return asked not in (None, [], {})
    if isinstance(recorded, str) and isinstance(asked, str) and MARK.search(recorded):
        parts = map(re.escape, MARK.split(recorded))
        return re.fullmatch(".+".join(parts), asked, re.DOTALL) is not None
    if isinstance(recorded, dict) and isinstance(asked, dict):
        return recorded.keys() == asked.keys() and all(alike(recorded[key], asked[key]) for key in recorded)
    if isinstance(recorded, list) and isinstance(asked, list):
        return len(recorded) == len(asked) and all(map(alike, recorded, asked))
    return same(recorded, asked)


def nearest(asked: Question, known: Sequence[Question]) -> list[Question]:
    """Return `known` sorted by similarity to `asked`."""
    wanted = asked.shown()
    return sorted(known, key=lambda one: -SequenceMatcher(None, wanted, one.shown()).quick_ratio())
