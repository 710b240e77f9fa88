"""The messages of a local server on their way through stages, and the pipe that is read behind them."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from time import monotonic_ns
from typing import Any, Protocol

from tui.core.traffic import Direction
from tui.host.frames.stage import Lines, Stage, enter, release
from tui.host.frames.tap import WireTap


class Pipe(Protocol):
    """A pipe to read, as in `host.process.pipes`."""

    def read(self) -> Coroutine[Any, Any, bytes]: ...

    def close(self) -> None: ...

    def expect_no_more(self, limit: int) -> None: ...


class TapBeforeStages(WireTap):
    """A tap for what reads behind stages: the lines were reported before those changed them."""

    def received(
        self, line: bytes, at_ns: int, size: int = -1, *, sha256: str = "", ended: bool = True
    ) -> None:
        if size >= 0:  # too long to be a message: it passed no stage
            super().received(line, at_ns, size, sha256=sha256, ended=ended)

    def received_all(self, lines: Sequence[bytes], at_ns: int) -> None:
        """Report nothing."""


class StagedPipes:
    """Both directions of one process: the end of its stages (`PassOn`), and a pipe with what they pass on.

    `write` sends a line to the server, `lose` breaks off the connection.
    """

    exchange = 0

    def __init__(
        self,
        source: str,
        stages: Sequence[Stage],
        tap: WireTap,
        write: Callable[[bytes], object],
        lose: Callable[[], None],
    ) -> None:
        self.source, self.event, self.lose = source, tap.event, lose
        self._stages, self._tap, self._write = stages, tap, write
        self._lines = Lines(self._heard, self._put)
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._has_chunk = False
        self._at_ns = 0

    def over(self, pipe: Pipe) -> "StagedPipes":
        """Read from a pipe from now on; return this, as the pipe behind the stages."""
        self._pipe = pipe
        self._pumping = asyncio.create_task(self._pump())
        return self

    def send(self, line: bytes) -> None:
        """Take a message of the session."""
        enter(self._stages, self, Direction.OUT, line)

    def release(self) -> None:
        """Send the server what still waits: nothing follows."""
        release(self._stages, Direction.OUT)

    # ---- the end of the stages -----------------------------------------------------------------------------

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        if direction is Direction.OUT:
            self._write(raw)
        else:
            self._put(raw + b"\n")

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        """Do nothing: there is no status over stdio."""

    # ---- the pipe behind the stages ------------------------------------------------------------------------

    async def read(self) -> bytes:
        """Return what the stages passed on, once there is something; b"" at the end of the stream."""
        if self._has_chunk:
            self._chunks.task_done()
        self._has_chunk = True
        return await self._chunks.get()

    def expect_no_more(self, limit: int) -> None:
        self._pipe.expect_no_more(limit)

    def close(self) -> None:
        self._pipe.close()
        self._pumping.cancel()
        self._put(b"")

    async def _pump(self) -> None:
        while chunk := await self._pipe.read():
            self._at_ns = monotonic_ns()
            await self._tap.wait_for_room()
            self._lines.feed(chunk)
            await self._chunks.join()  # a slow reader slows down the server
        if rest := self._lines.finish():
            self._tap.received(rest, self._at_ns, ended=False)
        release(self._stages, Direction.IN)
        if rest:
            self._put(rest)
        self._put(b"")

    def _heard(self, raw: bytes) -> None:
        self._tap.received(raw, self._at_ns)
        enter(self._stages, self, Direction.IN, raw)

    def _put(self, data: bytes) -> None:
        self._chunks.put_nowait(data)
