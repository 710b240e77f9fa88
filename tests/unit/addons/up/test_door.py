"""The door of a running mcptui: a real app's runtime at one end, and another process at the other."""

import asyncio
import json
import subprocess
import sys

import pytest

from tests.conftest import until
from tests.unit.addons.up.stage import asked
from tui.addons.up.door import Door
from tui.runtime.local_socket import sockets_folder
from tui.runtime.runtime import Runtime


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
    program = "from tui.addons.up.running import every_door; print([one.refused for one in every_door()])"
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.stdout == "['refused by the user']\n"


async def test_another_user_is_disconnected_unread(runtime: Runtime, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.up.door.is_own", lambda peer: False)
    (path,) = sockets_folder("up").iterdir()
    reader, writer = await asyncio.open_unix_connection(str(path))
    assert await reader.read() == b"" and not runtime.door.peers
    writer.close()
    await writer.wait_closed()


async def test_what_is_not_a_request_or_too_long_ends_or_is_an_error(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
):
    (path,) = sockets_folder("up").iterdir()
    reader, writer = await asyncio.open_unix_connection(str(path))
    await reader.readline()
    writer.write(b"garbage\n[1]\n" + b'{"id":1,"method":"no such"}\n{"id":2,"method":"log","params":7}\n')
    answers = [json.loads(await reader.readline()) for _ in range(2)]
    assert "does not know no such" in answers[0]["error"]["why"] and "not found" in answers[1]["error"]["why"]
    writer.close()
    await writer.wait_closed()
    await until(lambda: not runtime.door.peers)
