"""What an agent may do while mcptui runs: what its user allows."""

import asyncio
from pathlib import Path

import pytest

from tests.conftest import until
from tests.protocol.command import in_this_process
from tests.unit.addons.agent.acting_stage import (
    ALWAYS,
    CALL,
    NO,
    YES,
    acting,
    app,
    decisions,
    folder,
    user_of,
)
from tui.core.ports import BY_KEY
from tui.core.questions import AgentQuestion
from tui.runtime.runtime import Runtime

__all__ = ["app", "folder"]


async def test_the_app_asks_who_what_and_with_which_arguments_and_remembers_until_it_quits(app: Runtime):
    user = user_of(app, YES, ALWAYS)
    async with acting(name="claude-code\u202e") as client:
        for _ in range(4):
            assert "Weather in Beijing" in await client.call("call_tool", **CALL)
    question = AgentQuestion("claude-code�", "weather", "get_weather", {"location": "Beijing"})
    assert user.asked == [question, question]
    assert (
        question.head
        == "May an agent that says it is “claude-code�” call “get_weather” of the server “weather”?"
    )
    async with acting(name="another") as client:
        user_of(app, NO)
        assert await client.refused("call_tool", **CALL) == "Refused by the user."


async def test_an_answer_for_an_agent_does_not_cover_calls_of_the_model(app: Runtime):
    user_of(app, ALWAYS)
    async with acting() as client:
        await client.call("call_tool", **CALL)
    (tool,) = (one for one in app.workbench.tools("weather") if one.name == "get_weather")
    assert app.turn_context.policy.key(tool) not in app.approvals.earlier
    assert app.approvals.earlier == {f"agent claude-code: {app.turn_context.policy.key(tool)}": False}


async def test_a_call_in_the_app_is_recorded_and_decided_as_the_agents(app: Runtime):
    user_of(app, YES)
    async with acting() as client:
        said = await client.call("call_tool", **CALL)
    assert f"of {app.traffic.path.stem}." in said
    await until(lambda: decisions())
    assert decisions()[-1][1:7] == [
        *("asked, allowed", "call", "weather", "get_weather", BY_KEY, "agent claude-code")
    ]
    found = in_this_process(["traffic", app.traffic.path.stem, "--filter", "note:agent", "--json"])
    assert '"by agent claude-code"' in found.out


async def test_a_cancelled_call_withdraws_its_question(app: Runtime):
    user = user_of(app, None)
    async with acting() as client:
        waiting = asyncio.create_task(client.result("call_tool", **CALL))
        await until(lambda: user.asked)
        waiting.cancel()
        await until(lambda: user.withdrawn)
        assert "1 server in mcptui" in await client.call("servers")


async def test_an_app_that_ends_while_it_asks_has_done_nothing(app: Runtime):
    user = user_of(app, None)
    async with acting() as client:
        calling = asyncio.create_task(client.refused("call_tool", **CALL))
        await until(lambda: user.asked)
        app.door.refuse("its user quits")  # which ends the connection, as the end of the process does
        said = await calling
    assert "ended before its user answered, so nothing was done" in said


async def test_no_answer_in_time_refuses(app: Runtime, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.agent.consent.SECONDS", 0.2)
    user = user_of(app, None)
    async with acting() as client:
        said = await client.refused("restart_server", server="weather")
    assert "did not answer within" in said and "allow mcptui/restart_server" in said
    assert user.withdrawn == 1


async def test_deny_rules_of_the_app_refuse_without_a_question(app: Runtime):
    user = user_of(app)
    async with acting() as client:
        for tool, arguments in (
            ("call_tool", {"server": "weather", "tool": "list_get_weather_records"}),
            ("keep_as_test", {"file": "a.mcp.toml", "recording": "x", "entry": 1}),
        ):
            assert (await client.refused(tool, **arguments)).startswith("Denied: a rule")
    assert user.asked == []


async def test_a_stopped_server_can_be_restarted_after_a_yes(app: Runtime):
    user = user_of(app, YES)
    await app.host.stop("weather")
    async with acting() as client:
        assert "weather is not running" in await client.refused("call_tool", **CALL)
        assert await client.call("restart_server", server="weather") == "weather is RUNNING, 2 tools."
        assert "weather  RUNNING  pid" in await client.call("servers")
    assert user.asked == [AgentQuestion("claude-code", "", "restart a server", {"server": "weather"})]


async def test_a_lasting_yes_to_tests_is_for_one_folder(
    app: Runtime, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    user = user_of(app, ALWAYS, NO)
    async with acting() as client:
        for _ in range(2):
            assert (await client.refused("run_tests")).startswith("No test was run.")
    assert [(one.act.split(",")[0], one.arguments) for one in user.asked] == [
        ("run the tests of a folder", {"folder": str(folder)})
    ]
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    async with acting() as client:
        assert await client.refused("run_tests") == "Refused by the user."
