"""A process between a host and its server: every byte passes unchanged, and an observer sees it.

The server gets pipes, this process keeps the descriptors that the host gave it, and one thread moves the
bytes: it reads a chunk only when the previous one is gone, so nothing grows and a slow reader slows down its
writer as it would without mcptui. Each direction is a `Relay` and ends independently. Signals are forwarded
to the server, and this process exits as the server does.

Standard library only, and little of it, because another host waits for this start. POSIX only. It
does not deal with recordings: `seen` is called with each chunk after it was sent.
"""

import fcntl
import os
import select
import signal
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic_ns
from types import FrameType

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
        self._write: Callable[[bytes | memoryview], int] = partial(os.write, self.descriptor)
        if self._socket is not None:
            send, flags = self._socket.send, socket.MSG_DONTWAIT
            self._write = lambda data: send(data, flags)

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
        self.waiting = memoryview(b"")
        self._left = -1
        self._chunk = CHUNK
        if source < 0:
            self.close()
        else:
            poller.register(source, READABLE)
            poller.register(outlet.descriptor, 0)  # reports when its reader goes away

    def expect_no_more(self) -> None:
        """Read only what is left in the pipe: the writer has exited."""
        self._left = LEFT_BEHIND

    def pump(self, seen: Seen) -> None:
        outlet = self.outlet
        if outlet is None or self.waiting:
            return
        data = self._read()
        at = monotonic_ns()
        if data:
            sent = self._sent(outlet, data) if outlet.patient else 0
            if sent < len(data):
                self.waiting = memoryview(data)[sent:]
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
            self.waiting = self.waiting[self._sent(self.outlet, self.waiting) :]
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
        if self.waiting:
            with suppress(KeyError):
                self._poller.unregister(self.source)
            self._poller.register(self.outlet.descriptor, WRITABLE)
        else:
            self._poller.register(self.source, READABLE)
            self._poller.register(self.outlet.descriptor, 0)

    def close(self) -> None:
        self.waiting = memoryview(b"")
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


TO_SERVER, FROM_SERVER, ERRORS = 0, 1, 2
"""The streams, numbered like the server's descriptors."""

PASSED_ON = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
)

_FIRST_FREE = 10


class Passthrough:
    """Runs a server in place of this process. Created and run once, in the main thread.

    `seen` is called with every chunk; if it raises, `failed` gets the error and it is not called again.
    """

    def __init__(
        self,
        command: Sequence[str],
        seen: Seen,
        *,
        failed: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        self.pid = 0
        self._command = list(command)
        self._seen = seen
        self._failed = failed
        self._status: int | None = None
        self._early: list[int] = []
        self._interrupted = False
        self._poller = select.poll()
        self._relays: list[Relay] = []
        self._sources: dict[int, Relay] = {}
        self._wake = (-1, -1)
        self._handled: list[signal.Signals] = []

    def start(self, environment: Mapping[str, str]) -> None:
        """Take over stdin and stdout and start the server. Raises OSError if it cannot be started."""
        keep = [detach(0), detach(1), inherited(2)]
        (in_read, in_write), (out_read, out_write), (err_read, err_write) = (os.pipe() for _ in range(3))
        theirs = [in_read, out_write, err_write]
        self._listen_to_signals()
        try:
            self.pid = os.posix_spawnp(
                self._command[0],
                self._command,
                environment,
                file_actions=[(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(theirs)],
                # Python ignores these two, and ignored signals are inherited.
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        finally:
            for end in theirs:
                os.close(end)
        for number in self._early:
            os.kill(self.pid, number)
        self._relays = [
            Relay(TO_SERVER, keep[0], Outlet(in_write, ours=True), self._poller),
            Relay(FROM_SERVER, out_read, _outlet(keep[1]), self._poller),
            Relay(ERRORS, err_read, _outlet(keep[2]), self._poller),
        ]
        self._sources = {relay.source: relay for relay in self._relays}

    def _listen_to_signals(self) -> None:
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        self._poller.register(self._wake[0], READABLE)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, self._pass_on)
                self._handled.append(number)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if not self.pid:
            self._early.append(number)
        elif self._status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
        else:
            self._interrupted = True  # it has exited already; stop waiting for the host to read the rest

    def run(self) -> int:
        """Move bytes until the server has exited and its last output is sent; return its `returncode`.

        After that, signals have their default effect on this process.
        """
        try:
            while not self._interrupted:
                over = self._status is not None
                if over and all(relay.outlet is None for relay in self._relays):
                    break
                # Without a limit while the server lives; once it has exited, its pipes only need emptying.
                empties = over and not any(relay.waiting for relay in self._relays)
                self._pump_ready(self._poller.poll(0 if empties else None))
        finally:
            for relay in self._relays:
                relay.close()
            signal.set_wakeup_fd(-1)
            for number in self._handled:
                signal.signal(number, signal.SIG_DFL)
            for end in self._wake:
                os.close(end)
        return os.waitstatus_to_exitcode(self._status or 0)

    def _pump_ready(self, ready: list[tuple[int, int]]) -> None:
        if len(ready) == 1 and (only := self._sources.get(ready[0][0])) is not None:
            only.pump(self._show)  # nearly always the case, and a line is waiting
            return
        if not ready and self._status is not None:
            self._interrupted = True  # nothing more in its pipes
        events = dict(ready)
        if self._wake[0] in events:
            self._handle_wake()
        for relay in self._relays:
            if relay.source in events:
                relay.pump(self._show)
            elif relay.outlet is not None and (event := events.get(relay.outlet.descriptor)):
                if event & WRITABLE:
                    relay.push()
                else:
                    relay.close()
                    self._show(relay.stream, time.monotonic_ns(), b"")

    def _handle_wake(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake[0], CHUNK)
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
                self._relays[TO_SERVER].close()
                for relay in self._relays:
                    relay.expect_no_more()

    def _show(self, stream: int, at_ns: int, data: bytes) -> None:
        try:
            self._seen(stream, at_ns, data)
        except Exception as error:  # errors in the observer must not stop the server's bytes
            self._seen = lambda stream, at_ns, data: None
            with suppress(Exception):
                self._failed(error)


def inherited(descriptor: int) -> int:
    """Return a copy of an inherited descriptor above 0 to 2; -1 if there is none."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # reserves its descriptor number
        return -1


def detach(descriptor: int) -> int:
    """Move an inherited descriptor to another number, so that closing it closes the file for good.

    Its old number becomes /dev/null.
    """
    copy = inherited(descriptor)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor, inheritable=False)
    if nowhere != descriptor:
        os.close(nowhere)
    return copy


def _outlet(descriptor: int) -> Outlet:
    """Return the outlet of a stream of the server; /dev/null if the host gave us no descriptor for it."""
    return Outlet(os.open(os.devnull, os.O_WRONLY) if descriptor < 0 else descriptor)


def end_like(code: int) -> None:
    """End this process by the signal that ended the server; return if it exited with a code."""
    if code >= 0:
        return
    import resource

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server's core dump is the useful one
    with suppress(OSError, ValueError):
        signal.signal(-code, signal.SIG_DFL)
    with suppress(OSError):
        os.kill(os.getpid(), -code)
