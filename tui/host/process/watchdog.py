"""Ends the servers when the host cannot: at interpreter exit, and after the host was killed.

For the latter, one shell per host waits at the other end of a pipe that only the host holds. It is started
with the first server and does nothing while the host lives. PR_SET_PDEATHSIG is not enough: it follows the
thread that spawned the process, and does not reach grandchildren (measured).
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import uuid

from tui.host.process.guard import guard_command


class Watchdog:
    """One per host; guards the process group of every running server.

    `owner` is the first part of the mark in the servers' environments, up to the slash: that of this host.
    """

    def __init__(self) -> None:
        self.owner = str(uuid.uuid4())
        self._groups: set[int] = set()
        self._guard: subprocess.Popen[bytes] | None = None
        self._host = os.getpid()

    def add(self, group: int) -> None:
        """Guard a process group. Never raises: a server without a watchdog is better than no server."""
        if not self._groups:
            atexit.register(self._sweep)
        self._groups.add(group)
        if not self._send_line(f"+{group}\n"):
            self._start()

    def remove(self, group: int) -> None:
        self._groups.discard(group)
        self._send_line(f"-{group}\n")
        if not self._groups:
            atexit.unregister(self._sweep)

    def close(self) -> None:
        """End the watchdog process; takes a few milliseconds. May be called twice.

        Groups that are still guarded are killed first: nobody else would do it.
        """
        self._sweep()
        atexit.unregister(self._sweep)
        self._groups.clear()
        guard, self._guard = self._guard, None
        if guard is None or guard.stdin is None:
            return
        with contextlib.suppress(OSError):
            os.write(guard.stdin.fileno(), b"bye\n")
        guard.stdin.close()
        try:
            guard.wait(1.0)
        except subprocess.TimeoutExpired:  # stopped or starved, with nothing left to do
            guard.kill()
            guard.wait()

    def _send_line(self, line: str) -> bool:
        if self._guard is None or self._guard.stdin is None:
            return False
        try:
            os.write(self._guard.stdin.fileno(), line.encode())
        except BlockingIOError:  # it was stopped, with thousands of lines unread
            return True
        except OSError:  # someone killed it
            self._guard.stdin.close()
            self._guard.poll()
            self._guard = None
            return False
        return True

    def _start(self) -> None:
        if not sys.executable:
            return
        try:
            self._guard = subprocess.Popen(
                guard_command(self.owner),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:  # no process or memory left: killing at exit must be enough
            return
        assert self._guard.stdin is not None
        os.set_blocking(self._guard.stdin.fileno(), False)
        for group in self._groups:
            self._send_line(f"+{group}\n")

    def _sweep(self) -> None:
        if os.getpid() != self._host:  # a fork of the host runs its exit handlers too
            return
        for group in self._groups:
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)
