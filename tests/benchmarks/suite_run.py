"""Time of `mcptui test` with 200 cases, compared with the same calls through the SDK's client.

The server is an ordinary one, with the SDK's server. Program and bare script alternate, so that the ratio is
valid on a busy machine too. What a case costs is the difference between a run with all cases and one with a
single case. The start is what the single case takes longer than a bare script with one call.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.program import installed

ROUNDS, CASES = 9, 200
SERVER = """
from mcp.server.mcpserver import MCPServer

app = MCPServer("adds", log_level="ERROR")

@app.tool()
def add(a: int, b: int) -> str:
    return str(a + b)

app.run()
"""
BARE = """
import asyncio, sys
from mcp import Client, StdioServerParameters

async def main():
    async with Client(StdioServerParameters(command=sys.executable, args=["server.py"])) as client:
        await client.list_tools()
        for number in range(int(sys.argv[1])):
            result = await client.call_tool("add", {"a": number, "b": 2})
            assert result.content[0].text == str(number + 2)

asyncio.run(main())
"""

CASE = """
[[call]]
name = "adds {0}"
tool = "add"
args = {{ a = {0}, b = 2 }}
text = "{1}"
"""


def suite(count: int) -> str:
    """Return a suite with this number of cases."""
    head = f"[server]\ncommand = {json.dumps([sys.executable, 'server.py'])}\n"
    return head + "".join(map(CASE.format, range(count), range(2, count + 2)))


def seconds(folder: Path, env: dict[str, str], *words: str) -> float:
    """Run a program in Python; return how long it took."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure() -> list[Figure]:
    """Run program and script in rounds. The first one compiles modules."""
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as home:
        folder, env = Path(home), installed(home)
        (folder / "server.py").write_text(SERVER)
        (folder / "bare.py").write_text(BARE)
        for count in (1, CASES):
            (folder / f"{count}.mcp.toml").write_text(suite(count))
        for number in range(ROUNDS + 1):
            for count in (1, CASES):
                run = seconds(folder, env, "-m", "tui", "test", f"{count}.mcp.toml", "--trust-config")
                bare = seconds(folder, env, "bare.py", str(count))
                if number:
                    times[f"run {count}"].append(run)
                    times[f"bare {count}"].append(bare)
    ours = [many - one for many, one in zip(times[f"run {CASES}"], times["run 1"], strict=True)]
    bare_calls = [many - one for many, one in zip(times[f"bare {CASES}"], times["bare 1"], strict=True)]
    ratios = [mine / theirs for mine, theirs in zip(ours, bare_calls, strict=True) if theirs > 0]
    whole = [a / b for a, b in zip(times[f"run {CASES}"], times[f"bare {CASES}"], strict=True)]
    starts = [1e3 * (a - b) for a, b in zip(times["run 1"], times["bare 1"], strict=True)]
    unit = "x the SDK's client"
    each = 1e3 / (CASES - 1)
    beside = f"SDK {sorted(bare_calls)[len(bare_calls) // 2] * each:.2f} ms"
    return [
        middle(f"{CASES} cases, without the start", ratios, unit, 1.5, beside),
        middle(f"{CASES} cases, the whole run", whole, unit, 1.5),
        middle("a case", [one * each for one in ours], "ms"),
        middle("start, longer than that of a bare script", starts, "ms", 400),
    ]
