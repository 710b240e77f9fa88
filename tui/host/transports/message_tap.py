"""A process between a host and its server, like `host.passthrough`, that hands each message to stages.

For faults, breakpoints and restarts. Without stages every byte passes unchanged here too, but the process
needs an event loop, so a tap that only records is a `Passthrough`. POSIX only.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic_ns
from typing import IO, Any, Protocol, cast

from tui.core.background import first_of
from tui.core.traffic import Direction
from tui.host.frames.stage import Lines, Stage, enter, release
from tui.host.passthrough.passthrough import (
    ERRORS,
    FROM_SERVER,
    LEFT_BEHIND,
    PASSED_ON,
    TO_SERVER,
    detach,
    inherited,
)
from tui.host.process.pipes import PipeReader
from tui.host.process.process import ServerProcess
from tui.host.process.thread_pipes import ThreadReader, ThreadWriter

LOST_SECONDS = 2.0
"""How long a server may run after the connection to it was lost on purpose, until it is killed."""


class Records(Protocol):
    """Where a tap reports what passes. Neither raises nor waits."""

    def seen(self, stream: int, at_ns: int, data: bytes) -> None: ...

    def event(self, word: str, **what: Any) -> None: ...


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
    """One server process with its streams. It stays in the process group of the host. Raises OSError."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        popen = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(environment),
        )
        assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
        self.popen = popen
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


class MessageTap:
    """Runs a server in place of this process, and hands the messages to `stages`. Used once, in a loop.

    It is the end of the stages (`PassOn`): `source` is the name of the server.
    """

    exchange, is_gone = 0, False

    def __init__(self, source: str, stages: Sequence[Stage], records: Records) -> None:
        self.source = source
        self.event = records.event
        self._stages = stages
        self._seen = records.seen
        self._interrupted = asyncio.Event()

    @property
    def pid(self) -> int:
        return self._server.process.pid

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the server, then take over stdin and stdout. Raises OSError if it cannot be started."""
        loop = asyncio.get_running_loop()
        early: list[int] = []
        for number in PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                loop.add_signal_handler(number, early.append, number)
        self._server = ServerSide(command, environment)
        self._host = HostSide(broken=self._server.stdout.close)
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
        server, host = self._server, self._host
        asking = asyncio.create_task(self._from_host(host.reader))
        telling = asyncio.gather(self._from_server(server), self._errors(server))
        await server.process.exited.wait()
        asking.cancel()
        await first_of(telling, self._interrupted.wait())
        for number in PASSED_ON:
            asyncio.get_running_loop().remove_signal_handler(number)
        return server.popen.wait()  # it has exited; what it left behind stays, as without a tap

    # ---- the end of the stages -----------------------------------------------------------------------------

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        self._pass(direction, raw + b"\n")

    def lose(self) -> None:
        """Close what the host reads, and end the server."""
        self._host.out.close()
        self._server.stdin.close()
        self._server.signal(signal.SIGTERM)
        asyncio.get_running_loop().call_later(LOST_SECONDS, self._server.signal, signal.SIGKILL)

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        """Do nothing: there is no status over stdio."""

    def _pass(self, direction: Direction, data: bytes) -> None:
        if direction is Direction.OUT:
            if self._server.stdin.write(data):
                self._seen(TO_SERVER, monotonic_ns(), data)
        else:
            self._host.out.write(data)

    # ---- the streams ---------------------------------------------------------------------------------------

    def _lines(self, direction: Direction) -> Lines:
        return Lines(
            lambda raw: enter(self._stages, self, direction, raw), lambda data: self._pass(direction, data)
        )

    async def _from_host(self, reader: ThreadReader) -> None:
        lines = self._lines(Direction.OUT)
        stdin = self._server.stdin
        while chunk := await reader.read():
            lines.feed(chunk)
            await stdin.flushed()  # a slow reader slows down its writer
        release(self._stages, Direction.OUT)
        if rest := lines.finish():
            self._pass(Direction.OUT, rest)
        await stdin.flushed()
        stdin.close()
        self._seen(TO_SERVER, monotonic_ns(), b"")

    async def _from_server(self, server: ServerSide) -> None:
        lines = self._lines(Direction.IN)
        out = self._host.out
        while chunk := await server.stdout.read():
            self._seen(FROM_SERVER, monotonic_ns(), chunk)
            lines.feed(chunk)
            await out.flushed()
        release(self._stages, Direction.IN)
        if rest := lines.finish():
            self._pass(Direction.IN, rest)
        server.stdout.close()
        self._seen(FROM_SERVER, monotonic_ns(), b"")
        await out.flushed()
        out.close()

    async def _errors(self, server: ServerSide) -> None:
        out = self._host.errors
        while chunk := await server.stderr.read():
            self._seen(ERRORS, monotonic_ns(), chunk)
            out.write(chunk)
            await out.flushed()
        self._seen(ERRORS, monotonic_ns(), b"")

    def _signalled(self, number: int) -> None:
        if self._server.process.exit is None:
            self._server.signal(number)
        else:
            self._interrupted.set()  # it has exited already; stop waiting for the host to read the rest
