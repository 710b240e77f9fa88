"""Turn cases with a real runtime, server and endpoint."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, model
from tests.conftest import until
from tests.endpoint import Answer, Endpoint, Request, calls, refuses, says
from tests.protocol.command import finish, mcptui, start
from tests.protocol.turn_stage import HANGZHOU, WEATHER, asks, kept_recording, turns
from tests.unit.core.stand_ins import ScriptedApprover
from tui.addons.tests.run.outcome import Outcome, State, TurnRun
from tui.addons.tests.turns.conversations import folder, take_over
from tui.addons.tests.turns.last_cells import LastCells
from tui.core.ports import Answer as Yes
from tui.core.ports import Decision
from tui.core.secrets.redact import Redactor
from tui.runtime.recording_file import take_notes
from tui.settings.locations import state_dir
from tui.storage.sessions.store import SessionStore

CALLED = calls(("kept__get_weather", {"location": "Hangzhou"}))
ELSEWHERE = calls(("kept__get_weather", {"location": "Beijing"}))
RAIN = says("Light rain, 22 °C.")
EXPECTED = ("get_weather location~hangzhou",)
EMPTY = "[models]\n"


def only_run(outcome: Outcome) -> TurnRun:
    assert outcome.cell is not None
    (run,) = outcome.cell.runs
    return run


def told(request: Request, role: str) -> list[Any]:
    """Return the texts that a role has in a request."""
    return [one["content"] for one in request.json["messages"] if one["role"] == role]


async def test_a_model_that_makes_the_expected_call_passes(tmp_path: Path):
    async with Endpoint([CALLED, RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        found = await stage.one(asks(calls=EXPECTED, answer=("<number> °C",)))
        (result,) = told(endpoint.requests[1], "tool")
    assert (found.state, found.problem, found.repeat) == (State.PASSED, "", "")
    assert "light rain" in result
    run = only_run(found)
    assert (run.calls, run.answer, run.steps) == (["get_weather location=Hangzhou"], "Light rain, 22 °C.", 2)
    assert run.tokens > 0 and run.ms > 0 and run.turn == 1 and run.cost is None


async def test_a_wrong_call_fails_with_the_argument_that_differs_and_how_to_repeat_it(tmp_path: Path):
    async with Endpoint([ELSEWHERE, RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        found = await stage.one(asks(calls=EXPECTED, name="hangzhou"))
    assert found.state is State.FAILED
    assert found.problem == 'get_weather location~hangzhou: location is "Beijing"'
    assert [one.path for one in found.mismatches] == ["calls[0]"]
    assert found.repeat == "mcptui test weather.mcp.toml -k hangzhou --model scripted"
    (note,) = take_notes(stage.runtime.traffic.path, stage.runtime.traffic.columns).values()
    assert note == 'failed: get_weather location~hangzhou: location is "Beijing" (hangzhou)'


async def test_a_forbidden_tool_is_offered_but_never_run(tmp_path: Path):
    async with Endpoint([CALLED, says("No.")]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        found = await stage.one(asks(never=("get_*",)))
        names = [tool["function"]["name"] for tool in endpoint.requests[0].json["tools"]]
        (result,) = told(endpoint.requests[1], "tool")
    assert names == ["kept__get_weather"] and not stage.called
    assert result == "denied: the test does not allow this call"
    assert found.problem == "get_weather was called, and must never be"


async def test_the_share_of_runs_that_pass_decides(tmp_path: Path):
    script = [CALLED, RAIN, ELSEWHERE, RAIN, CALLED, RAIN]
    async with Endpoint(script * 2) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        case = asks(calls=EXPECTED, runs=3, passing=0.6)
        passed, failed = await stage.run(case, replace(case, passing=1.0))
    assert passed.state is State.PASSED and passed.cell is not None
    assert [run.state for run in passed.cell.runs] == [State.PASSED, State.FAILED, State.PASSED]
    assert [run.turn for run in passed.cell.runs] == [1, 2, 3]
    assert failed.problem == (
        '2 of 3 runs passed, 3 must. get_weather location~hangzhou: location is "Beijing"'
    )


async def test_each_run_is_a_new_conversation(tmp_path: Path):
    async with Endpoint([CALLED, RAIN] * 2) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        await stage.one(asks(runs=2))
    assert [len(request.json["messages"]) for request in endpoint.requests] == [2, 4, 2, 4]


async def test_an_error_of_the_endpoint_is_no_failure_and_ends_the_runs(tmp_path: Path):
    async with Endpoint([refuses(401, "bad key")]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        found = await stage.one(asks(calls=EXPECTED, runs=5))
    assert found.state is State.ERROR and "bad key" in found.problem
    assert len(endpoint.requests) == 1


async def test_a_case_that_is_skipped_or_expects_nothing_asks_no_model(tmp_path: Path):
    async with Endpoint([RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        found, empty = await stage.run(asks(skip="not yet"), asks(max_steps=None))
    assert (found.state, found.problem) == (State.SKIPPED, "not yet")
    assert (empty.state, empty.problem) == (State.SKIPPED, "expects nothing: add calls, never or answer")
    assert not endpoint.requests


async def test_more_steps_than_allowed_fail_and_the_loop_stops_there(tmp_path: Path):
    async with Endpoint([CALLED, CALLED, CALLED, RAIN]) as endpoint:
        async with turns(tmp_path, model(endpoint)) as stage:
            found = await stage.one(asks(max_steps=2))
        assert found.problem == "max_steps is 2: more steps were needed"
    assert len(endpoint.requests) == 2 and stage.called == 1


async def test_the_cost_is_compared_with_the_prices_of_the_profile(tmp_path: Path):
    async with Endpoint([says("Rain.", pieces=1)]) as endpoint:
        prices = {"price_in": 1.0, "price_out": 2.0}
        async with turns(tmp_path, model(endpoint, **prices), model(endpoint, "free")) as stage:
            cheap, dear, free = await stage.run(
                asks(models=("scripted",), cost=1.0),
                asks(models=("scripted",), cost=0.00001),
                asks(models=("free",), cost=1.0),
            )
    assert cheap.state is State.PASSED and only_run(cheap).cost == 14e-6
    assert dear.problem == "cost is 1e-05: it was 1.4e-05"
    assert free.state is State.ERROR and "set price_in and price_out in the profile free" in free.problem


async def test_the_model_sees_only_the_tools_of_the_server_of_the_suite(tmp_path: Path):
    async with Endpoint([RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        stage.runtime.host.add(replace(WEATHER, name="other"))
        await stage.runtime.host.start_all(["other"])
        await stage.one(asks())
    assert [tool["function"]["name"] for tool in endpoint.requests[0].json["tools"]] == ["kept__get_weather"]


async def test_recorded_models_reply_without_the_endpoint(tmp_path: Path):
    case = asks(calls=EXPECTED, answer=("light rain",), runs=2, passing=0.5)
    async with Endpoint([CALLED, RAIN, ELSEWHERE, says("Sunny.")]) as endpoint:
        async with turns(tmp_path, model(endpoint)) as stage:
            before = await stage.one(case)
    recording = kept_recording(stage, tmp_path / "models.mcptrace")
    async with turns(tmp_path, EMPTY, replay=recording) as stage:
        found = await stage.one(case)
    again = kept_recording(stage, tmp_path / "again.mcptrace")
    async with turns(tmp_path, EMPTY, replay=again) as stage:
        twice = await stage.one(case)
    assert before.cell and found.cell and twice.cell
    assert (found.state, found.notes) == (State.PASSED, [])
    assert [run.calls for run in before.cell.runs] == [run.calls for run in found.cell.runs]
    assert [run.answer for run in found.cell.runs] == ["Light rain, 22 °C.", "Sunny."]
    assert [run.answer for run in twice.cell.runs] == ["Light rain, 22 °C.", "Sunny."]
    assert found.cell.tokens == before.cell.tokens and found.cell.model == "scripted"


XML = """<use_mcp_tool><server_name>kept</server_name><tool_name>get_weather</tool_name>
<arguments>{"location": "Hangzhou"}</arguments></use_mcp_tool>"""
REACT = 'Action: kept__get_weather\nAction Input: {"location": "Hangzhou"}'


@pytest.mark.parametrize(
    ("protocol", "reply"), [("xml", says(XML)), ("react", says(REACT)), ("auto", CALLED)]
)
async def test_a_model_is_replayed_in_its_dialect_if_the_server_has_another_name(
    tmp_path: Path, protocol: str, reply: Answer
):
    async with Endpoint([reply, RAIN]) as endpoint:
        async with turns(tmp_path, model(endpoint, tool_protocol=protocol)) as stage:
            before = await stage.one(asks(calls=EXPECTED))
    recording = kept_recording(stage, tmp_path / "models.mcptrace")
    configured = model(endpoint, tool_protocol=protocol) if protocol == "react" else EMPTY
    renamed = replace(WEATHER, name="my.renamed")
    async with turns(tmp_path, configured, replay=recording, spec=renamed) as stage:
        found = await stage.one(asks(calls=EXPECTED, answer=("Light rain",)))
    assert (before.state, found.state, found.problem, found.notes) == (State.PASSED, State.PASSED, "", [])


def weather_with_another_description(folder: Path) -> Path:
    """Write the server with another description of its tool."""
    script = Path(WEATHER.args[0])
    beside = f"import sys\nsys.path.insert(0, {str(script.parent)!r})\n"
    changed = folder / "changed.py"
    code = script.read_text("utf-8").replace("Get the current weather", "Look at the sky")
    changed.write_text(beside + code, "utf-8")
    return changed


async def test_a_changed_tool_is_noted_and_the_replies_are_still_used(tmp_path: Path):
    async with Endpoint([CALLED, RAIN]) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        await stage.one(asks())
    recording = kept_recording(stage, tmp_path / "models.mcptrace")
    changed = weather_with_another_description(tmp_path)
    async with turns(tmp_path, EMPTY, replay=recording, spec=replace(WEATHER, args=(str(changed),))) as stage:
        found = await stage.one(asks(calls=EXPECTED))
    assert found.state is State.PASSED
    assert found.notes == [
        "kept__get_weather changed since the recording, so the model may reply differently now. "
        "Record again with --record"
    ]


async def test_a_conversation_of_the_app_can_be_replayed(tmp_path: Path):
    script = [says("Hello."), CALLED, RAIN]
    async with Endpoint(script) as endpoint, turns(tmp_path, model(endpoint)) as stage:
        runtime = stage.runtime
        await stage.runtime.conversations.active_model.begin(runtime.configuration.loaded)
        for question in ("Hi", HANGZHOU):
            async for _ in runtime.conversations.ask(question, ScriptedApprover(Decision(Yes.ONCE))).events():
                pass
    recording = kept_recording(stage, tmp_path / "models.mcptrace")
    async with turns(tmp_path, EMPTY, replay=recording) as stage:
        found = await stage.one(asks(calls=EXPECTED))
    assert (found.state, found.problem) == (State.PASSED, "")


async def test_the_last_runs_and_their_conversations_are_kept(tmp_path: Path):
    async with Endpoint([CALLED, RAIN, ELSEWHERE, RAIN]) as endpoint:
        async with turns(tmp_path, model(endpoint)) as stage:
            found = await stage.one(asks(calls=EXPECTED, runs=2))
            await stage.one(asks("Nothing", models=("gpt",)))
    known = LastCells(state_dir() / "turn-tests.json").read()
    by_model = {key[1:]: one for key, one in known.items()}
    last = by_model[HANGZHOU, "scripted"]
    assert (last.state, last.problem) == (State.FAILED, found.problem)
    assert last.recording == str(stage.runtime.traffic.path)
    assert [(run.state, run.turn) for run in last.cell.runs] == [(State.PASSED, 1), (State.FAILED, 2)]
    assert by_model["Nothing", "gpt"].state is State.ERROR
    session = last.cell.runs[1].session
    mine = SessionStore(tmp_path / "sessions", Redactor)
    take_over(session, mine)
    opened = await mine.read(session)
    assert opened.conversation.messages[-1].text == "Light rain, 22 °C."
    assert (opened.info.title, opened.meta.profile) == (HANGZHOU, "scripted")


async def test_nothing_is_kept_of_conversations_if_traffic_is_not_recorded(tmp_path: Path):
    async with Endpoint([RAIN]) as endpoint:
        async with turns(tmp_path, model(endpoint), "[traffic]\nrecord = false\n") as stage:
            found = await stage.one(asks())
    assert only_run(found).session == "" and not folder().exists()


FILE = f"""\
[server]
command = {json.dumps([WEATHER.command, *WEATHER.args])}

[[turn]]
name = "hangzhou"
question = "{HANGZHOU}"
calls = ["get_weather location~hangzhou"]
answer = "<number> °C"
runs = 2
pass = 0.5
"""


async def test_the_command_records_models_and_replays_them_with_the_table_in_each_report(tmp_path: Path):
    file, trace = tmp_path / "weather.mcp.toml", str(tmp_path / "models.mcptrace")
    file.write_text(FILE, "utf-8")
    called = calls(("weather__get_weather", {"location": "Hangzhou"}))
    async with Endpoint([called, RAIN, says("No idea.")]) as endpoint:
        recorded = await mcptui(
            "test", str(file), "--config", config_file(tmp_path, model(endpoint)), "--record", trace
        )
    report = tmp_path / "report.md"
    config = config_file(tmp_path, EMPTY)
    replayed = await mcptui(
        "test", str(file), "--config", config, "--replay-models", trace, "--report", f"md={report}"
    )
    objects = await mcptui("test", str(file), "--config", config, "--replay-models", trace, "--json")
    assert (recorded.code, replayed.code, objects.code) == (0, 0, 0), recorded
    header, line = [
        one.split() for one in replayed.out.splitlines() if one.startswith(("turn ", "hangzhou "))
    ]
    assert header == ["turn", "model", "passed", "tokens", "cost", "time"]
    assert line[:5] == ["hangzhou", "scripted", "1", "of", "2"]
    assert "| turn | scripted |\n|---|---|\n| hangzhou | 1 of 2, " in report.read_text("utf-8")
    (case,) = objects.of_type("case")
    assert [run["state"] for run in case["turn"]["runs"]] == ["passed", "failed"]


async def test_a_recording_that_is_not_there_is_named_before_anything_runs(tmp_path: Path):
    (tmp_path / "weather.mcp.toml").write_text(FILE, "utf-8")
    done = await mcptui("test", str(tmp_path), "--replay-models", "nowhere.mcptrace")
    assert (done.code, done.out) == (2, "") and "nowhere.mcptrace: recording not found" in done.err
    both = await mcptui("test", str(tmp_path), "--replay-models", "x", "--demo")
    assert (both.code, both.err) == (2, "mcptui: --demo cannot be combined with --replay-models.\n")


async def test_a_model_or_a_reply_that_is_not_there_is_named_once_before_anything_runs(tmp_path: Path):
    (tmp_path / "weather.mcp.toml").write_text(FILE, "utf-8")
    config = str(config_file(tmp_path, EMPTY))
    named = await mcptui("test", str(tmp_path), "--config", config, "--trust-config", "--model", "nosuch")
    assert (named.code, named.out) == (2, "") and "model profile “nosuch” not found" in named.err
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    done = await mcptui("test", str(tmp_path), "--replay-models", str(empty))
    assert (done.code, done.out) == (2, "") and "demo model is not recorded" in done.err


async def test_the_calls_of_a_turn_case_are_checked_when_the_file_is_read(tmp_path: Path):
    (tmp_path / "weather.mcp.toml").write_text(
        FILE.replace("location~hangzhou", "location=New York"), "utf-8"
    )
    done = await mcptui("test", str(tmp_path), "--demo")
    assert done.code == 2
    assert "weather.mcp.toml:7 turn[1].calls: “get_weather location=New York” is not a call" in done.out


async def test_turn_cases_that_are_not_reached_are_named(tmp_path: Path):
    failing = '\n[[call]]\nname = "nyc"\ntool = "get_weather"\nargs = { location = "NYC" }\ntext = "snow"\n'
    (tmp_path / "weather.mcp.toml").write_text(FILE + failing, "utf-8")
    done = await mcptui("test", str(tmp_path), "--demo", "-x", "--json", "--trust-config")
    states = [(case["case"], case["state"]) for case in done.of_type("case")]
    assert (done.code, states) == (1, [("nyc", "failed"), ("hangzhou", "skipped")])


async def test_ctrl_c_ends_a_turn_and_names_its_case(tmp_path: Path):
    other = FILE[FILE.index("[[turn]]") :].replace('"hangzhou"', '"later"')
    (tmp_path / "weather.mcp.toml").write_text(f"{FILE}\n{other}", "utf-8")
    async with Endpoint([Answer(mute=True)]) as endpoint:
        config = config_file(tmp_path, model(endpoint))
        process = await start("test", str(tmp_path), "--config", config, "--json")
        await until(lambda: endpoint.requests, what="the question")
        process.send_signal(signal.SIGINT)
        done = await finish(process)
        await until(lambda: not endpoint.open, what="the connection is closed")
    states = [(case["case"], case["state"], case["problem"]) for case in done.of_type("case")]
    assert (done.code, states) == (
        130,
        [("hangzhou", "error", "interrupted"), ("later", "skipped", "not run: interrupted")],
    )
