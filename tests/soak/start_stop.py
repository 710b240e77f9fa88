"""Starts and stops servers repeatedly: resources must not leak or grow.

Prints descriptors, threads, tasks, children and memory at the beginning and after every tenth of the run.
Exits with 1 if there are more at the end than after the first tenth.
"""

import asyncio
import sys
from pathlib import Path

import psutil

from tests.soak.counts import Counts, counted, fill_pool
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, ServerState
from tui.host.host import Host

FAULTS = Path(__file__).parents[1] / "corpus" / "faults"
NAMES = ("crlf", "discover_dies", "grandchild_holds_pipes", "stderr_on_discover")


async def soak(cycles: int) -> int:
    """Run the cycles; return the exit code."""
    specs = [ServerSpec(name, sys.executable, (str(FAULTS / f"{name}.py"),)) for name in NAMES]
    host = Host(specs, sink=lambda *_: None, clock=MonotonicClock())
    settled: Counts | None = None
    await fill_pool()
    print(f"cycle {0:6}  {counted()}")
    for cycle in range(1, cycles + 1):
        await host.start_all()
        for tool in host.toolbox.tools():
            await host.toolbox.call(tool, {}, seconds=10, progress=lambda *_: None)
        await asyncio.gather(*(host.stop(name) for name in NAMES))
        assert all(status.state is ServerState.STOPPED for status in host.statuses())
        if cycle % max(1, cycles // 10) == 0:
            now = counted()
            settled = settled or now
            print(f"cycle {cycle:6}  {now}", flush=True)
    grown = now.grown(settled) if settled else []
    await host.shutdown()
    left = psutil.Process().children(recursive=True)
    print(f"grown: {', '.join(grown) or 'nothing'}; left after shutdown: {len(left)} processes")
    return 1 if grown or left else 0
