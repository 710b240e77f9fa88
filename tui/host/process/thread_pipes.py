"""Both ends of a pipe, as in `pipes`, for systems whose pipes always block (Windows): each has a thread."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Hashable
from typing import IO

from tui.host.process.pipes import CHUNK, CLOSED, WAITING_LIMIT

AHEAD = 16
"""Chunks that are read before someone takes them."""

LAST_SECONDS = 1.0
"""How long the rest of a stream may take after its writer has died while another process holds it open."""


class ThreadReader:
    """Reads a pipe in chunks; see `PipeReader`."""

    def __init__(self, pipe: IO[bytes], chunk: int = CHUNK) -> None:
        self._pipe = pipe
        self._size = chunk
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        self._closed = self._ended = False
        threading.Thread(target=self._run, daemon=True).start()

    def expect_no_more(self, limit: int) -> None:
        self._loop.call_later(LAST_SECONDS, self.close)

    async def read(self) -> bytes:
        """Return what is available, once there is something; b"" at the end of the stream."""
        if self._ended:
            return b""
        data = await self._chunks.get()
        self._room.release()
        self._ended = not data
        return data

    def close(self) -> None:
        """End the stream after what has been read; the thread closes the pipe when its read returns."""
        self._closed = True
        self._chunks.put_nowait(b"")
        self._room.release()

    def _run(self) -> None:
        data = b"more"
        with self._pipe, contextlib.suppress(RuntimeError):  # the loop is closed: nobody reads this any more
            while data and not self._closed:
                self._room.acquire()
                try:
                    data = self._pipe.read(self._size)
                except OSError:  # like the end: nothing will ever arrive
                    data = b""
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, data)


class ThreadWriter:
    """Writes to a pipe; see `PipeWriter`. What waits cannot be taken back. At most `limit` bytes may wait."""

    def __init__(self, pipe: IO[bytes], *, broken: Callable[[str], None], limit: int = WAITING_LIMIT) -> None:
        self.closed = False
        self._limit = limit
        self._pipe = pipe
        self._broken = broken
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._size = 0
        self._empty = asyncio.Event()
        self._empty.set()
        threading.Thread(target=self._run, daemon=True).start()

    def write(self, data: bytes, key: Hashable = None) -> bool:
        if self.closed or self._size + len(data) > self._limit:
            return False
        self._size += len(data)
        self._empty.clear()
        self._waiting.put(data)
        return True

    def withdraw(self, key: Hashable) -> bool:
        return False

    async def flushed(self) -> None:
        await self._empty.wait()

    def close(self) -> None:
        """Close the pipe once the thread has written what waits, or cannot."""
        self.closed = True
        self._empty.set()
        self._waiting.put(b"")

    def _run(self) -> None:
        with contextlib.suppress(OSError, RuntimeError), self._pipe:  # closing it may fail, too
            while data := self._waiting.get():
                rest = memoryview(data)
                try:
                    while rest:
                        rest = rest[self._pipe.write(rest) :]
                except OSError:
                    self._loop.call_soon_threadsafe(self._fail)
                    return
                self._loop.call_soon_threadsafe(self._wrote, len(data))

    def _wrote(self, size: int) -> None:
        self._size -= size
        if not self._size:
            self._empty.set()

    def _fail(self) -> None:
        if not self.closed:
            self.close()
            self._broken(CLOSED)
