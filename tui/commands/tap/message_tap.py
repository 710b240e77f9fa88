"""A process between a host and its server, like `host.passthrough`, that hands each message to stages.

For faults, breakpoints and restarts. Without stages every byte passes unchanged here too, but the process
needs an event loop, so a tap that only records is a `Passthrough`. POSIX only.
"""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from time import monotonic_ns
from typing import IO, Any, Protocol, cast

from tui.commands.tap.passthrough import (
    ERRORS,
    FROM_SERVER,
    LEFT_BEHIND,
    PASSED_ON,
    TO_SERVER,
    detach,
    inherited,
)
from tui.core.background import first_of
from tui.core.traffic import Direction
from tui.host.frames.stage import Lines, Stage, enter, release
from tui.host.process.guard import OWNER_VARIABLE, end_servers
from tui.host.process.pipes import PipeReader
from tui.host.process.process import ServerProcess
from tui.host.process.stderr import StderrTail
from tui.host.process.thread_pipes import ThreadReader, ThreadWriter

STOP_SECONDS = 2.0
"""How long a process that is stopped may take to exit, after each of: the end of its stdin, SIGTERM."""

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""The signals by which a host ends a tap that does not end with its server."""

LOST_SECONDS = 2.0
"""How long a server may run after the connection to it was lost on purpose, until it is killed."""


class Records(Protocol):
    """Where a tap reports what passes. Neither raises nor waits."""

    def seen(self, stream: int, at_ns: int, data: bytes) -> None: ...

    def event(self, word: str, **what: Any) -> None: ...

    def spawned(self, at_ns: int, command: Sequence[str], pid: int) -> None: ...


class HostSide:
    """The streams that the host gave this process. They may be of any kind, so threads read and write them.

    `broken` is called when the host reads no more.
    """

    def __init__(self, broken: Callable[[], None]) -> None:
        """Take over stdin and stdout of this process."""
        given, out, errors = detach(0), detach(1), inherited(2)
        self.reader = ThreadReader(_file(given, "rb"))
        self.out = _writer(_file(out, "wb"), lambda why: broken())
        self.errors = _writer(_file(errors, "wb"))


def _file(descriptor: int, mode: str) -> IO[bytes]:
    """Return a file over a descriptor; over /dev/null if the host gave us none."""
    descriptor = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC) if descriptor < 0 else descriptor
    return cast("IO[bytes]", open(descriptor, mode, buffering=0))


def _writer(pipe: IO[bytes], broken: Callable[[str], None] = lambda why: None) -> ThreadWriter:
    """Return a writer that takes everything: what is read waits until it is empty, so that is little."""
    return ThreadWriter(pipe, broken=broken, limit=sys.maxsize)


class ServerSide:
    """One server process with its streams. It stays in the process group of the host. Raises OSError.

    `hear` takes each line of its output, without its end. `number` tells it from others of this tap. `unseen`
    are its messages until it serves the host, None from then on.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], number: int = 0) -> None:
        self._mark = f"{known}/{number}" if (known := environment.get(OWNER_VARIABLE)) else ""
        popen = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**environment, **({OWNER_VARIABLE: f"{self._mark}/"} if self._mark else {})},
        )
        assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
        self.popen = popen
        self.hear: Callable[[bytes], None] = lambda raw: None
        self.began_ns, self.command = monotonic_ns(), command
        self.unseen: list[tuple[int, int, bytes]] | None = []
        self.heard_all = asyncio.Event()
        self.log = StderrTail()
        self.process = ServerProcess(popen, self._died)
        self.stdin = _writer(popen.stdin)
        self.stdout, self.stderr = PipeReader(popen.stdout), PipeReader(popen.stderr)

    def _died(self) -> None:
        self.stdin.close()
        for pipe in (self.stdout, self.stderr):
            pipe.expect_no_more(LEFT_BEHIND)

    def signal(self, number: int) -> None:
        if self.process.exit is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    async def stop(self, patience: float = STOP_SECONDS) -> None:
        """End the process, and what it has left behind. `patience`: the time until SIGTERM, in seconds."""
        self.stdin.close()
        for seconds, number in ((patience, signal.SIGTERM), (STOP_SECONDS, signal.SIGKILL)):
            await first_of(self.process.exited.wait(), seconds=seconds)
            self.signal(number)
        await self.process.exited.wait()
        self.popen.wait()
        self.process.destroy()
        if self._mark:
            await asyncio.to_thread(end_servers, self._mark, set(), set())


class Keeper(AbstractAsyncContextManager["Keeper"], Protocol):
    """Replaces servers while the session of the host lives on, from its entry to its exit."""

    async def ended(self) -> None:
        """Return once another server is there, after the last one has exited."""


class MessageTap:
    """Runs a server in place of this process, and hands the messages to `stages`. Used once, in a loop.

    It is the end of the stages (`PassOn`): `source` is the name of the server. With a `keeper`, it does not
    end with a server, only when the host has closed its stdin.
    """

    exchange, is_gone = 0, False
    _server: ServerSide

    def __init__(self, source: str, stages: Sequence[Stage], records: Records) -> None:
        self.source = source
        self.event = records.event
        self._stages = stages
        self._records, self._seen = records, records.seen
        self._interrupted = asyncio.Event()
        self._adopted = asyncio.Event()
        self._host_left = asyncio.Event()
        self._ended_by = 0
        self._closing: asyncio.Task[None] | None = None  # what the host reads, after it was lost
        self._numbers = itertools.count()
        self._reading: set[asyncio.Task[None]] = set()
        self.keeper: Keeper | None = None

    @property
    def server(self) -> ServerSide:
        """The process that serves the host."""
        return self._server

    @property
    def pid(self) -> int:
        return self._server.process.pid

    def connect(self, command: Sequence[str], environment: Mapping[str, str]) -> ServerSide:
        """Start another process, whose output is read, but serves nobody. Raises OSError."""
        server = ServerSide(command, environment, next(self._numbers))
        task = asyncio.create_task(self._hear(server))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)
        return server

    async def _hear(self, server: ServerSide) -> None:
        await asyncio.gather(self._from_server(server), self._errors(server))
        server.heard_all.set()

    def adopt(self, server: ServerSide) -> None:
        """Let another process serve the host from now on.

        Its messages are recorded from here, and those of the old one no more: the recording has one process
        after the other, each with its own ids.
        """
        self._server.hear = lambda raw: None
        self._server = server
        server.hear = self._heard
        self._records.spawned(server.began_ns, server.command, server.process.pid)
        unseen, server.unseen = server.unseen or [], None
        for one in unseen:
            self._seen(*one)
        if self._host_left.is_set():
            server.stdin.close()
        if self._ended_by:
            server.signal(self._ended_by)
        self._adopted.set()

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the server, then take over stdin and stdout. Raises OSError if it cannot be started."""
        loop = asyncio.get_running_loop()
        early: list[int] = []
        for number in PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                loop.add_signal_handler(number, early.append, number)
        self._server = self.connect(command, environment)
        self._server.hear, self._server.unseen = self._heard, None
        self._host = HostSide(broken=self._unheard)
        for number in PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._signalled, number)
        for waiting in early:
            self._signalled(waiting)

    async def run(self) -> int:
        """Pass messages until the server has exited and its last output is sent; return its `returncode`.

        After that, signals have their default effect on this process.
        """
        for stage in self._stages:
            stage.begin()
        asking = asyncio.create_task(self._from_host(self._host.reader))
        await self._last_exit()
        asking.cancel()
        server = self._server
        await first_of(server.heard_all.wait(), self._interrupted.wait())
        await first_of(self._end_answers(), self._interrupted.wait())
        for number in PASSED_ON:
            asyncio.get_running_loop().remove_signal_handler(number)
        return server.popen.wait()  # it has exited; what it left behind stays, as without a tap

    async def _last_exit(self) -> None:
        """Wait until a server has exited that no other replaces."""
        while True:
            server = self._server
            self._adopted.clear()
            await first_of(server.process.exited.wait(), self._adopted.wait())
            if server is not self._server:
                continue
            is_over = self._host_left.is_set() or self._ended_by or self._interrupted.is_set()
            if self.keeper is None or is_over:
                return
            await first_of(self.keeper.ended(), self._host_left.wait(), self._interrupted.wait())

    # ---- the end of the stages -----------------------------------------------------------------------------

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        self._pass(direction, raw + b"\n")

    def lose(self) -> None:
        """Close what the host reads, after what was passed on, and end the server."""
        self._closing = self._closing or asyncio.create_task(self._end_output())
        self._server.stdin.close()
        self._server.signal(signal.SIGTERM)
        asyncio.get_running_loop().call_later(LOST_SECONDS, self._server.signal, signal.SIGKILL)

    def hears(self, direction: Direction) -> bool:
        return True

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        """Do nothing: there is no status over stdio."""

    def _pass(self, direction: Direction, data: bytes) -> None:
        if direction is Direction.OUT:
            self._send(self._server, data)
        elif self._closing is None:
            self._host.out.write(data)

    def tell(self, server: ServerSide, raw: bytes) -> None:
        """Send a line of our own to a process."""
        self._send(server, raw + b"\n")

    def _send(self, server: ServerSide, data: bytes) -> None:
        if server.stdin.write(data):
            self._record(server, TO_SERVER, data)

    def _record(self, server: ServerSide, stream: int, data: bytes) -> None:
        """Record a message of the process that serves the host; keep those of one that may serve it later."""
        if server is self._server:
            self._seen(stream, monotonic_ns(), data)
        elif server.unseen is not None:
            server.unseen.append((stream, monotonic_ns(), data))

    # ---- the streams ---------------------------------------------------------------------------------------

    def _unheard(self) -> None:
        """Let the server see that the host reads no more."""
        self._host_left.set()
        self._server.stdout.close()

    async def _end_answers(self) -> None:
        release(self._stages, Direction.IN)
        await self._end_output()

    async def _end_output(self) -> None:
        await self._host.out.flushed()
        self._host.out.close()

    def _heard(self, raw: bytes) -> None:
        enter(self._stages, self, Direction.IN, raw)

    async def _from_host(self, reader: ThreadReader) -> None:
        lines = Lines(
            lambda raw: enter(self._stages, self, Direction.OUT, raw),
            lambda data: self._pass(Direction.OUT, data),
        )
        while chunk := await reader.read():
            lines.feed(chunk)
            await self._server.stdin.flushed()  # a slow reader slows down its writer
        release(self._stages, Direction.OUT)
        if rest := lines.finish():
            self._pass(Direction.OUT, rest)
        self._host_left.set()
        stdin = self._server.stdin
        await stdin.flushed()
        stdin.close()
        self._seen(TO_SERVER, monotonic_ns(), b"")

    async def _from_server(self, server: ServerSide) -> None:
        def line(raw: bytes) -> None:
            self._record(server, FROM_SERVER, raw + b"\n")  # whole, because two processes may speak at a time
            server.hear(raw)

        def piece(data: bytes) -> None:
            self._record(server, FROM_SERVER, data)
            if server is self._server:
                self._pass(Direction.IN, data)

        lines = Lines(line, piece)
        while chunk := await server.stdout.read():
            lines.feed(chunk)
            await self._host.out.flushed()
        if rest := lines.finish():
            piece(rest)
        server.stdout.close()
        if server is self._server and self.keeper is None:
            self._record(server, FROM_SERVER, b"")
            await self._end_answers()

    async def _errors(self, server: ServerSide) -> None:
        while chunk := await server.stderr.read():
            self._seen(ERRORS, monotonic_ns(), chunk)
            server.log.feed(chunk)
            self._host.errors.write(chunk)
            await self._host.errors.flushed()
        if server is self._server and self.keeper is None:
            self._seen(ERRORS, monotonic_ns(), b"")

    def _signalled(self, number: int) -> None:
        self._ended_by = number if number in ENDING else self._ended_by
        if self._server.process.exit is None:
            self._server.signal(number)
        else:
            self._interrupted.set()  # it has exited already; stop waiting for the host to read the rest
