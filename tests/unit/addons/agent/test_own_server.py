"""What an agent may do while no mcptui runs: what the rules of the user allow."""

import shutil
from pathlib import Path

import pytest

from tests.configurations import server
from tests.protocol.command import in_this_process
from tests.terminal.pty_app import ROOT
from tests.unit.addons.agent.acting_stage import CALL, WEATHER, acting, configured, decisions, folder
from tui.settings.locations import config_file

__all__ = ["folder"]


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("call_tool", CALL, "allow weather/get_weather"),
        ("run_tests", {}, "allow mcptui/run_tests"),
        ("keep_as_test", {"file": "a.mcp.toml", "recording": "x", "entry": 1}, "allow mcptui/keep_as_test"),
    ],
)
async def test_without_app_and_rule_an_act_is_refused_with_the_line_that_allows_it(
    tool: str, arguments: dict[str, object], rule: str
):
    configured()
    async with acting() as client:
        said = await client.refused(tool, **arguments)
    assert said.startswith("Refused: it needs the user's consent.")
    assert f'[approvals] in {config_file()}: rules = ["{rule}"]' in said
    assert [line[1:3] for line in decisions()] == [["denied", "call"]]


async def test_a_call_of_an_agent_is_named_in_the_list_of_recordings_and_marked():
    configured("allow weather/get_*")
    async with acting() as client:
        said = await client.call("call_tool", **CALL)
    recording = said.partition(" of ")[2].partition(".")[0]
    assert "mcptui call by agent claud" in in_this_process(["traffic", "--list"]).out
    found = in_this_process(["traffic", recording, "--filter", "note:agent", "--json"])
    assert '"by agent claude-code"' in found.out


async def test_a_deny_rule_wins_over_every_allow():
    configured("allow */*", "deny weather/get_*", "deny mcptui/run_tests")
    async with acting() as client:
        for said in (await client.refused("call_tool", **CALL), await client.refused("run_tests")):
            assert said == "Denied: a rule of the configuration forbids it."


async def test_rules_of_a_file_that_is_not_the_users_allow_nothing(folder: Path):
    configured()
    foreign = folder / "foreign.toml"
    foreign.write_text(f'{WEATHER}\n[approvals]\nrules = ["allow */*"]\n')
    async with acting("--config", str(foreign)) as client:
        assert "needs the user's consent" in await client.refused("call_tool", **CALL)
        assert "needs the user's consent" in await client.refused("run_tests")


async def test_a_server_of_a_foreign_file_needs_consent_although_a_rule_allows_the_call(folder: Path):
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    copied = shutil.copy(ROOT / "sample_config" / "servers" / "weather.py", folder)
    path.write_text(f'{server("weather", copied)}source = "registry"\n[approvals]\nrules = ["allow */*"]\n')
    async with acting() as client:
        said = await client.refused("call_tool", **CALL)
    assert "consent" in said and "mcptui config trust" in said


async def test_an_agent_knows_that_a_question_of_the_server_was_declined():
    configured("allow asking/*", servers=server("asking", ROOT / "tests" / "protocol" / "asking_server.py"))
    async with acting() as client:
        said, _ = await client.result("call_tool", server="asking", tool="greet")
    assert "The server asked 1 question, declined because no running mcptui could ask the user." in said
