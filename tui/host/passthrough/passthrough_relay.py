"""One direction of a `passthrough.Passthrough`: from descriptor to descriptor, in chunks. POSIX only."""

import fcntl
import os
import select
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

CHUNK = 64 * 1024
LARGE_CHUNK = 256 * 1024
"""Bytes read at once, and the size of both pipes, after the first chunk that fills a pipe: a large message
then costs a quarter of the system calls, and the recording's threads can run first after each of those."""

LEFT_BEHIND = 1 << 20
"""Maximum bytes read from a stream after the server has exited. No pipe holds more (pipe(7)), so later bytes
are from another process that still has the pipe open."""

READABLE, WRITABLE = select.POLLIN, select.POLLOUT

Seen = Callable[[int, int, bytes], None]
"""Called with stream, monotonic nanoseconds and the bytes that were read; b"" is the end of the stream."""


class Outlet:
    """Writes what fits now, whatever the descriptor is, and does not touch its flags.

    The descriptor may be shared with the host (a terminal, a log file), so O_NONBLOCK must not be set on
    it. A pipe is reopened where the platform can (then the flag is ours alone), a socket is written with
    MSG_DONTWAIT, and for the rest as little is written as `poll` promises to fit. `patient`: it may be
    written to without asking `poll` first.
    """

    _socket: "socket.socket | None" = None

    def __init__(self, descriptor: int, *, ours: bool = False) -> None:
        self.descriptor = descriptor
        self._most = CHUNK
        mode = os.fstat(descriptor).st_mode
        if ours:
            os.set_blocking(descriptor, False)
        elif stat.S_ISSOCK(mode):
            import socket  # for hosts on Node.js; others do not load it

            self._socket = socket.socket(fileno=descriptor)
        elif not stat.S_ISREG(mode) and not self._reopen(mode):
            self._most = select.PIPE_BUF
        self.patient = self._most >= CHUNK
        self._write: Callable[[bytes | memoryview], int] = (
            self._to_socket if self._socket is not None else partial(os.write, self.descriptor)
        )

    def _reopen(self, mode: int) -> bool:
        if not stat.S_ISFIFO(mode):
            return False
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            private = os.open(f"/proc/self/fd/{self.descriptor}", flags)
        except OSError:  # no /proc, a pipe of another user, or no reader any more
            return False
        os.close(self.descriptor)
        self.descriptor = private
        return True

    def _to_socket(self, data: bytes | memoryview) -> int:
        import socket

        assert self._socket is not None
        return self._socket.send(data, socket.MSG_DONTWAIT)

    def write(self, data: bytes | memoryview) -> int:
        """Return how much of `data` was written; 0 if nothing fits. Raises OSError without a reader."""
        try:
            return self._write(data[: self._most])
        except BlockingIOError:
            return 0

    def enlarge(self) -> None:
        """Make room for large chunks, once and where possible."""
        if self._most == CHUNK:
            self._most = LARGE_CHUNK
            _enlarge(self.descriptor)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        else:
            os.close(self.descriptor)


def _enlarge(descriptor: int) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # not a pipe, or the user's pipes are too large already (pipe(7))
            if fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) < LARGE_CHUNK:
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, LARGE_CHUNK)


class Relay:
    """One direction: from a descriptor to an outlet, one chunk at a time."""

    def __init__(self, stream: int, source: int, outlet: Outlet, poller: "select.poll") -> None:
        self.stream = stream
        self.source = source
        self.outlet: Outlet | None = outlet
        self._poller = poller
        self._waiting = memoryview(b"")
        self._left = -1
        self._chunk = CHUNK
        if source < 0:
            self.close()
        else:
            poller.register(source, READABLE)
            poller.register(outlet.descriptor, 0)  # reports when its reader goes away

    @property
    def open(self) -> bool:
        return self.outlet is not None

    @property
    def waiting(self) -> bool:
        return bool(self._waiting)

    def expect_no_more(self) -> None:
        """Read only what is left in the pipe: the writer has exited."""
        self._left = LEFT_BEHIND

    def pump(self, seen: Seen) -> None:
        outlet = self.outlet
        if outlet is None or self._waiting:
            return
        data = self._read()
        at = monotonic_ns()
        if data:
            sent = self._sent(outlet, data) if outlet.patient else 0
            if sent < len(data):
                self._waiting = memoryview(data)[sent:]
                self._turn()
        else:
            self.close()
        seen(self.stream, at, data)

    def _read(self) -> bytes:
        if not self._left:
            return b""
        try:
            data = os.read(self.source, self._chunk)
        except OSError:  # a terminal that hung up counts as the end
            return b""
        if len(data) < CHUNK:
            self._chunk = CHUNK
        elif self._chunk == CHUNK and self.outlet is not None:
            self._chunk = LARGE_CHUNK
            _enlarge(self.source)
            self.outlet.enlarge()
        if self._left > 0:
            self._left = max(0, self._left - len(data))
        return data

    def push(self) -> None:
        if self.outlet is not None:
            self._waiting = self._waiting[self._sent(self.outlet, self._waiting) :]
        self._turn()

    def _sent(self, outlet: Outlet, data: bytes | memoryview) -> int:
        """Return how much of `data` was sent."""
        try:
            return outlet.write(data)
        except OSError:  # its reader has gone, so its writer must see that too
            self.close()
            return len(data)

    def _turn(self) -> None:
        if self.outlet is None:
            return
        if self._waiting:
            with suppress(KeyError):
                self._poller.unregister(self.source)
            self._poller.register(self.outlet.descriptor, WRITABLE)
        else:
            self._poller.register(self.source, READABLE)
            self._poller.register(self.outlet.descriptor, 0)

    def close(self) -> None:
        self._waiting = memoryview(b"")
        if self.source >= 0:
            with suppress(KeyError):
                self._poller.unregister(self.source)
            os.close(self.source)
            self.source = -1
        if self.outlet is not None:
            with suppress(KeyError):
                self._poller.unregister(self.outlet.descriptor)
            self.outlet.close()
            self.outlet = None
