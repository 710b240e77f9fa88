"""The two ends of the protocol: lines from the client and to it, as the SDK's streams want them, recorded."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Self

from tui.core.background import DaemonThread
from tui.core.traffic import Captured, Direction, TrafficSink

LONGEST_LINE = 16 * 1024 * 1024
"""Maximum bytes of a line; the rest of a longer one is a line of its own, and no message."""

SERVER = "mcptui"
"""The name of this server in its recording."""


class Lines:
    """Lines from the client: iterates until it closes the connection.

    A thread reads them, and a daemon, because nothing can interrupt it: on ctrl+c it is left behind.
    """

    def __init__(self, wire: int, record: TrafficSink) -> None:
        self._file = os.fdopen(wire, "rb")
        self._record = record
        self._loop = asyncio.get_running_loop()
        self._waiting = asyncio.Queue[bytes](1)
        self._is_ended = False
        self._thread = DaemonThread("mcptui-agent-stdin", self._read)
        self._thread.start()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await self._waiting.get()
        if not line or self._is_ended:
            raise StopAsyncIteration
        self._record(captured(Direction.OUT, line))
        return line.decode("utf-8", "replace")

    def join(self, seconds: float) -> bool:
        """Wait for the end of the thread, after that of the client; return whether it has ended."""
        return self._thread.join(seconds)

    def end(self) -> None:
        """End the lines now, whatever the client does."""
        self._is_ended = True
        if self._waiting.empty():
            self._waiting.put_nowait(b"")

    def _read(self) -> None:
        line = b"\n"
        while line:
            line = self._file.readline(LONGEST_LINE)
            if (line.strip() or not line) and not self._is_ended:
                asyncio.run_coroutine_threadsafe(self._waiting.put(line), self._loop).result()
        self._file.close()


class Output:
    """Lines to the client. `broken` is called if it does not take them any more."""

    def __init__(self, wire: int, record: TrafficSink, broken: Callable[[], None]) -> None:
        self._file = os.fdopen(wire, "wb", buffering=0)
        self._record, self._broken = record, broken

    async def write(self, line: str) -> None:
        raw = line.encode()
        self._record(captured(Direction.IN, raw))
        try:
            await asyncio.to_thread(self._write, raw)
        except OSError:
            self._broken()

    def _write(self, raw: bytes) -> None:
        while raw:
            raw = raw[self._file.write(raw) :]

    async def flush(self) -> None:
        """Do nothing: every line is written at once."""

    def close(self) -> None:
        self._file.close()


def captured(direction: Direction, line: bytes) -> Captured:
    """Return a line as it is recorded: seen from the client, which is the host."""
    return Captured(SERVER, direction, time.monotonic_ns(), time.time_ns(), line.rstrip(b"\r\n"))
