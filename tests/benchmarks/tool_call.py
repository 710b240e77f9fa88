"""Cost of a tool call in the whole program, compared with the same call through the SDK's client.

Run it: python tests/benchmarks/tool_call.py [CALLS] [--tree FOLDER]
The app runs in a pty with everything enabled (screen, recorder writing a file, linter) and calls a tool of
its own server. A bare script does the same with the SDK's client. They alternate after a series of calls, so
that the ratio is valid on a busy machine too. A series lasts several times as long as the recorder's delay,
so that the work of the recorder and the linter falls within it.
Another server answers with a line of 64 MiB, which is compared with a loop that only reads it.
`--tree` also runs the app of another checkout in the same rounds.
"""

import argparse
import asyncio
import contextlib
import json
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # after the checkout of `--tree`

from tests.benchmarks.figures import Figure, judged, late, noise  # noqa: E402

SERVER = str(ROOT / "tests" / "corpus" / "faults" / "crlf.py")
LONG_LINE_SERVER = str(ROOT / "tests" / "corpus" / "faults" / "huge_line_64mib.py")
INSIDE, SDK = "--inside", "--sdk"
ARGUMENTS = {"text": "hello"}
TURN = 500
"""Calls in a row. They take about 100 ms, in which the recorder works three times."""


def megabytes(what: str) -> float:
    """Return the memory of this process, or its peak for "VmHWM"."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024 / 1e6


def memory_from_here() -> float:
    """Return the memory of this process, and reset its recorded peak."""
    Path("/proc/self/clear_refs").write_text("5")
    return megabytes("VmRSS")


async def answer(link: socket.socket, call: Callable[[], Awaitable[object]]) -> None:
    """Make as many calls as requested; report the time of each call, and the CPU and memory of all."""
    reader, writer = await asyncio.open_connection(sock=link)
    writer.write(b"ready\n")
    while line := await reader.readline():
        times, cpu, memory = [], time.process_time(), memory_from_here()
        for _ in range(int(line)):
            began = time.perf_counter()
            await call()
            times.append((time.perf_counter() - began) * 1e3)
        cpu = (time.process_time() - cpu) * 1e3
        memory = megabytes("VmHWM") - memory
        writer.write(json.dumps([times, cpu, memory]).encode() + b"\n")
    writer.close()


def connected(path: str) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    return link


def inside(path: str, arguments: list[str]) -> int:
    """Run the program with a task that calls the tool of its first server."""
    import tui.cli
    from tui.ui.app import app as app_module

    class Called(app_module.McptuiApp):
        def on_mount(self) -> None:
            self.calling = asyncio.create_task(self.work())

        def exit(self, *arguments: object, **options: object) -> None:
            self.calling.cancel()
            super().exit(*arguments, **options)

        async def work(self) -> None:
            while (parts := self.main.parts) is None or not parts.runtime.host.toolbox.tools():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await asyncio.sleep(2)  # until the start is complete
            toolbox = parts.runtime.host.toolbox
            (tool,) = toolbox.tools()
            await answer(
                connected(path),
                lambda: toolbox.call(tool, ARGUMENTS, seconds=10, progress=lambda *_: None),
            )

    app_module.McptuiApp = Called  # type: ignore[misc]
    return tui.cli.main(arguments)


async def sdk(path: str, server: str) -> None:
    """Run the bare script; `server` is a URL or the path of a Python script."""
    from mcp import Client, StdioServerParameters

    where = server if "://" in server else StdioServerParameters(command=sys.executable, args=[server])
    async with Client(where) as client:
        name = (await client.list_tools()).tools[0].name
        await answer(connected(path), lambda: client.call_tool(name, ARGUMENTS))


@dataclass
class Caller:
    """A process that makes calls on request.

    `turns` has the milliseconds of each call by series, `cpu` the CPU milliseconds per call of each series,
    and `memory` the largest increase of memory within a series, in megabytes.
    """

    link: socket.socket
    turns: list[list[float]] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: float = 0.0

    def turn(self, calls: int) -> None:
        self.link.sendall(b"%d\n" % calls)
        data = b""
        while not data.endswith(b"\n"):
            data += self.link.recv(1 << 16)
        times, cpu, memory = json.loads(data)
        self.turns.append(times)
        self.cpu.append(cpu / calls)
        self.memory = max(self.memory, memory)

    @property
    def times(self) -> list[float]:
        return [one for turn in self.turns for one in turn]


@contextlib.contextmanager
def drained(app: object) -> Iterator[None]:
    """Read the program's output in a thread."""
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            app.pump(0.05)  # type: ignore[attr-defined]
            app.raw.clear()  # type: ignore[attr-defined]

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def callers(server: str, trees: list[Path], *, bare: bool = True) -> Iterator[list[Caller]]:
    """Start a bare script and the app of each checkout, in this order; `server` is as in `sdk`."""
    from tests.terminal.pty_app import TerminalApp, home_in

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = f"{folder}/calls"
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(path)
        listening.listen()
        found = []

        def accept(pump: Callable[[float], object] = time.sleep) -> None:
            until = time.monotonic() + 60
            while not select.select([listening], [], [], 0)[0]:
                pump(0.05)
                if time.monotonic() > until:
                    raise AssertionError("the program does not call")
            link = stack.enter_context(listening.accept()[0])
            link.recv(6)
            found.append(Caller(link))

        if bare:
            script = subprocess.Popen([sys.executable, __file__, SDK, path, server])
            stack.callback(script.wait)
            accept()
        for number, tree in enumerate(trees):
            home = Path(folder) / f"home{number}"
            home.mkdir()
            config = home / "config.toml"
            how = (
                f"url = {json.dumps(server)}\n"
                if "://" in server
                else f"command = {json.dumps(sys.executable)}\nargs = [{json.dumps(server)}]\n"
            )
            config.write_text(f"[servers.echo]\n{how}", encoding="utf-8")
            argv = [
                sys.executable,
                "-P",
                __file__,
                INSIDE,
                path,
                "--demo",
                "--trust-config",
                "--config",
                str(config),
            ]
            env = home_in(home) | {"PYTHONPATH": str(tree)}
            app = stack.enter_context(TerminalApp(argv, env=env, draws=False, fresh=True))
            accept(app.pump)
            stack.enter_context(drained(app))
        yield found
        for caller in found:
            caller.link.shutdown(socket.SHUT_RDWR)


def compared(what: str, server: str, calls: int, trees: list[Path], turn: int = TURN) -> list[Figure]:
    """Print the figures of each caller, in series of `turn` calls; return those of the first app."""
    with callers(server, trees) as found:
        bare, *apps = found
        for _ in range(3):
            for caller in found:
                caller.turn(turn)
        for caller in found:
            caller.turns.clear()
            caller.cpu.clear()
        for _ in range(max(4, calls // turn)):
            for caller in found:
                caller.turn(turn)
    for name, caller in zip(("SDK", *(str(tree) for tree in trees)), found, strict=True):
        median, cpu = statistics.median(caller.times), statistics.median(caller.cpu)
        print(f"{what}, {name}: median {median:.3f}, p95 {late(caller.times):.3f}, CPU {cpu:.3f} ms a call")
    figures = []
    for word, of, most in (("median", statistics.median, 1.15), ("p95", late, 1.5)):
        pairs = [of(ours) / of(theirs) for ours, theirs in zip(apps[0].turns, bare.turns, strict=True)]
        ratio = of(apps[0].times) / of(bare.times)
        beside = f"SDK {of(bare.times):.2f} ms"
        figures.append(Figure(f"{what}, {word}", ratio, "x the SDK's client", most, noise(pairs), beside))
    return figures


def only_read(server: str) -> float:
    """Return the milliseconds that a bare loop needs to read the line, once the server has started."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with subprocess.Popen(
        [sys.executable, server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdout.readline()
        began = time.perf_counter()
        process.stdin.write(json.dumps(call | {"method": "tools/call", "params": {}}).encode() + b"\n")
        while process.stdout.read(1 << 16)[-1:] != b"\n":
            pass
        took = (time.perf_counter() - began) * 1e3
        process.stdin.close()
    return took


def long_line(trees: list[Path], runs: int = 10) -> list[Figure]:
    """Return the figures of a line of 64 MiB, which is too long to be kept."""
    floor = []
    with callers(LONG_LINE_SERVER, trees, bare=False) as found:
        for caller in found:
            caller.turn(1)
            caller.turns.clear()
        for _ in range(runs):
            for caller in found:
                caller.turn(1)
            floor.append(only_read(LONG_LINE_SERVER))
    for tree, caller in zip(trees, found, strict=True):
        median, cpu = statistics.median(caller.times), statistics.median(caller.cpu)
        print(f"line of 64 MiB, {tree}: median {median:.0f} ms, CPU {cpu:.0f} ms, +{caller.memory:.0f} MB")
    ours = found[0]
    beside = f"read loop {statistics.median(floor):.0f} ms"
    median, spread = statistics.median(ours.times), noise(ours.times)
    return [
        Figure("line of 64 MiB", median, "ms", 400, spread, beside),
        Figure("line of 64 MiB, memory", ours.memory, "MB", 20),
    ]


def main() -> int:
    """Measure over stdio; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", nargs="?", type=int, default=15000)
    parser.add_argument("--tree", type=Path)
    given = parser.parse_args()
    trees = [ROOT, *([given.tree] if given.tree else [])]
    figures = compared("tool call over stdio", SERVER, given.calls, trees)
    return judged(figures + long_line(trees))


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        sys.exit(inside(sys.argv[2], sys.argv[3:]))
    if sys.argv[1:2] == [SDK]:
        asyncio.run(sdk(*sys.argv[2:]))
        sys.exit()
    sys.exit(main())
