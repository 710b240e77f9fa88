"""`mcptui tap --watch --listen` replaces an HTTP server while the sessions of its hosts live on."""

import asyncio
import json
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp_types import ElicitResult, TextContent

from tests.conftest import until
from tests.protocol.command import start
from tests.protocol.test_tap import recorded
from tui.addons.watch.ports import answers
from tui.traffic.lint.lint import Linter

pytestmark = pytest.mark.usefixtures("quick_python")

SERVER = """\
import json, queue, sys, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
VERSION, TOOLS = {version!r}, {tools!r}
sessions, answers = set(), queue.Queue()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def stream(self, *messages):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for message in messages:
            self.event(message)
        time.sleep(60)

    def event(self, message):
        self.wfile.write(b"data: " + json.dumps(message).encode() + b"\\n\\n")

    def form(self, known):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        wanted = {{"type": "object", "properties": {{"city": {{"type": "string"}}}}}}
        params = {{"message": "Which city?", "requestedSchema": wanted}}
        self.event({{"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params}})
        said = [{{"type": "text", "text": f"{{VERSION}} {{answers.get()['content']['city']}}"}}]
        self.event({{"jsonrpc": "2.0", "id": known, "result": {{"content": said}}}})
        self.close_connection = True

    def refused(self):
        session = self.headers.get("mcp-session-id")
        if session is not None and session not in sessions:
            self.answer(404, b"")
        return session is not None and session not in sessions

    def do_GET(self):
        if not self.refused():
            params = {{"level": "info", "data": ""}}
            self.stream({{"jsonrpc": "2.0", "method": "notifications/message", "params": params}})

    def do_DELETE(self):
        self.answer(200, b"")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, params = asked.get("method"), asked.get("params") or {{}}
        if self.refused():
            return
        if method is None:
            answers.put(asked["result"])
        if method is None or "id" not in asked:
            return self.answer(202, b"")
        more, result = [], {{}}
        if method == "initialize":
            session = uuid.uuid4().hex
            sessions.add(session)
            more = [("mcp-session-id", session)]
            result = {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}}}}
            result["serverInfo"] = {{"name": "s", "version": "1"}}
        elif method == "subscriptions/listen":
            meta = {{"_meta": {{"io.modelcontextprotocol/subscriptionId": asked["id"]}}}}
            said = {{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": meta}}
            return self.stream(said)
        elif method == "tools/list":
            result = {{"tools": [{{"name": name, "inputSchema": {{"type": "object"}}}} for name in TOOLS]}}
        elif params.get("name") == "form":
            return self.form(asked["id"])
        elif params.get("name") == "never":
            sys.stderr.write("got never\\n")
            time.sleep(60)
        elif params.get("name") == "stream":
            sys.stderr.write("got stream\\n")
            return self.stream({{"jsonrpc": "2.0", "method": "notifications/progress", "params": {{}}}})
        else:
            result = {{"version": VERSION}}
        self.answer(200, json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": result}}).encode(), more)

    def answer(self, status, body, more=()):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class HttpHost:
    """A host of a tapped HTTP server."""

    def __init__(self, process: asyncio.subprocess.Process, file: Path) -> None:
        self.process, self.file = process, file
        self.said: list[str] = []
        self.headers = {"accept": "application/json, text/event-stream"}
        self.client = httpx2.AsyncClient(timeout=20)
        self.url = ""
        self._number = 0
        self._reading = asyncio.create_task(self._read_log())

    async def _read_log(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.said.append(line.decode())
            if found := re.search(r"listening on (\S+),", self.said[-1]):
                self.url = found[1]

    async def ask(self, method: str, **params: Any) -> Any:
        """Return the result of a request, or the message of its error."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        answer = await self.client.post(self.url, json=asked, headers=self.headers)
        if session := answer.headers.get("mcp-session-id"):
            self.headers["mcp-session-id"] = session
        found = json.loads(answer.text.split("data: ")[-1])
        return found["result"] if "result" in found else found["error"]["message"]

    async def version(self) -> Any:
        return (await self.ask("tools/call", name="a"))["version"]

    async def save(self, said: str, text: str = "", **more: Any) -> None:
        """Save the server, and wait until the tap has said something about it."""
        before = len(self.said)
        write(self.file, text, **more)
        await until(lambda: any(said in line for line in self.said[before:]), seconds=30)

    @asynccontextmanager
    async def stream(self, asked: Any = None) -> AsyncIterator[list[Any]]:
        """Open a stream, which a request opens, or a GET; yield what it has brought so far."""
        found: list[Any] = []

        async def read() -> None:
            method = "POST" if asked else "GET"
            request = self.client.stream(method, self.url, json=asked, headers=self.headers)
            async with request as answer:
                async for line in answer.aiter_lines():
                    found.extend([json.loads(line[6:])] if line.startswith("data: ") else [])

        reading = asyncio.create_task(read())
        await until(lambda: bool(found), seconds=30)
        yield found
        assert not reading.done()
        reading.cancel()


def write(file: Path, text: str = "", **more: Any) -> None:
    file.write_text(text or SERVER.format(**{"version": 1, "tools": ["a"]} | more))


@asynccontextmanager
async def tapped(folder: Path, port: str) -> AsyncIterator[HttpHost]:
    file = folder / "server.py"
    write(file)
    to = f"http://127.0.0.1:{port}/mcp"
    command = (sys.executable, str(file), port)
    host = HttpHost(
        await start("tap", "--watch", str(file), "--listen", "0", "--to", to, "--", *command), file
    )
    await until(lambda: bool(host.url) and any("restarts the server" in one for one in host.said), seconds=30)
    try:
        yield host
    finally:
        host.process.terminate()
        async with asyncio.timeout(20):
            await host.process.wait()
            await host._reading
        await host.client.aclose()


async def test_a_session_and_its_stream_live_on(tmp_path: Path, free_port: str):
    async with tapped(tmp_path, free_port) as host:
        await host.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        await host.ask("tools/list")
        async with host.stream() as stream:
            under_way = [
                asyncio.create_task(host.ask("tools/call", name=name)) for name in ("never", "stream")
            ]
            await until(lambda: {"got never\n", "got stream\n"} <= {*host.said}, seconds=30)
            await host.save("changed: tools", version=2, tools=["a", "b"])
            for failed in await asyncio.gather(*under_way):
                assert "restarted because server.py changed" in failed
            await until(lambda: len(stream) == 3, seconds=30)
            assert [one["method"].rpartition("/")[2] for one in stream] == [
                "message",
                "list_changed",
                "message",
            ]
            assert await host.version() == 2
    entries, lint = recorded(), Linter()
    events = [entry.detail.get("event") for entry, _ in entries if "event" in entry.detail]
    assert (events.count("restarted"), events.count("spawn")) == (1, 2)
    found = [one for entry, body in entries for one in lint.feed(entry._replace(body=body))]
    assert [one.code for one in found if "mcptui" in one.sentence or one.code == "before-initialize"] == []


async def test_a_change_stream_lives_on_and_is_told(tmp_path: Path):
    async with tapped(tmp_path, "{port}") as host:
        await host.ask("tools/list")
        opened = {"notifications": {"toolsListChanged": True}}
        asked = {"jsonrpc": "2.0", "id": 70, "method": "subscriptions/listen", "params": opened}
        async with host.stream(asked) as stream:
            await host.save("SyntaxError", "def (\n")
            assert await host.version() == 1
            await host.save("restarted in", version=2, tools=["b"])
            await until(lambda: len(stream) == 2, seconds=30)
            assert stream[1]["method"] == "notifications/tools/list_changed"
            assert stream[1]["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 70}
            assert await host.version() == 2


async def test_without_a_server_requests_say_why(tmp_path: Path, free_port: str):
    async with tapped(tmp_path, free_port) as host:
        assert await host.version() == 1
        await host.save("not restarted", "raise KeyError('boom')\n")
        assert "KeyError: 'boom'" in await host.ask("ping")
        await host.save("restarted in", version=2)
        assert await host.version() == 2


async def test_a_form_of_a_server_that_is_gone_is_taken_back_and_the_next_one_works(
    tmp_path: Path, free_port: str
):
    shown: list[asyncio.Event] = []
    withdrawn: list[int] = []

    async def fill(context: Any, params: Any) -> ElicitResult:
        shown.append(asyncio.Event())
        number = len(shown) - 1
        try:
            await shown[number].wait()
        except asyncio.CancelledError:
            withdrawn.append(number)
            raise
        return ElicitResult(action="accept", content={"city": "Oslo"})

    async with tapped(tmp_path, free_port) as host:
        async with Client(host.url, mode="legacy", elicitation_callback=fill) as client:
            calling = asyncio.create_task(client.call_tool("form", {}))
            await until(lambda: len(shown) == 1, seconds=30)
            await host.save("restarted in", version=2)
            with pytest.raises(MCPError, match="restarted because server"):
                await calling
            await until(lambda: withdrawn == [0])
            calling = asyncio.create_task(client.call_tool("form", {}))
            await until(lambda: len(shown) == 2, seconds=30)
            shown[1].set()
            (said,) = (await calling).content
            assert isinstance(said, TextContent) and said.text == "2 Oslo"


async def test_a_tap_that_ends_while_an_old_server_ends_ends_that_too(tmp_path: Path, free_port: str):
    stubborn = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    async with tapped(tmp_path, free_port) as host:
        await host.save("restarted in", stubborn + SERVER.format(version=2, tools=["a"]))
        under_way = asyncio.create_task(host.ask("tools/call", name="never"))
        await until(lambda: "got never\n" in host.said, seconds=30)
        write(host.file)
        assert "restarted because server.py changed" in await under_way
    assert not await answers("127.0.0.1", int(free_port))
