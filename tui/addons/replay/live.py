"""Replaying a recorded session on a live server: the plan, the process, and the differences.

Requests are sent as recorded, with their ids, one after the other, even those of a batch. Values that a
server hands out to be sent back (a cursor, the state of a call in rounds) are replaced with those of the live
server.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from tui import __version__
from tui.addons.replay.mock import member_span, with_member
from tui.addons.replay.recorded_server import Bodies, Body, legacy_revision, parsed
from tui.core.comparison.placeholders import RUN_TO_RUN
from tui.core.comparison.values import Comparison, Tolerance, compare
from tui.core.errors import ServerError
from tui.core.jsonrpc.classification import id_forms, id_text
from tui.core.jsonrpc.framing import Framer
from tui.core.jsonrpc.protocol import CAPABILITIES_KEY, METHOD_NOT_FOUND, MODERN, VERSION_KEY
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, mapping, object_in
from tui.core.time_limits import TimeLimit
from tui.core.traffic import ANSWERS, Direction, Entry, Kind, Outcome
from tui.host.catalog import Walk, walk_pages
from tui.host.process.pipes import PipeReader, PipeWriter
from tui.host.process.process import ServerProcess, spawn
from tui.host.process.stderr import drain
from tui.host.process.stop_ladder import StopGrace, descend
from tui.host.server.server_start import start_seconds

ANSWER_SECONDS = 60.0
"""Timeout of a response; progress restarts it."""

MOST = 10
"""How many times its timeout a response with progress may take."""

GRACE = StopGrace()
LAST_WORDS = 16 * 1024 * 1024
"""Maximum bytes to read that the server left in its pipe."""

MAX_HELD = 100
"""Maximum requests of the server to queue until the user has confirmed."""

INITIALIZE, INITIALIZED = "initialize", "notifications/initialized"
HANDSHAKE = frozenset({INITIALIZE, INITIALIZED})
"""Servers of revisions up to 2025-11-25 do not respond before these messages."""

_CLIENT = {"name": "mcptui", "version": __version__}
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"


GIVEN_BACK = {"cursor": "nextCursor", "requestState": "requestState"}
"""Members of params whose values are from results, and the members of results that have them."""


@dataclass(frozen=True, slots=True)
class ReplayItem:
    """A message of the host: a request, a notification, or the response to a server's request.

    Attributes:
        raw: its bytes.
        expected: the recorded response, b"" for none.
        took_ns: how long that took, -1 for no response.
        left_out: why it is not sent, or "".
        refusal: why it may not be sent, which is a difference, or "".
    """

    entry: Entry
    raw: bytes
    expected: bytes = b""
    took_ns: int = -1
    left_out: str = ""
    refusal: str = ""


def plan(entries: Iterable[Entry], body: Body) -> list[ReplayItem]:
    """Return the host's messages in one server's traffic, in order, with the responses."""
    kept = [entry for entry in entries if entry.direction is not Direction.NONE]
    bodies = Bodies(body)
    answers = {
        entry.pair: entry
        for entry in kept
        if entry.direction is Direction.IN and entry.kind in ANSWERS and entry.pair
    }
    sent = (Kind.REQUEST, Kind.NOTIFICATION, *ANSWERS)
    return [
        _item(entry, answers.get(entry.seq), bodies)
        for entry in kept
        if entry.direction is Direction.OUT and entry.kind in sent and entry.outcome is not Outcome.CANCELLED
    ]


def _item(entry: Entry, answer: Entry | None, bodies: Bodies) -> ReplayItem:
    raw, expected = bodies.read(entry), b""
    left_out = ""
    if bodies.missing(entry, raw) is not None:
        left_out = "only its start was recorded"
    elif b"[redacted:" in raw:
        left_out = "a secret in it was redacted"
    elif entry.kind is Kind.REQUEST and answer is None:
        left_out = "it had no response"
    elif answer is not None:
        expected = bodies.read(answer)
        if bodies.missing(answer, expected) is not None:
            left_out, expected = "only the start of its response was recorded", b""
    took_ns = answer.mono_ns - entry.mono_ns if answer is not None else -1
    return ReplayItem(entry, raw, expected, took_ns, left_out)


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of sending an item: how long the response took (-1 for none), or the problem.

    `comparison` is None where there was nothing to compare.
    """

    item: ReplayItem
    took_ns: int = -1
    comparison: Comparison | None = None
    problem: str = ""

    @property
    def verdict(self) -> str:
        """Whether it is the same ("same"), differs ("differ") or was omitted ("omitted")."""
        if self.problem or (self.comparison is not None and not self.comparison.same):
            return "differ"
        return "omitted" if self.comparison is None else "same"


class Replay:
    """The state of a replay. `paths` may differ, as may values that change from run to run.

    `unmatched` are the paths that no response so far has; none if a response was not compared completely.
    """

    def __init__(self, items: Iterable[ReplayItem], paths: Iterable[str] = ()) -> None:
        self._items = list(items)
        self._tolerance = Tolerance(tuple(paths), RUN_TO_RUN)
        self.unmatched = self._tolerance.paths
        self._handed_out: dict[bytes, bytes] = {}

    def items(self) -> Iterator[ReplayItem]:
        return (item for item in self._items if item.entry.kind in (Kind.REQUEST, Kind.NOTIFICATION))

    def bytes_of(self, item: ReplayItem) -> bytes:
        """Return the bytes of an item, after the responses so far."""
        raw = item.raw
        for name in GIVEN_BACK:
            value = _member(raw, "params", name)
            if value in self._handed_out:
                raw = with_member(raw, ("params", name), self._handed_out[value])
        return raw

    def answer(self, item: ReplayItem, got: bytes, took_ns: int) -> ReplayResult:
        """Compare the live response to an item with the recorded one."""
        for name in GIVEN_BACK.values():
            before, after = _member(item.expected, "result", name), _member(got, "result", name)
            if before and after:
                self._handed_out[before] = after
        found = ((parsed(raw), raw.decode("utf-8", "replace")) for raw in (item.expected, got))
        was, now = (text if value is None else value for value, text in found)
        comparison = compare(was, now, self._tolerance)
        complete, matched = comparison.complete, comparison.matched
        self.unmatched = tuple(path for path in self.unmatched if complete and path not in matched)
        return ReplayResult(item, took_ns, comparison)

    def reply_to(self, method: str, ident: Any) -> bytes:
        """Return the host's recorded response to a server's request of `method`, with another id.

        Each response is used once, in order. After that, an error is returned.
        """
        for place, item in enumerate(self._items):
            if item.entry.kind in ANSWERS and item.entry.method == method and not item.left_out:
                del self._items[place]
                return with_member(item.raw, ("id",), json.dumps(ident).encode())
        error = {"code": METHOD_NOT_FOUND, "message": "no recorded response"}
        return json.dumps({"jsonrpc": "2.0", "id": ident, "error": error}).encode()


def _member(raw: bytes, *path: str) -> bytes:
    start, end = member_span(raw, path)
    return raw[start : max(start, end)]


# ---- the live server


class NotStartedError(Exception):
    """The live server did not start, or did not list its tools. The message says why."""


class LiveConnection:
    """A running server that receives the messages of a recording.

    Requests of the server are queued until `begin`, which answers them with recorded responses.
    """

    def __init__(self, stdin: PipeWriter, seconds: float) -> None:
        """Create it; a response may take `seconds` until the tools are listed."""
        self._stdin = stdin
        self._seconds = seconds
        self._replay: Replay | None = None
        self._held: list[tuple[str, Any]] = []
        self._already: dict[int, tuple[bytes, int] | None] = {}
        self._wanted = ""
        self._answer: asyncio.Future[bytes] | None = None
        self._limit: TimeLimit | None = None
        self._ended = False

    @classmethod
    @asynccontextmanager
    async def started(cls, spec: ServerSpec) -> AsyncIterator[Self]:
        """Start the server, and stop it at the end. Raises NotStartedError."""
        try:
            popen = spawn(spec, f"replay/{os.getpid()}")
        except ServerError as error:
            raise NotStartedError(error.message) from error
        assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
        stdin = PipeWriter(popen.stdin, broken=lambda why: None)
        stdout, stderr = PipeReader(popen.stdout), PipeReader(popen.stderr)
        live = cls(stdin, start_seconds(spec))
        process = ServerProcess(popen, lambda: stdout.expect_no_more(LAST_WORDS))
        reading = asyncio.gather(live._read(stdout), drain(stderr, lambda chunk: None))
        try:
            yield live
        finally:
            try:
                await descend(process, stdin, GRACE, asyncio.Event())
            finally:
                process.destroy()
                stdin.close()
                for pipe in (stdout, stderr):
                    pipe.close()
            await reading

    # ---- before the user confirms ------------------------------------------------------------------------

    async def listed(self, items: Sequence[ReplayItem]) -> tuple[Walk, Mapping[str, Any]]:
        """Return the tools that the server lists, and its identity.

        Of the recording, only the revision and the capabilities of the `initialize` request are used. Without
        that request, each request names the revision. Raises NotStartedError if the server does not respond
        with a list.
        """
        first = (INITIALIZE, Kind.REQUEST)
        opening = [one for one in items if (one.entry.method, one.entry.kind) == first][:1]
        introduction: Mapping[str, Any] = {"protocolVersion": MODERN}
        meta = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}, CLIENT_KEY: _CLIENT}
        named: Mapping[str, Any] = {} if opening else {"_meta": meta}
        if opening:
            introduction = await self._greet(opening[0])
            told = next((each for each in items if each.entry.method == INITIALIZED), opening[0])
            self._already.setdefault(told.entry.seq, None)

        async def page(cursor: str | None) -> Mapping[str, Any]:
            params = {**named, **({} if cursor is None else {"cursor": cursor})}
            return (await self._request("mcptui-tools", "tools/list", params))[1]

        has_tools = not opening or "tools" in object_in(introduction, "capabilities")
        walk = await walk_pages(page, "tools") if has_tools else Walk()
        return walk, introduction

    async def _greet(self, opening: ReplayItem) -> Mapping[str, Any]:
        recorded = mapping(parsed(opening.raw))
        params, ident = object_in(recorded, "params"), recorded.get("id")
        ident = ident if isinstance(ident, int | str) else "mcptui-initialize"
        known = object_in(params, "capabilities")
        offered: dict[str, Any] = {name: {} for name in ("roots", "sampling", "elicitation") if name in known}
        revision = legacy_revision(params.get("protocolVersion")) or "2025-11-25"
        begin = time.monotonic_ns()
        said = {"protocolVersion": revision, "capabilities": offered, "clientInfo": _CLIENT}
        got, result = await self._request(ident, INITIALIZE, said)
        self._already[opening.entry.seq] = got, time.monotonic_ns() - begin
        self._write(json.dumps({"jsonrpc": "2.0", "method": INITIALIZED}).encode())
        return result

    async def _request(
        self, ident: int | str, method: str, params: Mapping[str, Any]
    ) -> tuple[bytes, Mapping[str, Any]]:
        """Return a response and its result, or raise NotStartedError."""
        raw = json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
        got = await self._exchange(id_text(ident), raw.encode(), self._seconds)
        if isinstance(got, str):
            raise NotStartedError(f"{method}: {got}")
        answer = mapping(parsed(got))
        if isinstance(result := answer.get("result"), dict):
            return got, result
        problem = answer.get("error")
        said = problem.get("message") if isinstance(problem, dict) else "the response has no result"
        raise NotStartedError(f"{method}: {clean_line(str(said), 300)}")

    # ---- replay ------------------------------------------------------------------------------------------

    def begin(self, replay: Replay) -> None:
        """From now on, answer the server's requests with responses from a recording."""
        self._replay = replay
        held, self._held = self._held, []
        for method, ident in held:
            self._write(replay.reply_to(method, ident))

    async def send(self, item: ReplayItem) -> ReplayResult:
        """Send an item. For a request, wait for the response."""
        assert self._replay is not None
        if item.left_out:
            return ReplayResult(item)
        if item.refusal:
            return ReplayResult(item, problem=item.refusal)
        if item.entry.seq in self._already:
            answered = self._already[item.entry.seq]
            return ReplayResult(item) if answered is None else self._replay.answer(item, *answered)
        if item.entry.kind is not Kind.REQUEST:
            return ReplayResult(item, problem=self._write(self._replay.bytes_of(item)))
        began = time.monotonic_ns()
        got = await self._exchange(item.entry.ident, self._replay.bytes_of(item), ANSWER_SECONDS)
        if isinstance(got, str):
            return ReplayResult(item, problem=got)
        return self._replay.answer(item, got, time.monotonic_ns() - began)

    # ---- the pipes ---------------------------------------------------------------------------------------

    async def _exchange(self, ident: str, raw: bytes, seconds: float) -> bytes | str:
        """Return the response to a request, or why there is none."""
        if self._ended:
            return "the server exited"
        self._wanted, self._answer = ident, asyncio.get_running_loop().create_future()
        if problem := self._write(raw):
            return problem
        limit = self._limit = TimeLimit(seconds, MOST * seconds)
        try:
            async with limit:
                got = await self._answer
        except TimeoutError:
            return f"no response within {MOST * seconds if limit.is_total else seconds:g} s"
        return got or "the server exited before it responded"

    def _write(self, raw: bytes) -> str:
        """Write a line; return the error, or ""."""
        return "" if self._stdin.write(raw + b"\n") else "the server closed its stdin"

    async def _read(self, stdout: PipeReader) -> None:
        framer = Framer(512 * 1024 * 1024)
        while chunk := await stdout.read():
            for line in framer.feed(chunk):
                if isinstance(line, bytes):
                    self._take(line)
        self._ended = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(b"")

    def _take(self, line: bytes) -> None:
        message = parsed(line)
        if isinstance(message, list):
            for each in message:
                self._take(json.dumps(each).encode())
        if not isinstance(message, dict):
            return
        if message.get("method") == "notifications/progress" and self._limit is not None:
            self._limit.restart()  # requests are sent one after the other
        if "id" not in message:
            return
        method, ident = message.get("method"), message["id"]
        if isinstance(method, str):
            if self._replay is not None:
                self._write(self._replay.reply_to(method, ident))
            elif method == "ping":
                self._write(json.dumps({"jsonrpc": "2.0", "id": ident, "result": {}}).encode())
            elif len(self._held) < MAX_HELD:
                self._held.append((method, ident))
        elif self._wanted in id_forms(id_text(ident)) and self._answer is not None:
            if not self._answer.done():
                self._answer.set_result(line)
