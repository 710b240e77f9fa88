"""The door of a running mcptui: a real app's runtime at one end, and another process at the other."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.terminal.pty_app import ROOT
from tui.addons.up.door import Door
from tui.addons.up.running import every_door
from tui.runtime.local_socket import sockets_folder
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

ASKS = """
import asyncio, json, sys
from tui.addons.up.running import running

async def ask():
    (door,) = running()
    said = await door.request(sys.argv[1], json.loads(sys.argv[2]), label="a test", command="mcptui test")
    print(json.dumps([door.about, said]))

asyncio.run(ask())
"""


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    file = tmp_path / "config.toml"
    file.write_text(server("weather", ROOT / "sample_config" / "servers" / "weather.py"))
    made = Runtime(Options(config=str(file), trust_config=True), dict(os.environ))
    try:
        await made.ready(model=False, taps=False)
        await until(lambda: made.door.is_open and made.workbench.is_running("weather"))
        yield made
    finally:
        await made.shutdown()


async def asked(method: str, **params: object) -> object:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ASKS, method, json.dumps(params)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return json.loads(out)


async def test_another_process_finds_the_app_and_asks_for_its_servers(runtime: Runtime):
    about, (weather,) = await asked("servers")  # type: ignore[misc]
    assert about["pid"] == os.getpid() and about["kind"] == "app" and about["servers"] == ["weather"]
    assert weather["name"] == "weather" and weather["state"] == "RUNNING" and weather["tools"] > 0


async def test_the_log_of_a_server_is_told(runtime: Runtime):
    _, said = await asked("log", server="weather", limit=2)  # type: ignore[misc]
    assert said["server"] == "weather" and len(said["lines"]) <= 2


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


async def test_a_process_does_not_find_itself(runtime: Runtime):
    assert every_door() == []
