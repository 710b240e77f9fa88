"""What a process holds, and what of it has grown."""

import asyncio
import threading
from dataclasses import asdict, dataclass

import psutil

from tui.core.units import size

GROWTH_BYTES = 8 << 20
"""How much memory may be gained: the heap's own, after the first tenth."""


POOL = "asyncio_"
"""Threads of the loop's pool, which starts another one, up to a limit, whenever all are busy."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything that a process could leave behind; `memory` in bytes."""

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
        """Return what is more than before, the memory only beyond what it may gain."""
        ours, theirs = asdict(self), asdict(before)
        room = dict.fromkeys(ours, 0) | {"memory": memory}
        return [
            f"{name} {theirs[name]} → {ours[name]}" for name in ours if ours[name] > theirs[name] + room[name]
        ]


async def fill_pool() -> None:
    """Start every thread that the pool of the event loop may have: it starts them one by one."""
    await asyncio.gather(*(asyncio.to_thread(threading.Event().wait, 0.05) for _ in range(64)))


def counted() -> Counts:
    """Return what this process holds now; call it in its event loop."""
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
