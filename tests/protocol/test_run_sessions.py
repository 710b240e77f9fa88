"""`mcptui run`: sessions, rules, secret arguments, and streams of odd endpoints."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, model, server
from tests.endpoint import Answer, Endpoint, calls, chunk, says
from tests.programs import ANSWERING
from tests.protocol.command import Done, mcptui
from tui.core.secrets.redact import Redactor
from tui.settings.locations import data_dir
from tui.storage.sessions.store import SessionStore


def config(folder: Path, endpoint: Endpoint) -> str:
    return config_file(folder, model(endpoint), "[servers]")


def said(request):
    return [(one["role"], one["content"]) for one in request.json["messages"] if one["role"] != "system"]


async def test_a_session_is_started_by_its_name_and_resumed(tmp_path: Path):
    async with Endpoint([says("Hello Ada."), says("Ada.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--session", "names")
        first = await mcptui(*given, "I am Ada.")
        second = await mcptui(*given, "Who am I?")
        request = endpoint.requests[1]
    assert (first.code, second.code, second.out) == (0, 0, "Ada.\n")
    assert said(request) == [("user", "I am Ada."), ("assistant", "Hello Ada."), ("user", "Who am I?")]


async def test_resume_continues_the_last_session(tmp_path: Path):
    async with Endpoint([says("One."), says("Two.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint))
        await mcptui(*given, "--session", "a", "first")
        await mcptui(*given, "--resume", "second")
        assert said(endpoint.requests[1])[0] == ("user", "first")


async def test_a_session_that_cannot_be_saved_is_reported_after_the_answer(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    data = tmp_path / "file" / "data"
    async with Endpoint([says("Hello Ada.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--session", "names")
        done = await mcptui(*given, "I am Ada.", XDG_DATA_HOME=str(data))
    assert (done.code, done.out) == (0, "Hello Ada.\n")
    why = f"cannot write to {data / 'mcptui' / 'sessions'}: Not a directory"
    assert f"mcptui: some messages were not saved: {why}\n" in done.err


async def test_traffic_that_cannot_be_recorded_is_reported_after_the_answer(tmp_path: Path):
    state = tmp_path / "state"
    (state / "mcptui").mkdir(parents=True)
    (state / "mcptui" / "recordings").write_text("in the way")
    async with Endpoint([says("Hello Ada.")]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "hi", XDG_STATE_HOME=str(state))
    assert (done.code, done.out) == (0, "Hello Ada.\n")
    assert "mcptui: the traffic was not recorded: " in done.err


async def test_without_a_name_no_session_is_saved_or_resumed(tmp_path: Path):
    async with Endpoint([says("One."), says("Two.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint))
        await mcptui(*given, "first")
        await mcptui(*given, "second")
        assert said(endpoint.requests[1]) == [("user", "second")]
        nothing = await mcptui(*given, "--resume", "third")
    assert nothing.code == 2 and "no session to resume" in nothing.err


async def test_piped_input_is_appended_to_the_question(tmp_path: Path):
    async with Endpoint([says("Fine.")]) as endpoint:
        await mcptui("run", "--config", config(tmp_path, endpoint), "what is wrong here?", stdin=b"a log\n")
        assert said(endpoint.requests[0]) == [("user", "what is wrong here?\n\na log")]


async def test_a_file_is_attached_to_the_question(tmp_path: Path):
    notes = tmp_path / "notes.txt"
    notes.write_text("buy milk", "utf-8")
    async with Endpoint([says("Milk.")]) as endpoint:
        await mcptui("run", "--config", config(tmp_path, endpoint), "--file", str(notes), "what?")
        (_, content), *_ = said(endpoint.requests[0])
    assert "buy milk" in str(content) and "notes.txt" in str(content)


async def test_an_unreadable_file_ends_the_run_before_the_first_request(tmp_path: Path):
    async with Endpoint([]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "--file", "/no/such", "what?")
        assert (done.code, endpoint.requests) == (2, [])
    assert "/no/such" in done.err and "No such file" in done.err


async def test_the_system_text_can_be_read_from_a_file(tmp_path: Path):
    (tmp_path / "pirate.txt").write_text("Talk like a pirate.", "utf-8")
    async with Endpoint([says("Arr."), says("Yes.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint))
        await mcptui(*given, "--system", f"@{tmp_path / 'pirate.txt'}", "hi")
        await mcptui(*given, "--system", "Be brief.", "hi")
        texts = [request.json["messages"][0]["content"] for request in endpoint.requests]
    assert texts == ["Talk like a pirate.", "Be brief."]


async def test_the_answer_is_written_to_a_file_and_not_to_stdout(tmp_path: Path):
    async with Endpoint([says("The answer.")]) as endpoint:
        out = tmp_path / "answer.md"
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "--output", str(out), "hi")
    assert (done.code, done.out, out.read_text("utf-8")) == (0, "", "The answer.\n")


async def test_an_unwritable_output_path_is_reported_before_the_first_request(tmp_path: Path):
    async with Endpoint([]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "--output", str(tmp_path), "hi")
        assert (done.code, endpoint.requests) == (2, [])


async def test_a_session_open_elsewhere_is_reported_by_title_and_no_request_is_sent(tmp_path: Path):
    async with Endpoint([says("Hello.")]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--session", "trip")
        await mcptui(*given, "hi")
        store = SessionStore(data_dir() / "sessions", Redactor)
        (info,) = await store.list()
        _, journal = await store.reopen(info.id)
        done = await mcptui(*given, "and now?")
        as_json = await mcptui(*given, "--json", "and now?")
        await journal.close()
        assert len(endpoint.requests) == 1
    assert (done.code, done.out) == (2, "")
    assert done.err == "mcptui: “trip” is open in another mcptui. Close it there first.\n"
    assert as_json.code == 2 and "trip" in json.loads(as_json.out)["message"]


QUESTION = "What's the weather in Hangzhou?"


def rules_file(path: Path, *rules: str) -> str:
    path.write_text(f"[approvals]\nrules = {json.dumps(rules)}\n")
    return str(path)


@pytest.mark.parametrize(
    ("rules", "mode", "decision", "rule", "ran"),
    [
        (
            ["allow weather/*", "deny weather/* location=H*"],
            "all",
            "deny",
            "deny weather/* location=H*",
            False,
        ),
        (["allow weather/* location=H*"], "ask", "allow", "allow weather/* location=H*", True),
        (["ask weather/get_*", "allow */*"], "reads", "deny", "ask weather/get_*", False),
    ],
)
async def test_a_rule_decides_a_call_and_the_events_name_it(
    tmp_path: Path, rules: list[str], mode: str, decision: str, rule: str, ran: bool
):
    file = rules_file(tmp_path / "c.toml", *rules)
    done = await mcptui("run", "--json", "--approve", mode, "--config", file, QUESTION)
    events = [json.loads(line) for line in done.out.splitlines()]
    (decided,) = (event for event in events if event["type"] == "decision")
    assert (decided["decision"], decided["rule"]) == (decision, rule)
    (result,) = (event for event in events if event["type"] == "tool_result")
    assert (result["why"] == "") is ran and ("22 °C" in result["text"]) is ran


async def test_a_tool_denied_by_a_rule_is_not_offered(tmp_path: Path):
    offered = []
    for rules in ([], ["deny weather/get_*"]):
        done = await mcptui("run", "--json", "--config", rules_file(tmp_path / "c.toml", *rules), "hello")
        offered.append(json.loads(done.out.splitlines()[0])["tools"])
    assert offered[1] == offered[0] - 1


async def test_an_invalid_rule_stops_the_run_with_its_line(tmp_path: Path):
    done = await mcptui("run", "--config", rules_file(tmp_path / "c.toml", "deny weather"), QUESTION)
    assert done.code == 2
    assert "c.toml:2 approvals.rules[1]: must be a pattern of server/tool" in done.err


async def test_rules_are_checked_against_recorded_calls(tmp_path: Path):
    home = {"XDG_STATE_HOME": str(tmp_path / "s"), "XDG_DATA_HOME": str(tmp_path / "d")}
    before = rules_file(tmp_path / "before.toml", "allow weather/*")
    assert (await mcptui("run", "--config", before, QUESTION, **home)).code == 0
    after = rules_file(tmp_path / "after.toml", "deny */* location=Hang*", "allow nothing/*")
    check = ("config", "check", "--config", after, "--against", "1h")
    foreign = await mcptui(*check, **home)
    assert "deny 1" in foreign.out and "rules that match no recorded call" not in foreign.out
    done = await mcptui(*check, "--trust-config", **home)
    assert "this is not your own" not in done.out
    assert "rules against 1 call in 1 recording" in done.out
    assert "ran by rule allow weather/* → deny */* location=Hang*" in done.out
    assert "rules that match no recorded call:\n  allow nothing/*   approvals.rules[2], line 2" in done.out


WEATHER_SERVER = Path(__file__).with_name("weather_server.py")
WEATHER = "weather__get_weather"
NYC = '{"location": "NYC"}'


async def run(folder: Path, *replies: Any) -> tuple[Done, Endpoint]:
    async with Endpoint(replies) as endpoint:
        path = config_file(folder, model(endpoint), server("weather", WEATHER_SERVER, trusted=True))
        done = await mcptui("run", "--json", "--config", path, "go")
    assert "Traceback" not in done.err + done.out
    return done, endpoint


def called(arguments: Any, number: int = 0, name: str = WEATHER) -> Any:
    function = {"name": name, "arguments": arguments}
    return chunk(tool_calls=[{"index": number, "id": f"c{number}", "function": function}])


def text_of(done: Done) -> str:
    return "".join(found["text"] for found in done.of_type("text"))


def told(endpoint: Endpoint) -> list[str]:
    """Return the tool messages sent to the model."""
    return [one["content"] for one in endpoint.requests[-1].json["messages"] if one["role"] == "tool"]


async def test_a_broken_stream_runs_no_call_keeps_its_text_and_is_not_restarted(tmp_path: Path):
    broken = Answer([chunk(content="Let me look"), called(NYC)], done=False)
    done, endpoint = await run(tmp_path, broken, says("never"))
    assert done.code == 4 and text_of(done) == "Let me look" and len(endpoint.requests) == 1
    assert done.of_type("tool_result") == [] and "ended early" in done.of_type("error")[0]["message"]


async def test_parallel_calls_over_the_limit_of_one_reply_are_not_run(tmp_path: Path):
    flood = Answer([*(called(f'{{"location": "place {n}"}}', n) for n in range(2000)), chunk("tool_calls")])
    done, endpoint = await run(tmp_path, flood, says("Enough."))
    assert text_of(done) == "Enough."
    assert sum("not run" not in text for text in told(endpoint)) <= 16 < len(told(endpoint))


async def test_a_completion_that_is_not_a_stream_is_an_answer(tmp_path: Path):
    whole = {"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}
    done, _ = await run(tmp_path, Answer(body=whole))
    assert done.code == 0 and text_of(done) == "Whole."


async def test_an_html_page_instead_of_an_answer_is_reported_with_what_to_check(tmp_path: Path):
    page = Answer(raw=b"<html><title>Sign in</title></html>", headers={"content-type": "text/html"})
    done, _ = await run(tmp_path, page)
    assert done.code == 4 and "Sign in" in str(done.of_type("error")[0])
    assert "base_url" in str(done.of_type("error")[0])


SERVER = (
    ANSWERING
    + """
def answer(method, params, ident):
    if method == "tools/call":
        return text(f"right: {params['arguments'] == {'code': 'canary-code', 'ssn': 'canary-ssn'}}")
schema = {"type": "object", "properties": {
    "code": {"type": "string", "format": "password"}, "ssn": {"type": "string"}}}
serve(answer, [{"name": "login", "inputSchema": schema}])
"""
)


def written() -> list[Path]:
    return [path for path in Path(os.environ["HOME"]).rglob("*") if path.is_file()]


async def test_arguments_secret_by_schema_or_rule_are_written_nowhere(tmp_path: Path):
    arguments = {"code": "canary-code", "ssn": "canary-ssn"}
    async with Endpoint([calls(("auth__login", arguments)), says("Done.")]) as endpoint:
        (tmp_path / "auth.py").write_text(SERVER, "utf-8")  # not in the command, which is recorded
        auth = server("auth", tmp_path / "auth.py", secret_arguments="login.ssn")
        config = config_file(tmp_path, auth, model(endpoint))
        options = ("--config", config, "--approve", "all", "--session", "s", "--json")
        done = await mcptui("run", *options, "log in")
        sent = endpoint.requests[-1].body
    assert done.code == 0 and "right: True" in done.out, done.out + done.err
    assert b"canary-code" in sent
    assert "canary" not in done.out + done.err and "[redacted:ssn]" in done.out
    home = written()
    assert any(path.suffix == ".mcptrace" for path in home)
    assert [path for path in home if b"canary" in path.read_bytes()] == []
