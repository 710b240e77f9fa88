"""`mcptui tap --watch` replaces a server while the session of its host lives on."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.protocol.command import start
from tests.protocol.test_tap import recorded
from tui.core.traffic import Kind, Severity
from tui.traffic.lint.lint import Linter

pytestmark = pytest.mark.usefixtures("quick_python")

SERVER = """\
import json, sys
VERSION, TOOLS, LOCK = {version!r}, {tools!r}, {lock!r}
if LOCK:
    import fcntl
    file = open(LOCK, "w")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
level = None
for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked.get("method"), asked.get("params") or {{}}
    if "id" not in asked or params.get("name") == "never":
        continue
    if params.get("name") == "crash":
        raise KeyError("boom")
    result = {{}}
    if method == "initialize":
        result = {{"protocolVersion": params["protocolVersion"], "capabilities": {{"tools": {{}}}}}}
        result["serverInfo"] = {{"name": "s", "version": "1"}}
    elif method == "logging/setLevel":
        level = params["level"]
    elif method == "tools/list":
        result = {{"tools": [{{"name": name, "inputSchema": {{"type": "object"}}}} for name in TOOLS]}}
    elif method == "tools/call":
        result = {{"content": [{{"type": "text", "text": f"{{VERSION}} {{level}}"}}]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": result}}), flush=True)
"""


class TapHost:
    """A host whose server is tapped; `notes` are the notifications that it got."""

    def __init__(self, process: asyncio.subprocess.Process, file: Path) -> None:
        self.process, self.file = process, file
        self.notes: list[str] = []
        self.said: list[str] = []
        self._number = 0
        self._reading = asyncio.create_task(self._read_log())

    async def _read_log(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.said.append(line.decode())

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def ask(self, method: str, **params: Any) -> Any:
        """Return the result of a request, or the message of its error."""
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        return await self.answer(self._number)

    async def answer(self, known: int | str) -> Any:
        assert self.process.stdout is not None
        async with asyncio.timeout(20):
            while line := await self.process.stdout.readline():
                found = json.loads(line)
                if found.get("id") == known:
                    return found["result"] if "result" in found else found["error"]["message"]
                self.notes.append(found["method"])
        raise EOFError

    async def version(self) -> str:
        return str((await self.ask("tools/call", name="a"))["content"][0]["text"])

    async def save(self, said: str, text: str = "", **more: Any) -> None:
        """Save the server, and wait until the tap has said something about it."""
        before = len(self.said)
        write(self.file, text, **more)
        try:
            await until(lambda: any(said in line for line in self.said[before:]), seconds=30)
        except AssertionError:
            raise AssertionError(str(self.said)) from None


def write(file: Path, text: str = "", **more: Any) -> None:
    source = text or SERVER.format(**{"version": 1, "tools": ["a"], "lock": ""} | more)
    draft = file.with_suffix(".draft")  # as editors do
    draft.write_text(source)
    os.replace(draft, file)


@asynccontextmanager
async def tapped(folder: Path, **more: Any) -> AsyncIterator[TapHost]:
    file = folder / "server.py"
    write(file, **more)
    process = await start("tap", "--watch", str(file), "--", sys.executable, str(file))
    host = TapHost(process, file)
    await host.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
    host.send(method="notifications/initialized")
    await host.ask("logging/setLevel", level="debug")
    await host.ask("tools/list")
    await until(lambda: host.said)
    try:
        yield host
    finally:
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(20):
            await process.wait()
            await host._reading


async def test_a_saved_server_serves_the_same_session(tmp_path: Path):
    async with tapped(tmp_path) as host:
        await host.save("restarted in", version=2)
        assert (await host.version(), host.notes) == ("2 debug", [])
        await host.save("changed: tools", version=3, tools=["a", "b"])
        assert (await host.version(), host.notes) == ("3 debug", ["notifications/tools/list_changed"])
    events = [entry.detail.get("event") for entry, _ in recorded() if "event" in entry.detail]
    assert events.count("restarted") == 2


async def test_the_recording_of_a_replaced_server_has_all_that_both_processes_were_sent(tmp_path: Path):
    async with tapped(tmp_path) as host:
        await host.save("SyntaxError: invalid syntax", "def (\n")
        await host.save("restarted in", version=2)
        await host.save("changed: tools", version=3, tools=["a", "b"])
        assert await host.version() == "3 debug"
    entries, lint = recorded(), Linter()
    requests = [entry for entry, _ in entries if entry.kind is Kind.REQUEST]
    asked = [entry.method for entry in requests if "mcptui-watch" in entry.ident]
    assert asked == ["initialize", "logging/setLevel", "tools/list"] * 2
    assert sum(entry.detail.get("event") == "spawn" for entry, _ in entries) == 3
    found = [one for entry, body in entries for one in lint.feed(entry._replace(body=body))]
    worst = {one.code for one in found if one.severity >= Severity.WARNING}
    assert worst == {"not-negotiated"}  # the level, which the host sets although the server has none


async def test_a_server_that_may_lack_what_is_in_use_is_tried_once_without_the_old_one(tmp_path: Path):
    pid = tmp_path / "pid"
    quits = f"import atexit, os, sys\nos.path.exists({str(pid)!r}) and sys.exit('pidfile exists')\n"
    quits += f"open({str(pid)!r}, 'w')\natexit.register(os.remove, {str(pid)!r})\n"
    async with tapped(tmp_path) as host:
        source = SERVER.format(version=2, tools=["a"], lock="")
        await host.save("restarted in", quits + source)
        await host.save(
            "restarted in", quits + source.replace("VERSION,", "VERSION, _,", 1).replace("2, ", "3, 0, ", 1)
        )
        assert await host.version() == "3 debug"


async def test_a_call_under_way_gets_one_error_and_a_broken_save_changes_nothing(tmp_path: Path):
    async with tapped(tmp_path) as host:
        host.send(id="slow", method="tools/call", params={"name": "never"})
        await host.save("SyntaxError: invalid syntax", "def (\n")
        assert await host.version() == "1 debug"
        await host.save("unfinished requests that failed: 1", version=2)
        assert "restarted because server.py changed" in await host.answer("slow")
        assert await host.version() == "2 debug"


async def test_a_server_that_needs_the_old_one_gone_gets_it_gone(tmp_path: Path):
    lock = str(tmp_path / "lock")
    async with tapped(tmp_path, lock=lock) as host:
        await host.save("restarted in", version=2, lock=lock)
        assert await host.version() == "2 debug"


async def test_a_server_that_crashes_is_told_and_starts_again_when_it_is_saved(tmp_path: Path):
    async with tapped(tmp_path) as host:
        said = await host.ask("tools/call", name="crash")
        assert "KeyError: 'boom'" in said and "server.py:" in said
        assert await host.ask("ping") == said
        await host.save("restarted in", version=2)
        assert await host.version() == "2 debug"


async def test_a_signal_ends_a_tap_whose_server_ends_by_it(tmp_path: Path):
    async with tapped(tmp_path) as host:
        host.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(5):
            assert await host.process.wait() == -signal.SIGTERM


async def test_what_an_old_server_has_started_is_ended(tmp_path: Path, own_python: None):
    child = "import subprocess; subprocess.Popen(['sleep', '987'], stdout=-3, stdin=-3, stderr=-3)\n"
    write(tmp_path / "server.py")
    async with tapped(tmp_path) as host:
        await host.save("restarted in", child + SERVER.format(version=2, tools=["a"], lock=""))
        assert await host.version() == "2 debug"
        mark = f"MCPTUI_OWNER=tap-{host.process.pid}-".encode()
        assert len(_running(mark, b"sleep")) == 1
        await host.save("restarted in", version=3)
        await until(lambda: not _running(mark, b"sleep"), seconds=5)


def _running(mark: bytes, program: bytes) -> list[str]:
    """Return the processes of a program whose environment has a mark."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if (folder / "cmdline").read_bytes().startswith(program):
                found += [folder.name] if mark in (folder / "environ").read_bytes() else []
    return found
