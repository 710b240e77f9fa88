"""What a server's processes cost now: memory and time of the processor. Blocks: call it in a thread.

Linux says it in /proc (man 5 proc), other Unix systems by `ps`; elsewhere nothing is told.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

PS_SECONDS = 2.0
MAX_PIDS = 1_000


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tree of processes costs.

    Attributes:
        pids: the leader first.
        memory: resident bytes, shared pages counted in each; None where it cannot be told.
        cpu_seconds: used so far, that of ended children included; None where it cannot be told.
    """

    pids: tuple[int, ...] = ()
    memory: int | None = None
    cpu_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    group: int
    memory: int
    cpu_seconds: float


def usage(leader: int) -> Usage:
    """Return what the process `leader`, its descendants and the rest of its group cost."""
    if sys.platform == "linux":
        processes = list(_from_proc())
    elif sys.platform == "win32":
        return Usage((leader,))
    else:
        processes = list(_from_ps())
    tree = _tree(leader, processes)
    if not tree:
        return Usage((leader,)) if not processes else Usage()
    return Usage(
        tuple(process.pid for process in tree),
        sum(process.memory for process in tree),
        round(sum(process.cpu_seconds for process in tree), 2),
    )


def _tree(leader: int, processes: Iterable[_Process]) -> list[_Process]:
    known = {process.pid: process for process in processes}
    if leader not in known:
        return []
    children: dict[int, list[_Process]] = {}
    for process in known.values():
        children.setdefault(process.parent, []).append(process)
    # One whose parent ended belongs to somebody else now, but it is still of the leader's group.
    found = {leader: known[leader]}
    found |= {process.pid: process for process in known.values() if process.group == leader}
    waiting = list(found.values())
    while waiting and len(found) < MAX_PIDS:
        for child in children.get(waiting.pop().pid, ()):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child)
    return list(found.values())


def _from_proc() -> Iterable[_Process]:
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                text = file.read()
        except OSError:  # it has just ended
            continue
        # The name in parentheses may hold spaces and parentheses; field 3 is the first behind it.
        fields = text[text.rfind(b")") + 2 :].split()
        if len(fields) > 21:
            ticks = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
            yield _Process(int(entry), int(fields[1]), int(fields[2]), int(fields[21]) * page, ticks / tick)


def _from_ps() -> Iterable[_Process]:
    command = ["ps", "-axo", "pid=,ppid=,pgid=,rss=,time="]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PS_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return
    yield from _read_ps(done.stdout)


def _read_ps(text: str) -> Iterable[_Process]:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 5 and all(word.isdecimal() for word in words[:4]):
            pid, parent, group, kibibytes = map(int, words[:4])
            yield _Process(pid, parent, group, kibibytes * 1024, _seconds(words[4]))


def _seconds(text: str) -> float:
    """Return the seconds of "[DD-]HH:MM:SS[.cc]" or "MM:SS.cc", as `ps` writes them; 0 for anything else."""
    days, _, clock = text.rpartition("-")
    try:
        total = 0.0
        for part in clock.split(":"):
            total = total * 60 + float(part)
        return total + 86_400 * int(days or 0)
    except ValueError:
        return 0.0
