"""Start and stop servers again and again: nothing may be left, and nothing may grow.

Run it: python tests/soak/start_stop.py [CYCLES]
Prints descriptors, threads, tasks, children and memory at the beginning, every tenth of the way and at the
end; exits 1 if more is left at the end than there was after the first tenth.
"""

import asyncio
import sys
import threading
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tui.core.ports import MonotonicClock  # noqa: E402
from tui.core.servers import ServerSpec, ServerState  # noqa: E402
from tui.host.host import Host  # noqa: E402

GROWTH_MIB = 8.0
FAULTS = ROOT / "tests" / "corpus" / "faults"
NAMES = ("crlf", "discover_dies", "grandchild_holds_pipes", "stderr_on_discover")


def measure(cycle: int) -> dict[str, float]:
    """Return what this process holds."""
    me = psutil.Process()
    children = me.children(recursive=True)
    return {
        "cycle": cycle,
        "fds": me.num_fds(),
        "threads": threading.active_count(),
        "tasks": len(asyncio.all_tasks()),
        "children": len(children),
        "zombies": sum(child.status() == psutil.STATUS_ZOMBIE for child in children),
        "rss MiB": round(me.memory_info().rss / 2**20, 1),
    }


async def soak(cycles: int) -> int:
    """Run the cycles; return the exit code."""
    specs = [ServerSpec(name, sys.executable, (str(FAULTS / f"{name}.py"),)) for name in NAMES]
    host = Host(specs, sink=lambda *_: None, clock=MonotonicClock())
    settled: dict[str, float] = {}
    found = measure(0)
    print("  ".join(f"{key:>8}" for key in found))
    for cycle in range(1, cycles + 1):
        await host.start_all()
        for tool in host.toolbox.tools():
            await host.toolbox.call(tool, {}, seconds=10, progress=lambda *_: None)
        await asyncio.gather(*(host.stop(name) for name in NAMES))
        assert all(status.state is ServerState.STOPPED for status in host.statuses())
        if cycle % max(1, cycles // 10) == 0:
            found = measure(cycle)
            settled = settled or found
            print("  ".join(f"{value:>8g}" for value in found.values()))
    await host.shutdown()
    grown = [key for key in ("fds", "threads", "tasks", "children", "zombies") if found[key] > settled[key]]
    if found["rss MiB"] - settled["rss MiB"] > GROWTH_MIB:
        grown.append("rss MiB")
    left = psutil.Process().children(recursive=True)
    print(f"grown: {', '.join(grown) or 'nothing'}; left after shutdown: {len(left)} processes")
    return 1 if grown or left else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(soak(int(sys.argv[1]) if len(sys.argv) > 1 else 200)))
