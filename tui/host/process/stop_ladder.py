"""The stop ladder: ask a server to exit by closing its input, then SIGTERM, then SIGKILL.

The order is that of the MCP specification ("Lifecycle: shutdown, stdio"), applied to the whole process
group. A well-behaved server needs none of the waits. It never waits for the end of a pipe, because a
grandchild may hold it open.

A grandchild that started its own session is out of reach of a signal to the group, but it inherited the
mark in its environment. The mark belongs to one start of one server, so no other process is ever hit.
psutil compares creation times, so no signal reaches an unrelated process with a reused id.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.core.background import first_of
from tui.host.process.guard import OWNER_VARIABLE, marked
from tui.host.process.pipes import PipeWriter
from tui.host.process.process import KILL, ServerProcess

if TYPE_CHECKING:
    import psutil  # type: ignore[import-untyped]  # ships no types

ORPHAN_LEAVE_SECONDS = 0.2
ORPHAN_KILL_SECONDS = 1.0
POLL_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class StopGrace:
    """Timeouts of a stop, in seconds; a well-behaved server needs none of them.

    Attributes:
        flush: until what was written has been read.
        eof: to exit after its input was closed.
        term: to exit after SIGTERM.
        kill: to be gone after SIGKILL.
        stragglers: for leftover processes to exit after SIGTERM.
    """

    flush: float = 0.5
    eof: float = 2.0
    term: float = 2.0
    kill: float = 1.0
    stragglers: float = 0.5


async def descend(process: ServerProcess, stdin: PipeWriter, grace: StopGrace, hurry: asyncio.Event) -> None:
    """Close the input of a server and end its leader; once `hurry` is set, no step waits any longer."""

    async def gone(seconds: float) -> bool:
        await first_of(process.exited.wait(), hurry.wait(), seconds=seconds)
        return process.exit is not None

    if process.exit is None:
        await first_of(stdin.flushed(), hurry.wait(), seconds=grace.flush)
    stdin.close()
    if await gone(grace.eof):
        return
    process.signal_group(signal.SIGTERM)
    if await gone(grace.term):
        return
    process.signal_group(KILL)
    await first_of(process.exited.wait(), seconds=grace.kill)


def sweep(process: ServerProcess, mark: str, patience: float) -> tuple[int, ...]:
    """End what a server left behind, also after a clean exit; return the ids outside its group.

    Launchers such as npx and uv may exit before the programs that they launched. Blocks up to a few seconds.
    """
    found = end_orphans(mark, patience)
    process.signal_group(KILL)
    return tuple(pid for pid, group in found.items() if group != process.pid)


def end_orphans(mark: str, seconds: float) -> dict[int, int]:
    """End every process that carries `mark`; return their ids and groups. Blocks, so call it in a thread.

    Processes that are about to exit get a moment and are not counted. SIGKILL follows SIGTERM by `seconds`.
    """
    ended: dict[int, int] = {}
    kill = (KILL, ORPHAN_KILL_SECONDS)
    # A process that was asked to exit may have started another one, so each round looks again.
    for number, patience in (
        (None, min(seconds, ORPHAN_LEAVE_SECONDS)),
        (signal.SIGTERM, seconds),
        kill,
        kill,
    ):
        found = _marked(mark)
        if not found:
            break
        if number is not None:
            ended |= {process.pid: group for process, group in found}
        _signal_all([process for process, _ in found], number, patience)
    return ended


def _marked(mark: str) -> "list[tuple[psutil.Process, int]]":
    """Return every process whose environment carries `mark`, and its group, where the system shows them."""
    # On Linux only those that have it: eight times as fast as psutil, which only an orphan loads.
    candidates = marked(f"\0{OWNER_VARIABLE}={mark}".encode()) if sys.platform == "linux" else None
    if candidates == []:
        return []
    import psutil  # not before the first frame

    found = []
    for pid in psutil.pids() if candidates is None else candidates:
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            if pid != os.getpid() and process.environ().get(OWNER_VARIABLE) == mark:
                found.append((process, os.getpgid(pid) if hasattr(os, "getpgid") else 0))
    return found


def _signal_all(processes: "list[psutil.Process]", number: signal.Signals | None, patience: float) -> None:
    import psutil

    for process in processes if number is not None else ():
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)
    deadline = time.monotonic() + patience
    # Not `psutil.wait_procs`: it would reap our own children, whose ids are still needed.
    while any(map(_lives, processes)) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _lives(process: "psutil.Process") -> bool:
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
