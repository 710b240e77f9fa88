"""A clock that records how long an event loop is blocked, since no key can be handled meanwhile."""

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

TICK, SLOW = 0.002, 0.04


class Hold(NamedTuple):
    """A time in which the event loop was blocked, in milliseconds, when it ended, and where.

    `waited` is the part in which the thread waited for a core, because other programs used them.
    """

    late: float
    waited: float = 0.0
    cpu: float = 0.0
    at: float = 0.0
    place: str = ""


def waited_ms() -> float:
    """Return how long this thread has waited for a core since its start; 0 where the system does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return 0.0


def longest(holds: list[Hold]) -> Hold:
    """Return the longest hold without the time in which the thread waited for a core."""
    return max(holds, key=lambda hold: hold.late - hold.waited, default=Hold(0.0))


@contextmanager
def recorded(holds: list[Hold]) -> Iterator[None]:
    """Add each hold of this thread's event loop, until the end of the block."""
    at, place = [time.perf_counter()], [""]
    main, over = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            if time.perf_counter() - at[0] > SLOW and (frame := sys._current_frames().get(main)):
                place[0] = "".join(traceback.format_stack(frame)[-14:])

    async def tick() -> None:
        while True:
            place[0], waited, cpu = "", waited_ms(), time.thread_time()
            at[0] = time.perf_counter()
            await asyncio.sleep(TICK)
            late = (time.perf_counter() - at[0] - TICK) * 1e3
            if late > 20:
                cpu = (time.thread_time() - cpu) * 1e3
                holds.append(Hold(late, waited_ms() - waited, cpu, time.time(), place[0]))

    threading.Thread(target=watch, daemon=True).start()
    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        over.set()
        ticking.cancel()
