"""What a running app tells about its servers."""

import os

from tests.unit.addons.up.stage import asked
from tui.runtime.runtime import Runtime


async def test_another_process_finds_the_app_and_asks_for_its_servers(runtime: Runtime):
    about, (weather, _) = await asked("servers")  # type: ignore[misc]
    assert about["pid"] == os.getpid() and about["kind"] == "app" and about["servers"] == ["weather", "notes"]
    assert weather["name"] == "weather" and weather["state"] == "RUNNING" and weather["tools"] > 0


async def test_the_log_of_a_server_is_told(runtime: Runtime):
    _, said = await asked("log", server="weather", limit=2)  # type: ignore[misc]
    assert said["server"] == "weather" and len(said["lines"]) <= 2
