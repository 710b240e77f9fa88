"""What a tool call through the host costs, beside the same call through the bare SDK.

Run it: python tests/benchmarks/tool_call.py [CALLS]
Both talk to a process of the same server, in turns, in one run; the ratio says how they compare on the
machine of the moment. The host's way has its own framing, the raw tap, ids of its own and the checks.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mcp import Client, StdioServerParameters  # noqa: E402

from tui.core.ports import MonotonicClock  # noqa: E402
from tui.core.servers import ServerSpec  # noqa: E402
from tui.host.host import Host  # noqa: E402

SERVER = str(ROOT / "tests" / "corpus" / "faults" / "crlf.py")
ROUNDS = 10


async def timed(call: Callable[[], Awaitable[object]], calls: int) -> tuple[list[float], float]:
    """Return the time of each call in milliseconds, and the CPU time of this process per call."""
    times = []
    cpu = time.process_time()
    for _ in range(calls):
        started = time.perf_counter()
        await call()
        times.append((time.perf_counter() - started) * 1e3)
    return times, (time.process_time() - cpu) * 1e3 / calls


async def compare(host: Host, server: Any, calls: int) -> None:
    """Print medians, 95th percentiles and the ratio of calls through `host` and through the SDK's client.

    `server` is where the client finds the one server that `host` has.
    """
    await host.start_all()
    tool = host.toolbox.tools()[0]
    arguments = {"text": "hello"}
    async with Client(server) as client:
        await client.list_tools()
        ways: dict[str, Callable[[], Awaitable[object]]] = {
            "bare SDK": lambda: client.call_tool(tool.name, arguments),
            "host": lambda: host.toolbox.call(tool, arguments, seconds=10, progress=lambda *_: None),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        cpu: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way, call in ways.items():
                took, spent = await timed(call, max(1, calls // ROUNDS))
                times[way] += took
                cpu[way].append(spent)
    await host.shutdown()
    medians = {way: statistics.median(took) for way, took in times.items()}
    for way, took in times.items():
        slow = statistics.quantiles(took, n=20)[-1]
        spent = statistics.median(cpu[way])
        print(f"{way:>9}: median {medians[way]:.3f} ms, p95 {slow:.3f} ms, CPU {spent:.3f} ms a call")
    print(f"    ratio: {medians['host'] / medians['bare SDK']:.2f}")


async def main(calls: int) -> None:
    """Measure over stdio."""
    host = Host([ServerSpec("echo", sys.executable, (SERVER,))], sink=lambda *_: None, clock=MonotonicClock())
    await compare(host, StdioServerParameters(command=sys.executable, args=[SERVER]), calls)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
