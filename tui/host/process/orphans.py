"""What a server left behind: found by the mark in its environment, asked to leave, and ended.

A grandchild that made a session of its own is out of reach of a signal to the group, but it inherited the
mark. The mark is one of this start of this server alone, so nothing else is ever hit; a pidfd keeps the
signal from reaching a stranger that got the same process id. Linux only: other systems do not show the
environment of a process.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tui.host.process.process import OWNER_VARIABLE

LEAVE_SECONDS = 0.2
KILL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Straggler:
    """A process that was left behind: its id, and the id of its group."""

    pid: int
    group: int


def end_stragglers(mark: str, seconds: float) -> tuple[Straggler, ...]:
    """End every process that carries `mark`; say which there were. Blocks, so it is called in a thread.

    Those that are just leaving by themselves get a moment for it and are not counted.

    Args:
        mark: value of `MCPTUI_OWNER`.
        seconds: how long they may take to leave after SIGTERM, before SIGKILL.
    """
    ended: dict[Straggler, None] = {}
    kill = (signal.SIGKILL, KILL_SECONDS)
    # One that was asked to leave may have started another, so each round looks again.
    for number, patience in ((0, min(seconds, LEAVE_SECONDS)), (signal.SIGTERM, seconds), kill, kill):
        with contextlib.ExitStack() as handles:
            found = dict(_marked(mark, handles))
            if not found:
                break
            if number:
                ended.update(dict.fromkeys(found))
            _signal_all(list(found.values()), number, patience)
    return tuple(ended)


def _marked(mark: str, handles: contextlib.ExitStack) -> Iterator[tuple[Straggler, int]]:
    """Yield every process that carries `mark`, with a pidfd to it."""
    if sys.platform != "linux":
        return
    wanted = f"\0{OWNER_VARIABLE}={mark}\0".encode()
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and wanted in _environment(entry) and int(entry) != os.getpid():
            try:
                handle = os.pidfd_open(int(entry))
            except OSError:  # it has just ended
                continue
            handles.callback(os.close, handle)
            # Now that the id cannot change hands, make sure that it had not before.
            if wanted in _environment(entry):
                with contextlib.suppress(ProcessLookupError):
                    yield Straggler(int(entry), os.getpgid(int(entry))), handle


def _environment(entry: str) -> bytes:
    try:
        with open(f"/proc/{entry}/environ", "rb", buffering=0) as file:
            return b"\0" + (file.read() or b"") + b"\0"
    except OSError:  # it has ended, or is not ours
        return b""


def _signal_all(handles: list[int], number: int, patience: float) -> None:
    """Send a signal and wait until all are gone, at most `patience` seconds."""
    for handle in handles:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(handle, number)
    waiting = set(handles)
    deadline = time.monotonic() + patience
    poll = select.poll()
    for handle in handles:
        poll.register(handle, select.POLLIN)
    while waiting and (left := deadline - time.monotonic()) > 0:
        for handle, _ in poll.poll(left * 1000):
            poll.unregister(handle)
            waiting.discard(handle)
