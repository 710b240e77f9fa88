"""Cost of a tool call in the whole program, compared with the same call through the SDK's client.

The app runs in a pty as it starts (screen, recorder writing a file; the linter runs once the traffic is
shown) and calls a tool of its own server. A bare script does the same with the SDK's client. They alternate
after a series of calls, so that the ratio is valid on a busy machine too. A series lasts several times as
long as the recorder's delay, so that the work of the recorder falls within it. The same is measured over
HTTP, where the bare SDK opens a new connection after each event stream.
Another server answers with a line of 64 MiB, which is compared with a loop that only reads it.
"""

import asyncio
import contextlib
import json
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

from tests.benchmarks.figures import Figure, late, middle, noise
from tests.benchmarks.program import ROOT, STUB, installed
from tests.configurations import config_file, server, table
from tests.terminal.pty_app import TerminalApp

LONG_LINE_SERVER = ROOT / "tests" / "corpus" / "faults" / "huge_line_64mib.py"
HTTP_SERVER = """
import sys
from mcp.server.mcpserver import MCPServer

app = MCPServer("echo", log_level="ERROR")

@app.tool()
def echo(text: str) -> str:
    return text

app.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""
INSIDE, SDK = "--inside", "--sdk"
THIS = [sys.executable, "-m", "tests.benchmarks.tool_call"]
ARGUMENTS = {"text": "hello"}
CALLS, TURN = 15_000, 500
"""Calls over stdio, and how many in a row. In about 100 ms, the recorder works three times."""

HTTP_CALLS, HTTP_TURN = 1_000, 100


def megabytes(what: str) -> float:
    """Return the memory of this process, or its peak for "VmHWM"."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024 / 1e6


def memory_from_here() -> float:
    """Return the memory of this process, and reset its recorded peak."""
    Path("/proc/self/clear_refs").write_text("5")
    return megabytes("VmRSS")


async def answer(path: str, call: Callable[[], Awaitable[object]]) -> None:
    """Make as many calls as requested; report the time of each call, and the memory of all."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"ready\n")
    while line := await reader.readline():
        times, memory = [], memory_from_here()
        for _ in range(int(line)):
            began = time.perf_counter()
            await call()
            times.append((time.perf_counter() - began) * 1e3)
        writer.write(json.dumps([times, megabytes("VmHWM") - memory]).encode() + b"\n")
    writer.close()


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
            await answer(path, lambda: toolbox.call(tool, ARGUMENTS, seconds=60, progress=lambda *_: None))

    app_module.McptuiApp = Called  # type: ignore[misc]
    return tui.cli.main(arguments)


async def sdk(path: str, where: str) -> None:
    """Run the bare script; `where` is a URL or the path of a Python script."""
    from mcp import Client, StdioServerParameters

    target = where if "://" in where else StdioServerParameters(command=sys.executable, args=[where])
    async with Client(target) as client:
        name = (await client.list_tools()).tools[0].name
        await answer(path, lambda: client.call_tool(name, ARGUMENTS))


@dataclass
class Caller:
    """A process that makes calls on request.

    `turns` has the milliseconds of each call by series, and `memory` the largest increase of memory within a
    series, in megabytes.
    """

    link: socket.socket
    turns: list[list[float]] = field(default_factory=list)
    memory: float = 0.0

    def turn(self, calls: int) -> None:
        self.link.sendall(b"%d\n" % calls)
        data = b""
        while not data.endswith(b"\n"):
            data += self.link.recv(1 << 16)
        times, memory = json.loads(data)
        self.turns.append(times)
        self.memory = max(self.memory, memory)

    @property
    def times(self) -> list[float]:
        return [one for turn in self.turns for one in turn]


@contextlib.contextmanager
def drained(app: TerminalApp) -> Iterator[None]:
    """Read the program's output in a thread."""
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            app.pump(0.05)
            app.raw.clear()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def callers(where: str) -> Iterator[tuple[Caller, Caller]]:
    """Start the bare script and the app; `where` is as in `sdk`."""
    with contextlib.ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        path = f"{home}/calls"
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(path)
        listening.listen()
        listening.settimeout(60)

        def accept() -> Caller:
            link = stack.enter_context(listening.accept()[0])
            link.recv(6)
            return Caller(link)

        script = subprocess.Popen([*THIS, SDK, path, where], cwd=ROOT)
        stack.callback(script.wait)
        bare = accept()
        echo = table("servers.echo", url=where) if "://" in where else server("echo", where)
        config = config_file(Path(home), echo)
        argv = [*THIS, INSIDE, path, "--demo", "--trust-config", "--config", config]
        app = stack.enter_context(TerminalApp(argv, env=installed(home), draws=False))
        stack.enter_context(drained(app))
        ours = accept()
        yield bare, ours
        for caller in (bare, ours):
            caller.link.shutdown(socket.SHUT_RDWR)


def compared(what: str, where: str, calls: int, turn: int, most_median: float) -> list[Figure]:
    """Return the figures of calls, in series of `turn` calls."""
    with callers(where) as (bare, ours):
        for number in range(max(4, calls // turn) + 3):
            if number == 3:  # the first series are a warm-up
                bare.turns.clear()
                ours.turns.clear()
            bare.turn(turn)
            ours.turn(turn)
    figures = []
    for word, of, most in (("median", statistics.median, most_median), ("p95", late, 1.5)):
        pairs = [of(mine) / of(theirs) for mine, theirs in zip(ours.turns, bare.turns, strict=True)]
        ratio, beside = of(ours.times) / of(bare.times), f"SDK {of(bare.times):.2f} ms"
        figures.append(Figure(f"{what}, {word}", ratio, "x the SDK's client", most, noise(pairs), beside))
    return figures


@contextlib.contextmanager
def http_server() -> Iterator[str]:
    """Run a remote server in its own process; yield its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", HTTP_SERVER, str(port)])
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def only_read() -> float:
    """Return the milliseconds that a bare loop needs to read the line, once the server has started."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen([sys.executable, str(LONG_LINE_SERVER)], **pipes) as process:
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdout.readline()
        began = time.perf_counter()
        process.stdin.write(json.dumps(call | {"method": "tools/call", "params": {}}).encode() + b"\n")
        while process.stdout.read(1 << 16)[-1:] != b"\n":
            pass
        took = (time.perf_counter() - began) * 1e3
        process.stdin.close()
    return took


def long_line(runs: int = 10) -> list[Figure]:
    """Return the figures of a line of 64 MiB, which is too long to be kept."""
    floor = []
    with callers(str(LONG_LINE_SERVER)) as (_, ours):
        ours.turn(1)
        ours.turns.clear()
        for _ in range(runs):
            ours.turn(1)
            floor.append(only_read())
    beside = f"read loop {statistics.median(floor):.0f} ms"
    return [
        middle("line of 64 MiB", ours.times, "ms", 400, beside),
        Figure("line of 64 MiB, memory", ours.memory, "MB", 28),
    ]


def measure(calls: int = CALLS, http_calls: int = HTTP_CALLS) -> list[Figure]:
    figures = compared("tool call over stdio", str(STUB), calls, TURN, 0.95) + long_line()
    with http_server() as url:
        return figures + compared("tool call over HTTP", url, http_calls, HTTP_TURN, 1.0)


if __name__ == "__main__":
    if sys.argv[1] == INSIDE:
        sys.exit(inside(sys.argv[2], sys.argv[3:]))
    asyncio.run(sdk(*sys.argv[2:]))
