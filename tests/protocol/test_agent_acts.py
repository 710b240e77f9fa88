"""What an agent may do over `mcptui agent`: with a rule, with the user's yes in a running mcptui, or not."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent_client import agent
from tests.configurations import server
from tests.conftest import until
from tests.protocol.command import in_this_process
from tests.terminal.pty_app import ROOT
from tui.core.ports import BY_KEY
from tui.core.questions import Action, AgentQuestion, Question, QuestionAnswer, Questioner
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.locations import config_file

WEATHER = server("weather", ROOT / "sample_config" / "servers" / "weather.py")
CALL = {"server": "weather", "tool": "get_weather", "arguments": {"location": "Beijing"}}


def configured(*rules: str, servers: str = WEATHER) -> None:
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f'"{rule}"' for rule in rules)
    path.write_text(f"{servers}\n[approvals]\nrules = [{listed}]\n")


def decisions() -> list[list[str]]:
    """Return the record of decisions as the user reads it: each as its columns."""
    return [re.split("  +", line) for line in in_this_process(["decisions"]).out.splitlines()[1:]]


class User(Questioner):
    """A user at the app, who answers what agents ask."""

    def __init__(self, *answers: QuestionAnswer | None) -> None:
        self.asked: list[AgentQuestion] = []
        self.withdrawn = 0
        self._answers = list(answers)

    async def ask(self, question: Question) -> QuestionAnswer:
        if not isinstance(question, AgentQuestion):
            return await super().ask(question)
        self.asked.append(question)
        if (answer := self._answers.pop(0)) is not None:
            return answer
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.withdrawn += 1


YES, NO = QuestionAnswer(Action.ACCEPT), QuestionAnswer(Action.DECLINE)
ALWAYS = QuestionAnswer(Action.ACCEPT, lasts=True)


@pytest.fixture
async def app() -> AsyncIterator[Runtime]:
    """A running app, without its screen."""
    configured("deny weather/list_*", "deny mcptui/keep_*")
    runtime = Runtime(Options(), dict(os.environ))
    runtime.questioner = User()
    try:
        await runtime.ready(model=False, taps=False)
        await until(lambda: runtime.door.is_open and runtime.workbench.is_running("weather"))
        yield runtime
    finally:
        await runtime.shutdown()


def user_of(app: Runtime, *answers: QuestionAnswer | None) -> User:
    """Let a user answer what agents ask from now on."""
    app.questioner = User(*answers)
    return app.questioner


# ---- without a running mcptui ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("call_tool", CALL, "allow weather/get_weather"),
        ("run_tests", {}, "allow mcptui/run_tests"),
        ("keep_as_test", {"file": "a.mcp.toml", "recording": "x", "entry": 1}, "allow mcptui/keep_as_test"),
    ],
)
async def test_without_app_and_rule_an_act_is_refused_with_the_line_that_allows_it(
    tool: str, arguments: dict[str, object], rule: str, tmp_path: Path
):
    configured()
    async with agent(tmp_path) as client:
        said = await client.refused(tool, **arguments)
    assert said.startswith("Refused: it needs the user's consent.")
    assert f'[approvals] in {config_file()}: rules = ["{rule}"]' in said
    assert [line[1:3] for line in decisions()] == [["denied", "call"]]


async def test_a_rule_lets_an_agent_call_keep_and_test(tmp_path: Path):
    configured("allow weather/get_*", "allow mcptui/*")
    async with agent(tmp_path) as client:
        assert "Weather in Beijing" in await client.call("call_tool", **CALL)
        assert "Kept in weather.mcp.toml." in await client.call("keep_as_test", file="weather.mcp.toml")
        assert "1 of 1 test passed." in await client.call("run_tests")
        kept = tmp_path / "weather.mcp.toml"
        kept.write_text(kept.read_text().replace("sunny", "stormy"))
        said = await client.refused("run_tests", files=["weather.mcp.toml"])
    assert "0 of 1 test passed." in said and "stormy" in said
    allowed = [line[4:6] for line in decisions() if line[6] == "agent claude-code"]
    assert allowed == [
        ["get_weather", "rule allow weather/get_*"],
        ["keep_as_test", "rule allow mcptui/*"],
        ["run_tests", "rule allow mcptui/*"],
        ["run_tests", "rule allow mcptui/*"],
    ]


async def test_a_call_of_an_agent_is_named_in_the_list_of_recordings_and_marked(tmp_path: Path):
    configured("allow weather/get_*")
    async with agent(tmp_path) as client:
        said = await client.call("call_tool", **CALL)
    recording = said.partition(" of ")[2].partition(".")[0]
    assert "mcptui call by agent claud" in in_this_process(["traffic", "--list"]).out
    found = in_this_process(["traffic", recording, "--filter", "note:agent", "--json"])
    assert '"by agent claude-code"' in found.out


async def test_a_deny_rule_wins_over_every_allow(tmp_path: Path):
    configured("allow */*", "deny weather/get_*", "deny mcptui/run_tests")
    async with agent(tmp_path) as client:
        for said in (await client.refused("call_tool", **CALL), await client.refused("run_tests")):
            assert said == "Denied: a rule of the configuration forbids it."


async def test_rules_of_a_file_that_is_not_the_users_allow_nothing(tmp_path: Path):
    configured()
    foreign = tmp_path / "foreign.toml"
    foreign.write_text(f'{WEATHER}\n[approvals]\nrules = ["allow */*"]\n')
    async with agent(tmp_path, "--config", str(foreign)) as client:
        assert "needs the user's consent" in await client.refused("call_tool", **CALL)
        assert "needs the user's consent" in await client.refused("run_tests")


async def test_a_server_of_a_foreign_file_needs_consent_although_a_rule_allows_the_call(tmp_path: Path):
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    copied = shutil.copy(ROOT / "sample_config" / "servers" / "weather.py", tmp_path)
    path.write_text(f'{server("weather", copied)}source = "registry"\n[approvals]\nrules = ["allow */*"]\n')
    async with agent(tmp_path) as client:
        said = await client.refused("call_tool", **CALL)
    assert "consent" in said and "mcptui config trust" in said


@pytest.mark.parametrize("name", ["../a.mcp.toml", "/tmp/a.mcp.toml", "~/a.mcp.toml", "a.toml"])
async def test_tests_are_only_kept_in_the_current_folder(name: str, tmp_path: Path):
    configured("allow */*")
    async with agent(tmp_path) as client:
        said = await client.refused("keep_as_test", file=name, recording="x", entry=1)
    assert "is not in the folder" in said or "ends with .mcp.toml" in said


async def test_a_server_that_does_not_start_is_told_with_its_last_line_and_its_log(tmp_path: Path):
    crash = server("broken", "-c", "import sys; sys.exit('no database at :5432')")
    configured("allow broken/*", servers=crash)
    async with agent(tmp_path) as client:
        said = await client.refused("call_tool", server="broken", tool="any")
        assert "broken did not start" in said and "no database at :5432" in said
        assert "no database at :5432" in await client.call("log", server="broken")
        assert "1 configured server" in await client.call("servers")


# ---- with a running mcptui -------------------------------------------------------------------------------


async def test_the_app_asks_who_what_and_with_which_arguments_and_remembers_until_it_quits(
    app: Runtime, tmp_path: Path
):
    user = user_of(app, YES, ALWAYS)
    async with agent(tmp_path, name="claude-code\u202e") as client:
        for _ in range(4):
            assert "Weather in Beijing" in await client.call("call_tool", **CALL)
    question = AgentQuestion("claude-code�", "weather", "get_weather", {"location": "Beijing"})
    assert user.asked == [question, question]
    assert (
        question.head
        == "May an agent that says it is “claude-code�” call “get_weather” of the server “weather”?"
    )
    async with agent(tmp_path, name="another") as client:
        user_of(app, NO)
        assert await client.refused("call_tool", **CALL) == "Refused by the user."


async def test_an_answer_for_an_agent_does_not_cover_calls_of_the_model(app: Runtime, tmp_path: Path):
    user_of(app, ALWAYS)
    async with agent(tmp_path) as client:
        await client.call("call_tool", **CALL)
    (tool,) = (one for one in app.workbench.tools("weather") if one.name == "get_weather")
    assert app.turn_context.policy.key(tool) not in app.approvals.earlier
    assert app.approvals.earlier == {f"agent claude-code: {app.turn_context.policy.key(tool)}": False}


async def test_a_call_in_the_app_is_recorded_and_decided_as_the_agents(app: Runtime, tmp_path: Path):
    user_of(app, YES)
    async with agent(tmp_path) as client:
        said = await client.call("call_tool", **CALL)
    assert f"of {app.traffic.path.stem}." in said
    await until(lambda: decisions())
    assert decisions()[-1][1:7] == [
        *("asked, allowed", "call", "weather", "get_weather", BY_KEY, "agent claude-code")
    ]
    found = in_this_process(["traffic", app.traffic.path.stem, "--filter", "note:agent", "--json"])
    assert '"by agent claude-code"' in found.out


async def test_a_cancelled_call_withdraws_its_question(app: Runtime, tmp_path: Path):
    user = user_of(app, None)
    async with agent(tmp_path) as client:
        waiting = asyncio.create_task(client.result("call_tool", **CALL))
        await until(lambda: user.asked)
        waiting.cancel()
        await until(lambda: user.withdrawn)
        assert "1 server in mcptui" in await client.call("servers")


async def test_no_answer_in_time_refuses(app: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.agent.consent.SECONDS", 0.2)
    user = user_of(app, None)
    async with agent(tmp_path) as client:
        said = await client.refused("restart_server", server="weather")
    assert "did not answer within" in said and "allow mcptui/restart_server" in said
    assert user.withdrawn == 1


async def test_deny_rules_of_the_app_refuse_without_a_question(app: Runtime, tmp_path: Path):
    user = user_of(app)
    async with agent(tmp_path) as client:
        for tool, arguments in (
            ("call_tool", {"server": "weather", "tool": "list_get_weather_records"}),
            ("keep_as_test", {"file": "a.mcp.toml", "recording": "x", "entry": 1}),
        ):
            assert (await client.refused(tool, **arguments)).startswith("Denied: a rule")
    assert user.asked == []


async def test_a_stopped_server_can_be_restarted_after_a_yes(app: Runtime, tmp_path: Path):
    user = user_of(app, YES)
    await app.host.stop("weather")
    async with agent(tmp_path) as client:
        assert "weather is not running" in await client.refused("call_tool", **CALL)
        assert await client.call("restart_server", server="weather") == "weather is RUNNING, 2 tools."
        assert "weather  RUNNING  pid" in await client.call("servers")
    assert user.asked == [AgentQuestion("claude-code", "", "restart a server", {"server": "weather"})]


async def test_the_tools_of_a_server_that_is_up_are_listed_and_shown(app: Runtime, tmp_path: Path):
    async with agent(tmp_path) as client:
        assert "get_weather(location)" in await client.call("servers", server="weather")
        assert '"inputSchema"' in await client.call("servers", server="weather", tool="get_weather")
        said = await client.refused("call_tool", server="weather", tool="get_wether")
        assert "did you mean “get_weather”?" in said
        said = await client.refused(
            "call_tool", server="weather", tool="get_weather", arguments={"location": 5}
        )
        assert "location: 5 is not of type 'string'" in said and "unchecked: true" in said
