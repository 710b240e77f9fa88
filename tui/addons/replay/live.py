"""The live server of a replay: one process, from its handshake to the last message."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from tui import __version__
from tui.addons.replay.eras import legacy_revision, object_in, parsed
from tui.addons.replay.replay_plan import Replay, ReplayItem, ReplayResult
from tui.core.jsonrpc.framing import Framer
from tui.core.jsonrpc.protocol import CAPABILITIES_KEY, MODERN, VERSION_KEY
from tui.core.text import clean_line
from tui.core.time_limits import TimeLimit
from tui.core.traffic import Kind
from tui.host.catalog import Walk, walk_pages

ANSWER_SECONDS = 60.0
"""Timeout of a response; progress restarts it."""

MOST = 10
"""How many times its timeout a response with progress may take."""

STOP_SECONDS = 2.0
CHUNK = 256 * 1024
MAX_HELD = 100
"""Maximum requests of the server to queue until the user has confirmed."""

INITIALIZE, INITIALIZED = "initialize", "notifications/initialized"
HANDSHAKE = frozenset({INITIALIZE, INITIALIZED})
"""Servers of revisions up to 2025-11-25 do not respond before these messages."""

_CLIENT = {"name": "mcptui", "version": __version__}
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_REVISION = "2025-11-25"
_TOOLS_ID = '"mcptui-tools"'
_CAPABILITIES = ("roots", "sampling", "elicitation")


class NotStartedError(Exception):
    """The live server did not start, or did not list its tools. The message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """The command of the live server. `seconds` is its response timeout until its tools are listed."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: str | None = None
    seconds: float = 60.0


class LiveConnection:
    """A running server that receives the messages of a recording.

    Requests of the server are queued until `begin`, which answers them with recorded responses.
    """

    def __init__(self, process: asyncio.subprocess.Process, seconds: float) -> None:
        self._process = process
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
    async def started(cls, command: Command) -> AsyncIterator[Self]:
        """Start the server, and stop it at the end. Raises NotStartedError."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command.argv,
                env=dict(command.environment),
                cwd=command.folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise NotStartedError(error.strerror or str(error)) from error
        live = cls(process, command.seconds)
        reading = asyncio.create_task(live._read())
        try:
            yield live
        finally:
            reading.cancel()
            await asyncio.wait({reading})
            await _stop(process)

    # ---- before the user confirms ------------------------------------------------------------------------

    async def listed(self, items: Sequence[ReplayItem]) -> tuple[Walk, Mapping[str, Any]]:
        """Return the tools that the server lists, and its identity.

        Of the recording, only the revision and the capabilities of the `initialize` request are used. Without
        that request, each request names the revision. Raises NotStartedError if the server does not respond
        with a list.
        """
        opening = [one for one in items if one.method == INITIALIZE and one.kind is Kind.REQUEST][:1]
        introduction: Mapping[str, Any] = {"protocolVersion": MODERN}
        meta = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}, CLIENT_KEY: _CLIENT}
        named: Mapping[str, Any] = {} if opening else {"_meta": meta}
        for one in opening:
            introduction = await self._greet(one)
            told = next((each for each in items if each.method == INITIALIZED), one)
            self._already.setdefault(told.seq, None)

        async def page(cursor: str | None) -> Mapping[str, Any]:
            params = {**named, **({} if cursor is None else {"cursor": cursor})}
            return (await self._request(_TOOLS_ID, "tools/list", params))[1]

        offers = introduction.get("capabilities")
        has_tools = not opening or (isinstance(offers, Mapping) and "tools" in offers)
        walk = await walk_pages(page, "tools") if has_tools else Walk()
        return walk, introduction

    async def _greet(self, opening: ReplayItem) -> Mapping[str, Any]:
        recorded = object_in(opening.raw)
        params, ident = recorded.get("params"), recorded.get("id")
        params = params if isinstance(params, dict) else {}
        ident = json.dumps(ident if isinstance(ident, int | str) else "mcptui-initialize")
        declared = params.get("capabilities")
        known: Mapping[str, Any] = declared if isinstance(declared, dict) else {}
        offered: dict[str, Any] = {name: {} for name in _CAPABILITIES if name in known}
        revision = legacy_revision(params.get("protocolVersion")) or _REVISION
        begin = time.monotonic_ns()
        said = {"protocolVersion": revision, "capabilities": offered, "clientInfo": _CLIENT}
        got, result = await self._request(ident, INITIALIZE, said)
        self._already[opening.seq] = got, time.monotonic_ns() - begin
        await self._write(json.dumps({"jsonrpc": "2.0", "method": INITIALIZED}).encode())
        return result

    async def _request(
        self, ident: str, method: str, params: Mapping[str, Any]
    ) -> tuple[bytes, Mapping[str, Any]]:
        """Return a response and its result, or raise NotStartedError."""
        raw = json.dumps({"jsonrpc": "2.0", "id": json.loads(ident), "method": method, "params": params})
        got = await self._exchange(ident, raw.encode(), self._seconds)
        if isinstance(got, str):
            raise NotStartedError(f"{method}: {got}")
        answer = object_in(got)
        if isinstance(result := answer.get("result"), dict):
            return got, result
        problem = answer.get("error")
        said = problem.get("message") if isinstance(problem, dict) else "the response has no result"
        raise NotStartedError(f"{method}: {clean_line(str(said), 300)}")

    # ---- replay ------------------------------------------------------------------------------------------

    async def begin(self, replay: Replay) -> None:
        """From now on, answer the server's requests with responses from a recording."""
        self._replay = replay
        held, self._held = self._held, []
        for method, ident in held:
            await self._write(replay.reply_to(method, ident))

    async def send(self, item: ReplayItem) -> ReplayResult:
        """Send an item. For a request, wait for the response."""
        assert self._replay is not None
        if item.left_out:
            return ReplayResult(item)
        if item.refusal:
            return ReplayResult(item, problem=item.refusal)
        if item.seq in self._already:
            answered = self._already[item.seq]
            return ReplayResult(item) if answered is None else self._replay.answer(item, *answered)
        if item.kind is not Kind.REQUEST:
            return ReplayResult(item, problem=await self._write(self._replay.bytes_of(item)))
        began = time.monotonic_ns()
        got = await self._exchange(item.ident, self._replay.bytes_of(item), ANSWER_SECONDS)
        if isinstance(got, str):
            return ReplayResult(item, problem=got)
        return self._replay.answer(item, got, time.monotonic_ns() - began)

    # ---- the pipes ---------------------------------------------------------------------------------------

    async def _exchange(self, ident: str, raw: bytes, seconds: float) -> bytes | str:
        """Return the response to a request, or why there is none."""
        if self._ended:
            return "the server exited"
        self._wanted, self._answer = ident, asyncio.get_running_loop().create_future()
        if problem := await self._write(raw):
            return problem
        limit = self._limit = TimeLimit(seconds, MOST * seconds)
        try:
            async with limit:
                got = await self._answer
        except TimeoutError:
            return f"no response within {MOST * seconds if limit.is_total else seconds:g} s"
        return got or "the server exited before it responded"

    async def _write(self, raw: bytes) -> str:
        """Write a line; return the error, or ""."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(raw + b"\n")
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            return "the server closed its stdin"
        return ""

    async def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        framer = Framer(512 * 1024 * 1024)
        while chunk := await stdout.read(CHUNK):
            for line in framer.feed(chunk):
                if isinstance(line, bytes):
                    await self._take(line)
        self._ended = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(b"")

    async def _take(self, line: bytes) -> None:
        message = parsed(line)
        if isinstance(message, list):
            for each in message:
                await self._take(json.dumps(each).encode())
        if not isinstance(message, dict):
            return
        if message.get("method") == "notifications/progress" and self._limit is not None:
            self._limit.restart()  # requests are sent one after the other
        if "id" not in message:
            return
        if isinstance(method := message.get("method"), str):
            await self._asked(method, message["id"])
        elif json.dumps(message["id"]) == self._wanted and self._answer is not None:
            if not self._answer.done():
                self._answer.set_result(line)

    async def _asked(self, method: str, ident: Any) -> None:
        if self._replay is not None:
            await self._write(self._replay.reply_to(method, ident))
        elif method == "ping":
            await self._write(json.dumps({"jsonrpc": "2.0", "id": ident, "result": {}}).encode())
        elif len(self._held) < MAX_HELD:
            self._held.append((method, ident))


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop the server and its process group: close its input, then send signals."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        if number:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
                break
