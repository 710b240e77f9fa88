"""Servers and their logs, for an agent."""

from tests.configurations import server
from tests.unit.addons.agent.acting_stage import acting, app, configured, folder
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


async def test_a_server_that_does_not_start_is_told_with_its_last_line_and_its_log():
    crash = server("broken", "-c", "import sys; sys.exit('no database at :5432')")
    configured("allow broken/*", servers=crash)
    async with acting() as client:
        said = await client.refused("call_tool", server="broken", tool="any")
        assert "broken did not start" in said and "no database at :5432" in said
        assert "no database at :5432" in await client.call("log", server="broken")
        assert "1 configured server" in await client.call("servers")
