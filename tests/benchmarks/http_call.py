"""Remote servers: cost of a call compared with the bare SDK, stalls by large answers, idle memory.

Run it: python tests/benchmarks/http_call.py [CALLS]
The server uses the SDK and runs in its own process. Calls are measured as in `tool_call.py`. The bare SDK
opens a new connection after each event stream.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.benchmarks.figures import judged  # noqa: E402
from tests.benchmarks.tool_call import compared  # noqa: E402
from tests.http_server import STREAM, Asked, HttpServer, event, http_server  # noqa: E402
from tui.core.ports import MonotonicClock  # noqa: E402
from tui.core.servers import ServerSpec, Transport  # noqa: E402
from tui.host.host import Host  # noqa: E402

MIB = 1024 * 1024
SERVE, SERVE_LARGE = "--serve", "--serve-large"
TURN = 100
"""Calls in a row; they take about half a second."""


def serve(port: int) -> None:
    """Run the echo server on a port."""
    from mcp.server.mcpserver import MCPServer

    app = MCPServer("echo", log_level="ERROR")

    @app.tool()
    def echo(text: str) -> str:
        return text

    app.run(transport="streamable-http", host="127.0.0.1", port=port)


def _process(*how: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, *how], stdout=subprocess.PIPE)


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """Run the server in a process and yield its URL."""
    listening = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    listening.close()
    await listening.wait_closed()
    process = _process(SERVE, str(port))
    try:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def host_of(*urls: str) -> Host:
    """Return a host with a remote server for each URL."""
    specs = [ServerSpec(f"far{number}", transport=Transport.HTTP, url=url) for number, url in enumerate(urls)]
    return Host(specs, sink=lambda *_: None, clock=MonotonicClock())


class Stalls:
    """Measures the longest stall of the event loop, and the most CPU time spent within one.

    On a busy machine the stall also includes time taken by other processes.
    """

    def __init__(self) -> None:
        self.longest = self.computed = 0.0
        self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            before, spent = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.perf_counter() - before - 0.001)
            self.computed = max(self.computed, time.thread_time() - spent)

    def end(self) -> str:
        self._task.cancel()
        return f"longest stall {self.longest * 1e3:.0f} ms, computing {self.computed * 1e3:.0f} ms"


async def _large(
    server: HttpServer, asked: Asked, writer: asyncio.StreamWriter, *, mib: int, stream: bool
) -> None:
    head = json.dumps({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": []}})[:-2]
    text = json.dumps("a word " * 9_000)[1:-1].encode()
    parts = (mib * MIB) // (len(text) + 50)
    writer.write(
        STREAM + b"\r\ndata: "
        if stream
        else b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n"
    )
    writer.write(head[:-2].encode() + b"[")
    for number in range(parts):
        writer.write(b'%s{"type":"text","text":"%s"}' % (b"," if number else b"", text))
        await writer.drain()
    writer.write(b"]}}\n\n")
    writer.close()


async def _storm(server: HttpServer, asked: Asked, writer: asyncio.StreamWriter) -> None:
    one = event(
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    )
    writer.write(STREAM + b"\r\n")
    for _ in range(200):
        writer.write(one * 100)
        await writer.drain()
    writer.write(event({"jsonrpc": "2.0", "id": asked.message["id"], "result": server.result(asked)}))
    writer.close()


async def serve_large() -> None:
    """Run the server of large answers."""
    async with http_server() as server:

        async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
            await ANSWERS[asked.message["params"]["arguments"]["kind"]](server, asked, writer)

        server.answers["tools/call"] = answer
        print(server.url, flush=True)
        await asyncio.Event().wait()


ANSWERS = {
    "15 MiB body": lambda *how: _large(*how, mib=15, stream=False),
    "15 MiB event": lambda *how: _large(*how, mib=15, stream=True),
    "48 MiB body": lambda *how: _large(*how, mib=48, stream=False),
    "64 MiB event": lambda *how: _large(*how, mib=64, stream=True),
    "20,000 notifications": _storm,
}


async def stalls() -> None:
    """Print the duration and the longest stall for each kind of large answer."""
    process = _process(SERVE_LARGE)
    try:
        assert process.stdout is not None
        host = host_of(process.stdout.readline().decode().strip())
        await host.start_all()
        (tool,) = host.toolbox.tools()
        for kind in ANSWERS:
            watch = Stalls()
            await asyncio.sleep(0.2)
            began = time.perf_counter()
            result = await host.toolbox.call(tool, {"kind": kind}, seconds=60, progress=lambda *_: None)
            took = time.perf_counter() - began
            await asyncio.sleep(0.2)
            said = str(getattr(result.content[0], "text", ""))[:60] if result.is_error else "answered"
            print(f"{kind:>21}: {took:.2f} s, {watch.end()}, {said}")
        await host.shutdown()
    finally:
        process.kill()
        process.wait()


async def memory(url: str, count: int = 10) -> None:
    """Print the memory and CPU of idle remote servers beyond the first one."""
    first = host_of(url)
    await first.start_all()
    before = psutil.Process().memory_info().rss
    more = host_of(*[url] * count)
    await more.start_all()
    await asyncio.sleep(1)
    after = psutil.Process().memory_info().rss
    cpu = time.process_time()
    await asyncio.sleep(5)
    spent = time.process_time() - cpu
    print(f"{count} idle servers: +{(after - before) / 1e6:.1f} MB, {spent / 5 * 100:.2f} % of a core")
    await more.shutdown()
    await first.shutdown()


async def main(calls: int) -> int:
    """Measure everything; return the exit code."""
    async with served() as url:
        await memory(url)
        figures = await asyncio.to_thread(compared, "tool call over HTTP", url, calls, [ROOT], turn=TURN)
    await stalls()
    return judged(figures)


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve(int(sys.argv[2]))
    elif sys.argv[1:2] == [SERVE_LARGE]:
        asyncio.run(serve_large())
    else:
        sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))
