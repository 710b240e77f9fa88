"""Time of `mcptui test`, compared with the same calls through the SDK's client.

The server is an ordinary one, with the SDK's server. It notes the time and the CPU time of its client at its
first and its last call, so that calls are measured without the start and the end of a run, which vary by more
than all calls take. Program and bare script alternate, and each ratio is that of a pair, so that it is valid
on a busy machine too.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.program import installed

ROUNDS, CASES, MANY = 4, 200, 1000
SERVER = """
import json, os, time
from mcp.server.mcpserver import MCPServer

app = MCPServer("adds", log_level="ERROR")
last = int(os.environ["CASES"]) - 1

def note(what):
    ticks = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[11:13]
    cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    with open(os.environ["NOTES"], "a") as file:
        print(json.dumps([time.monotonic(), cpu, time.process_time()]), file=file)

@app.tool()
def add(a: int, b: int) -> str:
    if a in (0, last):
        note("call")
    return str(a + b)

app.run()
"""
BARE = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.executable, args=["server.py"], env=dict(os.environ))
    async with Client(server) as client:
        await client.list_tools()
        for number in range(int(sys.argv[1])):
            result = await client.call_tool("add", {"a": number, "b": 2})
            assert result.content[0].text == str(number + 2)

asyncio.run(main())
"""

HEAD = """
[server]
command = {0}
env = {{ CASES = "{1}", NOTES = {2} }}
"""

CASE = """
[[call]]
name = "adds {0}"
tool = "add"
args = {{ a = {0}, b = 2 }}
text = "{1}"
"""


class Run(NamedTuple):
    """A process that made calls. Seconds: all of it, until its first call, between the first and the last.

    `cpu` is its own between these calls, `server_cpu` that of its server.
    """

    whole: float
    start: float
    calls: float
    cpu: float
    server_cpu: float


def suite(count: int, notes: Path) -> str:
    """Return a suite with this number of cases."""
    head = HEAD.format(json.dumps([sys.executable, "server.py"]), count, json.dumps(str(notes)))
    return head + "".join(map(CASE.format, range(count), range(2, count + 2)))


def measured_run(folder: Path, env: dict[str, str], count: int, *words: str) -> Run:
    """Run a program in Python that makes `count` calls."""
    notes = folder / "notes"
    notes.unlink(missing_ok=True)
    env = env | {"CASES": str(count), "NOTES": str(notes)}
    began = time.monotonic()
    subprocess.run([sys.executable, *words], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    whole = time.monotonic() - began
    first, last = map(json.loads, notes.read_text().splitlines())
    return Run(whole, first[0] - began, *(b - a for a, b in zip(first, last, strict=True)))


def rounds(folder: Path, env: dict[str, str], count: int, number: int) -> tuple[list[Run], list[Run]]:
    """Run program and bare script in turn; return the runs of each."""
    (folder / "cases.mcp.toml").write_text(suite(count, folder / "notes"))
    ours, bare = list[Run](), list[Run]()
    for _ in range(number):
        ours.append(measured_run(folder, env, count, "-m", "tui", "test", "cases.mcp.toml", "--trust-config"))
        bare.append(measured_run(folder, env, count, "bare.py", str(count)))
    return ours, bare


def measure() -> list[Figure]:
    """Run program and script in rounds. The first one compiles modules."""
    with tempfile.TemporaryDirectory() as home:
        folder, env = Path(home), installed(home)
        (folder / "server.py").write_text(SERVER)
        (folder / "bare.py").write_text(BARE)
        rounds(folder, env, 2, 1)
        ours, bare = rounds(folder, env, CASES, ROUNDS)
        many, many_bare = rounds(folder, env, MANY, ROUNDS)
    unit, each = "x the SDK's client", 1e3 / (MANY - 1)

    def half(runs: Sequence[Run], field: str) -> float:
        return statistics.median(getattr(one, field) for one in runs)

    def ratios(field: str) -> list[float]:
        return [getattr(a, field) / getattr(b, field) for a, b in zip(many, many_bare, strict=True)]

    sdk = f"SDK {half(many_bare, 'calls') * each:.2f} ms"
    sdk_cpu = (
        f"SDK {half(many_bare, 'cpu') * each:.2f} ms, server {half(many_bare, 'server_cpu') * each:.2f} ms"
    )
    both = [(a.cpu + a.server_cpu) / (b.cpu + b.server_cpu) for a, b in zip(many, many_bare, strict=True)]
    whole = [a.whole / b.whole for a, b in zip(ours, bare, strict=True)]
    starts = [1e3 * (a.start - b.start) for a, b in zip(ours, bare, strict=True)]
    return [
        middle(f"{CASES} cases, the whole run", whole, unit, 1.5),
        middle(f"{MANY} cases, from the first call to the last", ratios("calls"), unit, 1.5),
        middle("a case", [one.calls * each for one in many], "ms", beside=sdk),
        middle("a case, CPU time of the client and the server", both, unit, 1.5),
        middle(
            "a case, CPU time of the client alone", [one.cpu * each for one in many], "ms", beside=sdk_cpu
        ),
        middle(f"start of {CASES} cases, later first call than a bare script", starts, "ms", 400),
    ]
