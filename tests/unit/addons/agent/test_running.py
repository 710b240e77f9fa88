"""Servers and their logs, for an agent."""

import os

from tests.configurations import server
from tests.conftest import until
from tests.protocol.command import finish, start
from tests.terminal.pty_app import ROOT
from tests.unit.addons.agent.acting_stage import CALL, WEATHER, acting, app, configured, folder
from tui.addons.up.running import running
from tui.runtime.runtime import Runtime

__all__ = ["app", "folder"]


async def test_the_tools_of_a_server_that_is_up_are_listed_and_shown(app: Runtime):
    async with acting() as client:
        assert "get_weather(location)" in await client.call("servers", server="weather")
        assert '"inputSchema"' in await client.call("servers", server="weather", tool="get_weather")
        said = await client.refused("call_tool", server="weather", tool="get_wether")
        assert "did you mean “get_weather”?" in said
        said = await client.refused(
            "call_tool", server="weather", tool="get_weather", arguments={"location": 5}
        )
        assert "location: 5 is not of type 'string'" in said and "unchecked: true" in said


async def test_an_app_that_refuses_is_named(app: Runtime):
    app.door.refuse("its user refuses commands")
    said = f"mcptui (pid {os.getpid()}) cannot be used: its user refuses commands."
    async with acting() as client:
        assert said in await client.call("servers")
        for tool, given in (
            ("call_tool", CALL),
            ("restart_server", {"server": "weather"}),
            ("run_tests", {}),
        ):
            assert said in await client.refused(tool, **given)


async def test_seconds_limit_the_start_of_a_server_too():
    configured("allow slow/*", servers=server("slow", "-c", "import sys; sys.stdin.read()"))
    async with acting() as client:
        said = await client.refused("call_tool", server="slow", tool="any", seconds=1)
        assert "slow did not start. It took longer than 1 s." in said


async def test_a_server_that_does_not_start_is_told_with_its_last_line_and_its_log():
    crash = server("broken", "-c", "import sys; sys.exit('no database at :5432')")
    configured("allow broken/*", servers=crash)
    async with acting() as client:
        said = await client.refused("call_tool", server="broken", tool="any")
        assert "broken did not start" in said and "no database at :5432" in said
        assert "no database at :5432" in await client.call("log", server="broken")
        assert "1 configured server" in await client.call("servers")


async def test_the_log_of_a_server_that_is_nowhere_names_the_configured_ones():
    configured()
    async with acting() as client:
        assert "Configured servers: weather." in await client.refused("log", server="wether")
        assert "“weather” has printed nothing" in await client.call("log", server="weather")


CANARY = "canary-4f9d2c71b8e64a0f"
TELLING = """
import os, sys
sys.path.insert(0, sys.argv[1])
import plain_server
secret = os.environ["API_TOKEN"]
print("starting with", secret, file=sys.stderr, flush=True)
sys.exit(f"no access with {secret}")
"""


async def test_secrets_of_servers_are_in_no_answer():
    samples = ROOT / "sample_config" / "servers"
    telling = server("telling", "-c", TELLING, samples, "--api-key", CANARY, env={"API_TOKEN": CANARY})
    configured("allow telling/*", servers=telling)
    async with acting() as client:
        await client.call("servers")
        assert "no access with" in await client.refused("call_tool", server="telling", tool="any")
        assert "starting with" in await client.call("log", server="telling")
    assert [text for text in client.said if CANARY in text] == []


async def test_mcptui_up_holds_servers_for_agents_but_asks_nobody():
    stays = server("stays", ROOT / "sample_config" / "servers" / "weather.py")  # the last one would end it
    rules = "allow weather/get_weather", "allow mcptui/restart_server"
    configured(*rules, servers=WEATHER + stays)
    up = await start("up", "weather", "stays", piped=False)
    try:
        await until(lambda: any("weather" in door.about["servers"] for door in running()), what="up")
        async with acting() as client:
            assert "2 servers in mcptui up" in await client.call("servers")
            said = await client.call("call_tool", **CALL)
            again = await client.call("call_tool", **CALL)
            records = await client.refused("call_tool", server="weather", tool="list_get_weather_records")
            await finish(await start("up", "--stop", "weather"))
            assert "weather is RUNNING" in await client.call("restart_server", server="weather")
    finally:
        up.terminate()
        await finish(up)
    recordings = [text.partition(" of ")[2].partition(".")[0] for text in (said, again)]
    assert recordings[0] == recordings[1] and " ms in mcptui up (pid " in said
    assert "allow weather/list_get_weather_records" in records
