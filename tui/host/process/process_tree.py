"""The memory and CPU time of a server's processes. Blocks, so call it in a thread."""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil  # type: ignore[import-untyped]  # ships no types

MAX_PIDS = 1_000


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Memory and CPU time of a tree of processes; None if unknown. The leader is first in `pids`.

    `memory` is resident bytes, shared pages counted in each process; `cpu_seconds` include ended children
    where the system reports them.
    """

    pids: tuple[int, ...] = ()
    memory: int | None = None
    cpu_seconds: float | None = None


def usage(leader: int) -> ProcessUsage:
    """Return the usage of the process `leader`, its descendants and the rest of its process group."""
    import psutil  # not before the first frame

    known = psutil.pids()
    if leader not in known:
        return ProcessUsage() if known else ProcessUsage((leader,))
    pids, memory, cpu_seconds = [], 0, 0.0
    for process in _tree(leader, known):
        with contextlib.suppress(psutil.Error), process.oneshot():
            times = process.cpu_times()
            memory += process.memory_info().rss
            cpu_seconds += times.user + times.system + times.children_user + times.children_system
            pids.append(process.pid)
    return ProcessUsage(tuple(pids), memory, round(cpu_seconds, 2)) if pids else ProcessUsage()


def _tree(leader: int, known: Iterable[int]) -> "list[psutil.Process]":
    import psutil

    found: dict[int, psutil.Process] = {}
    # A process whose parent has ended has a new parent, but it is still in the leader's group.
    for root in (leader, *(pid for pid in known if pid != leader and _group(pid) == leader)):
        if root not in found and len(found) < MAX_PIDS:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(root)
                # psutil leaves out children older than their parent, because the parent's id was reused.
                found |= {each.pid: each for each in (process, *process.children(recursive=True))}
    return list(found.values())[:MAX_PIDS]


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:  # it has just ended, or belongs to another user
        return 0
