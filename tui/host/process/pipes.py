"""Both ends of a pipe on the event loop: a reader that waits, and a writer that never does.

Unbuffered and non-blocking, so that a pipe can be drained to its current end (the real end may never come)
and closed without waiting.
"""

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Hashable
from typing import IO

from tui.core.language.translate import message

CHUNK = 64 * 1024
LARGE_CHUNK = 256 * 1024
"""Pipe size and bytes per read after a chunk that filled the pipe, so that long lines need fewer wake-ups."""

WAITING_LIMIT = 32 * 1024 * 1024
"""Maximum bytes that wait for the other side of a pipe to read them."""

CLOSED = message("it closed its stdin")

STUCK_SECONDS = 10.0
"""How long the other side may read nothing while bytes wait."""


def _enlarge(descriptor: int, size: int) -> None:
    """Enlarge a pipe to `size` bytes, where possible."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # the user's pipes are too large already (pipe(7))
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)


class PipeReader:
    """Reads a pipe in chunks; `chunk` is also the size of the pipe where the platform allows it.

    After the first full chunk of the default size, both are larger.
    """

    def __init__(self, pipe: IO[bytes], chunk: int = CHUNK) -> None:
        self._pipe = pipe
        self._descriptor = pipe.fileno()
        os.set_blocking(self._descriptor, False)
        if chunk > CHUNK:
            _enlarge(self._descriptor, chunk)
        self._chunk = chunk
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        self._has_waited = True
        self._listening = False
        self._closed = False
        self._left: int | None = None
        self._early: bytes | None = None  # read already, for the one who waits
        self._is_drained = False  # the last read took all there was

    def expect_no_more(self, limit: int) -> None:
        """Treat what is in the pipe now, at most about `limit` bytes, as the rest of the stream.

        For a pipe whose writer has died while another process still holds it open.
        """
        self._left = limit
        self._ready()

    async def read(self) -> bytes:
        """Return what is available, once there is something; b"" at the end of the stream."""
        if not self._has_waited:
            await asyncio.sleep(0)  # a pipe that never empties must not starve other work
        self._has_waited = False
        while (data := self._take()) is None:
            self._has_waited = True
            self._waiter = self._loop.create_future()
            self._listen(True)
            try:
                await self._waiter
            finally:
                self._waiter = None
        return data

    def close(self) -> None:
        if not self._closed:
            self._listen(False)
            self._closed = True
            self._pipe.close()
            self._ready()

    def _listen(self, wanted: bool) -> None:
        if wanted and not self._listening:
            self._loop.add_reader(self._descriptor, self._ready)
        elif self._listening and not wanted:
            self._loop.remove_reader(self._descriptor)
        self._listening = wanted

    def _ready(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            # Read at once: the pipe would still be readable in the next turn of the loop, and wake the next
            # one who waits for nothing.
            self._is_drained = False
            self._early = self._take()
            if self._early is not None:
                self._waiter.set_result(None)
        elif not self._closed:
            # Nobody waits, so stop listening; the next read listens again. Listening until now saves two
            # system calls for every message.
            self._listen(False)

    def _take(self) -> bytes | None:
        """Return what is available: b"" at the end of the stream, None if there is nothing yet."""
        if (early := self._early) is not None:
            self._early = None
            return early
        if self._closed or (self._left is not None and self._left <= 0):
            return b""
        if self._is_drained and self._left is None:
            return None
        try:
            data = os.read(self._descriptor, self._chunk)
            self._is_drained = len(data) < self._chunk
            if len(data) == self._chunk == CHUNK:
                self._chunk = LARGE_CHUNK
                _enlarge(self._descriptor, LARGE_CHUNK)
        except BlockingIOError:
            return None if self._left is None else b""
        except OSError:  # like the end: nothing will ever arrive
            return b""
        if self._left is not None:
            self._left -= len(data)
        return data


class PipeWriter:
    """Writes to a pipe; what does not fit now is sent as the other side reads.

    At most `WAITING_LIMIT` bytes may wait, and the other side may read none of them for `STUCK_SECONDS`.
    `broken` is called once, with a clause that says why, when nothing more can be written.
    """

    def __init__(self, pipe: IO[bytes], *, broken: Callable[[str], None]) -> None:
        self._pipe = pipe
        self._descriptor = pipe.fileno()
        os.set_blocking(self._descriptor, False)
        self._broken = broken
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Hashable, bytes]] = deque()
        self._size = 0
        self._written = 0  # of the first that waits
        self._timer: asyncio.TimerHandle | None = None
        self._empty = asyncio.Event()
        self._empty.set()
        self.closed = False
        # Epoll reports a reader that has gone away as something to read.
        self._loop.add_reader(self._descriptor, self._fail, CLOSED)

    def write(self, data: bytes, key: Hashable = None) -> bool:
        """Send `data`, now or as soon as it fits; False if the pipe is closed or too much is waiting.

        Until it has begun to be written, `withdraw` with its `key` takes it back.
        """
        if self.closed:
            return False
        if self._waiting:
            if self._size + len(data) > WAITING_LIMIT:
                return False
            self._waiting.append((key, data))
            self._size += len(data)
            return True
        taken = self._take(data)
        if not self.closed and taken < len(data):
            self._waiting.append((key, data))
            self._size, self._written = len(data) - taken, taken
            self._empty.clear()
            self._loop.add_writer(self._descriptor, self._drain)
            self._timer = self._loop.call_later(STUCK_SECONDS, self._give_up)
        return not self.closed

    def withdraw(self, key: Hashable) -> bool:
        """Drop what waits with `key`; return False if there is nothing, or it has begun to be written."""
        for number, (known, data) in enumerate(self._waiting):
            if known == key and (number or not self._written):
                del self._waiting[number]
                self._size -= len(data)
                if not self._waiting:
                    self._rest()
                return True
        return False

    async def flushed(self) -> None:
        await self._empty.wait()

    def close(self) -> None:
        """Drop what is waiting and close the pipe. May be called twice."""
        if self.closed:
            return
        self.closed = True
        self._loop.remove_reader(self._descriptor)
        self._rest()
        self._waiting.clear()
        self._size = self._written = 0
        self._pipe.close()

    def _take(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self._descriptor, data[:CHUNK])
        except BlockingIOError:
            return 0
        except OSError:
            self._fail(CLOSED)
            return 0

    def _next(self) -> bytearray:
        """Return a chunk of what waits."""
        chunk, skipped = bytearray(), self._written
        for _, data in self._waiting:
            chunk += data[skipped : skipped + CHUNK - len(chunk)]
            skipped = 0
            if len(chunk) >= CHUNK:
                break
        return chunk

    def _drain(self) -> None:
        taken = self._take(self._next())
        if self.closed or not taken:
            return
        self._size -= taken
        self._written += taken
        while self._waiting and self._written >= len(self._waiting[0][1]):
            self._written -= len(self._waiting.popleft()[1])
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting:
            self._timer = self._loop.call_later(STUCK_SECONDS, self._give_up)
        else:
            self._rest()

    def _rest(self) -> None:
        self._loop.remove_writer(self._descriptor)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._empty.set()

    def _give_up(self) -> None:
        self._fail(message("it has not read its stdin for {seconds:g} s", seconds=STUCK_SECONDS))

    def _fail(self, why: str) -> None:
        self.close()
        self._broken(why)
