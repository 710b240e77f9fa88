"""How a process ended, and seeing it at once.

The end is seen through a pidfd (Linux) or by looking 20 times a second, never through the end of a pipe:
a grandchild may hold the pipes open for ever. The dead leader is not reaped here, so that its process id
and group id cannot be given to a stranger while the group is still to be signalled.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a process ended.

    Attributes:
        code: its exit code, or None if a signal ended it.
        signal: name of the signal that ended it ("SIGKILL"), or "".
        after_seconds: how long it had lived.
    """

    code: int | None
    signal: str
    after_seconds: float

    @classmethod
    def from_returncode(cls, returncode: int, after_seconds: float) -> "ProcessExit":
        """Read a return code as `subprocess` writes it: negative is the number of a signal."""
        if returncode >= 0:
            return cls(returncode, "", after_seconds)
        try:
            name = signal.Signals(-returncode).name
        except ValueError:
            name = f"signal {-returncode}"
        return cls(None, name, after_seconds)

    def sentence(self) -> str:
        """Say it: "exited with code 1 after 0.3 s"."""
        how = f"was ended by {self.signal}" if self.signal else f"exited with code {self.code}"
        return f"{how} after {duration(self.after_seconds)}"


def duration(seconds: float) -> str:
    """Return a length of time as a person says it: "0.3 s", "42 s", "5 min", "3 h"."""
    if seconds < 0.095:
        return f"{max(seconds, 0.01):.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def obituary(ended: ProcessExit | None, fatal: str, last_line: str) -> str:
    """Say to a call that waits why it gets no answer."""
    said = f"the server {ended.sentence()}" if ended is not None else "the server is gone"
    if fatal:
        said = f"{said}: {fatal}"
    return f"{said}. Last line of its log: {last_line[:300]}" if last_line else f"{said}."


class LeaderWatch:
    """Calls back once, from the event loop, when a child process has died.

    Args:
        process: the child; where the system allows it is left unreaped.
        ended: called with the return code as `subprocess` writes it.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", ended: Callable[[int], None]) -> None:
        self._process = process
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor = self._open()
        if self._descriptor is None:
            self._timer = self._loop.call_later(0, self._look)
        else:
            self._loop.add_reader(self._descriptor, self._look)

    def close(self) -> None:
        """Stop watching. May be called twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int | None:
        if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
            return None
        try:
            return os.pidfd_open(self._process.pid)
        except OSError:  # old kernel, or no descriptor left: looking now and then does it too
            return None

    def _look(self) -> None:
        code = peek(self._process)
        if code is not None:
            self.close()
            self._ended(code)
        elif self._descriptor is None:
            self._timer = self._loop.call_later(POLL_SECONDS, self._look)


def peek(process: "subprocess.Popen[bytes]") -> int | None:
    """Return the return code of a child that has died, without reaping it if that is possible."""
    if process.returncode is not None:
        return process.returncode
    if not hasattr(os, "waitid"):
        return process.poll()
    try:
        state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # somebody else reaped it: poll() knows that case, and says 0
        return process.poll()
    if state is None:
        return None
    return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status
