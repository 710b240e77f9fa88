"""The door of a running mcptui: a real app's runtime at one end, and another process at the other."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.unit.addons.up.stage import asked
from tui.addons.up.door import Door
from tui.core.questions import Action, Question, QuestionAnswer
from tui.runtime.local_socket import line_of, sockets_folder
from tui.runtime.runtime import Runtime

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def test_the_socket_is_private_and_gone_when_the_app_has_ended(runtime: Runtime):
    (path,) = sockets_folder("up").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    await runtime.shutdown()
    assert not path.exists()


async def test_who_attaches_is_known_until_it_leaves(runtime: Runtime):
    door: Door = runtime.door
    seen: list[tuple[str, bool]] = []
    door.listeners.append(lambda peer, is_there: seen.append((peer.label, is_there)))
    await asked("servers")
    await until(lambda: len(seen) == 2)
    assert seen == [("a test", True), ("a test", False)] and not door.peers


async def test_one_that_refuses_tells_why(runtime: Runtime):
    runtime.door.refuse("refused by the user")
    program = "from tui.addons.up.running import doors; print([(one.refused, one.pid) for one in doors()])"
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.stdout == f"[('refused by the user', {os.getpid()})]\n"


async def test_another_user_is_disconnected_unread(runtime: Runtime, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.up.door.is_own", lambda peer: False)
    (path,) = sockets_folder("up").iterdir()
    reader, writer = await asyncio.open_unix_connection(str(path))
    assert await reader.read() == b"" and not runtime.door.peers
    writer.close()
    await writer.wait_closed()


@asynccontextmanager
async def connection() -> AsyncIterator[Connection]:
    (path,) = sockets_folder("up").iterdir()
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        await reader.readline()
        yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()


async def test_what_is_not_a_request_is_an_error_or_ends_the_connection(runtime: Runtime):
    async with connection() as (reader, writer):
        for method, params, why in (
            ("no such", {}, "does not know no such"),
            (["log"], {}, "does not know "),
            ("log", 7, "not found"),
        ):
            writer.write(line_of({"id": 1, "method": method, "params": params}))
            assert why in json.loads(await reader.readline())["error"]["why"]
        writer.write(b"garbage\n")
        assert await reader.read() == b""
    await until(lambda: not runtime.door.peers)


async def test_a_process_that_connected_before_it_was_refused_is_disconnected(runtime: Runtime):
    async with connection() as (reader, _):
        runtime.door.refuse("refused by the user")
        assert await reader.read() == b""


async def test_nothing_is_told_before_the_user_allows_it(runtime: Runtime, monkeypatch: pytest.MonkeyPatch):
    async def declines(question: Question) -> QuestionAnswer:
        return QuestionAnswer(Action.DECLINE)

    monkeypatch.setattr(Door, "setting", "ask")
    monkeypatch.setattr(runtime.questioner, "ask", declines)
    async with connection() as (reader, writer):
        writer.write(line_of({"id": 1, "method": "servers"}))
        for waits in (True, False):
            assert json.loads(await reader.readline())["note"] == {"wait": waits}
        assert "does not allow" in json.loads(await reader.readline())["error"]["why"]
    assert runtime.door.refuses == "its user refuses commands"  # a no is for all
