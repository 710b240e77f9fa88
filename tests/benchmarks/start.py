"""Time until the whole program is ready and idle, in a real terminal, and the delay of keys meanwhile.

Run it: python tests/benchmarks/start.py [RUNS] [--tree FOLDER] [--sdk-servers]
Each run starts the following one after the other, each in its own pty if it has a screen, with a loopback
endpoint:
- The app with two stdio servers and a real model. It is ready once the screen shows both servers, the model's
  client has asked the endpoint for its window, and the program has used almost no CPU for 0.2 s. That wait is
  not counted.
- The app without a configuration, with the demo model and the bundled sample servers, until it is ready.
- The first case again, with a key every 40 ms from the first frame on: the time until each key is on the
  screen.
- `mcptui run` with one question, from start to exit.
- A bare script that imports openai and mcp, starts the servers, lists their tools and asks the same question.
`--tree` also runs the app of another checkout in the same rounds. `--sdk-servers` uses servers that import
the SDK, like most Python servers. The default servers use only the standard library and start immediately.

CPU times and their ratio to the bare script are valid on a busy machine too; the other figures are not.
Prints medians and exits with 1 if a budget is missed by more than the noise (half the interquartile range).
All modules are precompiled, as after an installation.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, late, noise, noise_of  # noqa: E402
from tests.endpoint import Endpoint, says  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402

STUB = str(ROOT / "tests" / "corpus" / "faults" / "crlf.py")
SDK_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("echo")
@server.tool()
def echo(text: str) -> str:
    "Echo the text back."
    return text
server.run("stdio")
"""
BARE = """
import asyncio, sys
import openai
from mcp import Client, StdioServerParameters

async def main(url, *server):
    parameters = StdioServerParameters(command=server[0], args=list(server[1:]))
    async with Client(parameters) as one, Client(parameters) as two:
        await asyncio.gather(one.list_tools(), two.list_tools())
        model = openai.AsyncOpenAI(base_url=url, api_key="none")
        messages = [{"role": "user", "content": "hello"}]
        async for part in await model.chat.completions.create(model="m", messages=messages, stream=True):
            for choice in part.choices:
                print(choice.delta.content or "", end="", flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
KEYS = [chr(code) for code in range(0x100, 0x180)]
"""Letters that occur in no escape sequence. Each is typed once."""

SAMPLES = "2 of 3"
"""What the screen shows once the samples are ready. One of the three is not started automatically."""

QUIET_SECONDS, QUIET_SHARE = 0.2, 0.15
BUDGETS = {"settled": 2.0, "settled demo": 2.2, "run": 1.5}
"""Seconds."""

KINDS = {"key": "key while loading", "key CPU": "CPU of mcptui until it is shown"}

Times = dict[str, list[float]]


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Run an endpoint in its own thread."""
    found = Endpoint([says("Hello there")])
    loop = asyncio.new_event_loop()
    ready, over = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with found:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield found
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


def prepared(folder: Path, url: str, server: list[str]) -> Path:
    """Write a configuration with two servers and the endpoint as the model; return its path."""
    path = folder / "config.toml"
    lines = ['default_model = "stub"', "[models.stub]", 'model = "m"', f"base_url = {json.dumps(url)}"]
    for name in ("one", "two"):
        lines += [
            f"[servers.{name}]",
            f"command = {json.dumps(server[0])}",
            f"args = {json.dumps(server[1:])}",
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def environment(tree: Path, home: Path) -> dict[str, str]:
    """Return the environment of a user who has installed `tree`."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{home}/compiled"}
    return home_in(home) | compiled | {"PYTHONPATH": str(tree)}


def started(tree: Path, config: Path) -> TerminalApp:
    argv = [sys.executable, "-P", "-m", "tui", "--trust-config", "--config", str(config)]
    return TerminalApp(argv, env=environment(tree, config.parent))


def settled(tree: Path, config: Path, found: Endpoint, times: Times) -> None:
    """Time the start of the app until it is idle, and the CPU time of the app and its servers."""
    asked, began = len(found.others), time.perf_counter()
    with started(tree, config) as app:
        app.until(lambda: "2 of 2" in app.text, 60)
        times["servers shown"].append(time.perf_counter() - began)
        app.until(lambda: len(found.others) > asked, 60)
        times["model request"].append(time.perf_counter() - began)
        at, spent = when_quiet(app)
        times["settled"].append(at - began)
        times["settled CPU, with servers"].append(spent)


def settled_demo(tree: Path, home: Path, times: Times) -> None:
    """Time the start of the app without a configuration until it is idle."""
    began = time.perf_counter()
    argv = [sys.executable, "-P", "-m", "tui", "--demo"]
    with TerminalApp(argv, env=environment(tree, home)) as app:
        app.until(lambda: SAMPLES in app.text, 60)
        at, spent = when_quiet(app)
        times["settled demo"].append(at - began)
        times["settled demo CPU, with servers"].append(spent)


def when_quiet(app: TerminalApp) -> tuple[float, float]:
    """Wait until a program is idle; return when that began, and its CPU time until then."""
    process = psutil.Process(app.process.pid)

    def cpu() -> float:
        """Return the CPU time of the program and its servers, which is comparable with the bare script."""
        spent = 0.0
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                spent += sum(one.cpu_times()[:4])
        return spent

    at, before = time.perf_counter(), cpu()
    while True:
        app.pump(0.02)
        if (now := time.perf_counter()) - at >= QUIET_SECONDS:
            spent = cpu()
            if spent - before < QUIET_SHARE * (now - at):
                return at, before
            at, before = now, spent


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of all threads of a process, in nanosecond resolution, unlike psutil."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def typed(tree: Path, config: Path, found: Endpoint, times: Times) -> None:
    """Type while the app loads, and time how long each key takes to appear."""
    asked = len(found.others)
    with started(tree, config) as app:
        app.until(lambda: "sk anything" in app.text)
        for key in KEYS:
            mark, spent, began = len(app.raw), cpu_seconds(app.process.pid), time.perf_counter()
            app.send(key)
            while key.encode() not in app.raw[mark:]:
                app.pump(0.5)
                if time.perf_counter() - began > 10:
                    raise AssertionError(f"{key} is not shown\n{app.text}")
            times["key"].append(time.perf_counter() - began)
            times["key CPU"].append(cpu_seconds(app.process.pid) - spent)
            if len(found.others) > asked and "2 of 2" in app.text:
                break
            wait = began + 0.04
            while (left := wait - time.perf_counter()) > 0:
                app.pump(left)


def timed(argv: list[str], env: dict[str, str], name: str, times: Times) -> None:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(argv, env=os.environ | env, capture_output=True, text=True, check=False)
    times[name].append(time.perf_counter() - began)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    times[f"{name} CPU, with servers"].append(
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    )
    assert "Hello there" in done.stdout, done.stdout + done.stderr


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="?", type=int, default=7)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--sdk-servers", action="store_true")
    arguments = parser.parse_args()
    trees = {"mcptui": ROOT} | ({"other": arguments.tree} if arguments.tree else {})
    names = (
        "servers shown",
        "model request",
        "settled",
        "settled CPU, with servers",
        "settled demo",
        "settled demo CPU, with servers",
    )
    names += ("run", "run CPU, with servers", *KINDS)
    times: dict[str, Times] = {name: {kind: [] for kind in names} for name in trees}
    bare: Times = {"bare script": [], "bare script CPU, with servers": []}
    with tempfile.TemporaryDirectory() as folder, endpoint() as found:
        homes = {name: Path(folder) / name for name in (*trees, "bare")}
        script = Path(folder) / "server.py"
        script.write_text(SDK_SERVER)
        server = [sys.executable, str(script) if arguments.sdk_servers else STUB]
        configs = {}
        for name, home in homes.items():
            home.mkdir()
            configs[name] = prepared(home, found.base_url, server)
        for run in range(arguments.runs + 1):
            if run == 1:  # the first run compiles modules and warms the disk cache
                for taken in (*times.values(), bare):
                    for values in taken.values():
                        values.clear()
            for name, tree in trees.items():
                settled(tree, configs[name], found, times[name])
                settled_demo(tree, homes[name], times[name])
                typed(tree, configs[name], found, times[name])
                argv = [
                    sys.executable,
                    "-P",
                    "-m",
                    "tui",
                    "run",
                    "--trust-config",
                    "--config",
                    str(configs[name]),
                    "hello",
                ]
                timed(argv, environment(tree, homes[name]), "run", times[name])
            argv = [sys.executable, "-P", "-c", BARE, found.base_url, *server]
            timed(argv, environment(ROOT, homes["bare"]), "bare script", bare)
    for name, taken in {**times, "bare": bare}.items():
        for kind, values in taken.items():
            if kind not in KINDS:
                print(
                    f"{name:8}{kind:32} median {statistics.median(values):.3f} s   best {min(values):.3f} s"
                )
                continue
            three = (statistics.median(values), late(values), max(values))
            shown = "median {:.1f}, p95 {:.1f}, max {:.1f} ms".format(*(1000 * value for value in three))
            print(f"{name:8}{KINDS[kind]:32} {shown}   ({len(values)} keys)")
    ours, script_cpu = times["mcptui"], statistics.median(bare["bare script CPU, with servers"])
    beside = f"bare script {statistics.median(bare['bare script']):.2f} s"
    keys = [1000 * value for value in ours["key"]]
    servers = "servers that import the SDK" if arguments.sdk_servers else "servers that boot at once"
    figures = [
        Figure(
            name if "demo" in name else f"{name}, {servers}",
            statistics.median(ours[name]),
            "s",
            most,
            noise(ours[name]),
            beside,
        )
        for name, most in BUDGETS.items()
    ]
    for kind in ("settled CPU, with servers", "settled demo CPU, with servers", "run CPU, with servers"):
        ratio = statistics.median(ours[kind]) / script_cpu
        figures.append(Figure(kind, ratio, "x", None, 0.0, f"bare script {script_cpu:.2f} s"))
    figures.append(Figure("key while loading, p95", late(keys), "ms", 30, noise_of(late, keys)))
    figures.append(Figure("key while loading, latest", max(keys), "ms", 80, noise_of(max, keys)))
    return judged(figures)


if __name__ == "__main__":
    sys.exit(main())
