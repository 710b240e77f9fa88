"""Resources that a process holds, and which of them have grown."""

import asyncio
import threading
from dataclasses import asdict, dataclass

import psutil

from tui.core.units import size

GROWTH_BYTES = 8 << 20
"""How much the memory may grow after the first tenth of the run, because of the heap itself."""


POOL = "asyncio_"
"""Prefix of the threads of the loop's pool. It starts another one, up to a limit, when all are busy."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Resources that a process could leak; `memory` is in bytes."""

    processes: int
    zombies: int
    descriptors: int
    threads: int
    tasks: int
    memory: int

    def __str__(self) -> str:
        counts = asdict(self) | {"memory": size(self.memory)}
        return "  ".join(f"{name} {value}" for name, value in counts.items())

    def grown(self, before: "Counts", *, memory: int = GROWTH_BYTES) -> list[str]:
        """Return the counts that have grown, for the memory only if by more than `memory`."""
        ours, theirs = asdict(self), asdict(before)
        room = dict.fromkeys(ours, 0) | {"memory": memory}
        return [
            f"{name} {theirs[name]} → {ours[name]}" for name in ours if ours[name] > theirs[name] + room[name]
        ]


async def fill_pool() -> None:
    """Start all threads of the event loop's pool, which it would otherwise start one by one."""
    await asyncio.gather(*(asyncio.to_thread(threading.Event().wait, 0.05) for _ in range(64)))


def counted() -> Counts:
    """Return the counts of this process; call it in the event loop."""
    me = psutil.Process()
    children = me.children(recursive=True)
    return Counts(
        processes=len(children),
        zombies=sum(child.status() == psutil.STATUS_ZOMBIE for child in children),
        descriptors=me.num_fds(),
        threads=sum(not thread.name.startswith(POOL) for thread in threading.enumerate()),
        tasks=len(asyncio.all_tasks()),
        memory=me.memory_info().rss,
    )
