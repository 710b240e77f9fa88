"""`mcptui run`: a real process, real servers, and a real endpoint over HTTP."""

import json
import signal
from pathlib import Path

import pytest

from tests.configurations import config_file, model, server, table
from tests.conftest import until
from tests.endpoint import Answer, Endpoint, Request, calls, refuses, says
from tests.programs import ANSWERING
from tests.protocol.command import finish, mcptui, start

WEATHER_SERVER = Path(__file__).with_name("weather_server.py")
SAMPLES = Path(__file__).parents[2] / "sample_config" / "servers"


def config(folder: Path, endpoint: Endpoint, extra: str = "", key: str = "", *, trusted: bool = True) -> str:
    """Write a configuration with the endpoint and one server. `extra` can add others."""
    weather = server("weather", WEATHER_SERVER, trusted=trusted)
    return config_file(folder, model(endpoint), key, weather, extra)


SLOW = server("slow", SAMPLES / "slow.py")
BROKEN = table("servers.broken", command="no-such-program-anywhere")


async def test_the_answer_is_on_stdout_and_the_trace_on_stderr(tmp_path: Path):
    async with Endpoint([calls(("weather__get_weather", {"location": "NYC"})), says("Windy.")]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "weather in NYC?")
    assert (done.code, done.out) == (0, "Windy.\n")
    assert "weather › get_weather" in done.err and "✓" in done.err
    assert "no servers configured" not in done.err


async def test_json_prints_one_object_per_line_in_order(tmp_path: Path):
    two = calls(
        ("weather__get_weather", {"location": "NYC"}), ("weather__get_weather", {"location": "Beijing"})
    )
    async with Endpoint([two, says("Done.", pieces=1)]) as endpoint:
        done = await mcptui("run", "--json", "--config", config(tmp_path, endpoint), "compare")
        sent = endpoint.requests[1].json["messages"]
    kinds = [found["type"] for found in done.objects]
    assert kinds.count("decision") == 2
    steps = "turn_started step_started tool_call tool_call tool_result tool_result step_started text"
    assert [kind for kind in kinds if kind != "decision"] == [*steps.split(), "turn_ended"]
    locations = [found["arguments"]["location"] for found in done.of_type("tool_call")]
    assert locations == ["NYC", "Beijing"]
    assert [message["role"] for message in sent][-3:] == ["assistant", "tool", "tool"]
    assert "windy" in sent[-2]["content"] and "sunny" in sent[-1]["content"]
    assert done.of_type("turn_ended")[0]["reason"] == "answered" and done.code == 0


async def test_a_dash_reads_the_question_from_stdin(tmp_path: Path):
    async with Endpoint([says("ok")]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "-", stdin="北京天气如何".encode())
        assert endpoint.requests[0].json["messages"][-1]["content"] == "北京天气如何"
    assert done.code == 0


async def test_project_instructions_are_used_only_with_the_option_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    async with Endpoint([says("Yes.")]) as endpoint:
        asked = ("run", "--config", config(tmp_path, endpoint), "--no-servers", "hello?")
        missing = await mcptui(*asked, "--project-instructions")
        (tmp_path / "AGENTS.md").write_text("Answer in one sentence.")
        await mcptui(*asked)
        await mcptui(*asked, "--project-instructions")
        systems = [request.json["messages"][0]["content"] for request in endpoint.requests if request.body]
    assert missing.code == 2 and "AGENTS.md not found" in missing.err
    assert ["Answer in one sentence." in system for system in systems] == [False, True]


async def test_a_hard_limit_ends_with_code_3_and_a_last_request_without_tools(tmp_path: Path):
    again = calls(("weather__get_weather", {"location": "NYC"}))
    async with Endpoint([again, again, says("What I know.")]) as endpoint:
        done = await mcptui("run", "--json", "--max-steps", "2", "--config", config(tmp_path, endpoint), "go")
        last = endpoint.requests[2].json
    assert done.code == 3 and done.of_type("limit_reached") == [
        {"type": "limit_reached", "limit": "max_steps", "value": 2}
    ]
    assert "tools" not in last and done.of_type("turn_ended")[0]["text"] == "What I know."
    assert [result["why"] for result in done.of_type("tool_result")] == ["", "not run"]


async def test_a_model_error_ends_with_code_4_and_names_the_cause(tmp_path: Path):
    async with Endpoint([refuses(401, "Incorrect API key")]) as endpoint:
        done = await mcptui("run", "--json", "--config", config(tmp_path, endpoint), "go")
    assert done.code == 4 and "Incorrect API key" in done.of_type("error")[0]["message"]


async def test_exit_code_5_if_no_requested_server_starts_with_its_last_line(tmp_path: Path):
    async with Endpoint([says("ok")]) as endpoint:
        path = config(tmp_path, endpoint, server("broken", "-c", "import nothing_like_it"))
        done = await mcptui("run", "--server", "broken", "--config", path, "--", "go")
    assert done.code == 5 and "No module named 'nothing_like_it'" in done.err


async def test_a_failed_start_names_the_next_step_and_the_question_is_answered(tmp_path: Path):
    async with Endpoint([says("ok"), says("ok")]) as endpoint:
        path = config(tmp_path, endpoint, BROKEN + server("dies", "-c", "raise SystemExit(3)"))
        done = await mcptui("run", "--json", "--config", path, "go")
        shown = await mcptui("run", "--config", path, "go")
    assert done.code == shown.code == 0
    notices = [one["message"] for one in done.of_type("notice")]
    assert [one for one in notices if "“broken”" in one and "Check command in [servers.broken]." in one]
    assert "Check command in [servers.broken]." in shown.err
    step = f"To print its log: mcptui list dies --verbose --config {path}"
    assert step in shown.err and "Press" not in shown.err


LISTS_NOTHING = f"""{ANSWERING}
serve(lambda method, *_: refusal("the catalogue is down", -32603) if method == "tools/list" else None)
"""


async def test_a_server_whose_tools_cannot_be_listed_is_named(tmp_path: Path):
    async with Endpoint([says("ok"), says("ok")]) as endpoint:
        path = config(tmp_path, endpoint, server("shop", "-c", LISTS_NOTHING))
        shown = await mcptui("run", "--config", path, "go")
        done = await mcptui("run", "--json", "--config", path, "go")
    said = (
        "the tools of the server “shop” could not be listed: The server returned error -32603: the catalogue"
    )
    assert shown.code == 0 and said in shown.err
    assert any(said in one["message"] for one in done.of_type("notice"))


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["run", "--demo", ""], "empty"),
        (["run", "--model", "nope", "hi"], "model profile “nope” not found"),
        (["run", "--demo", "--server", "nope", "--", "hi"], "server “nope” not found"),
        (["run", "--demo", "--config", "/no/such/file.toml", "hi"], "file not found"),
        (["run", "--max-steps", "abc", "hi"], "must be an integer from 1 to 1000000, not “abc”"),
        (["run", "--max-steps", "0", "hi"], "must be an integer from 1 to 1000000"),
        ([], "mcptui run"),
    ],
)
async def test_invalid_arguments_are_code_2_with_a_message(args: list[str], word: str):
    done = await mcptui(*args)
    assert done.code == 2 and word in done.err and "Traceback" not in done.err
    assert "using the sample" not in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
async def test_a_signal_ends_the_turn_cleanly(tmp_path: Path, number: signal.Signals):
    async with Endpoint([Answer([], hang=True, raw=b": wait\n\n")]) as endpoint:
        words = ("run", "--json", "--config", config(tmp_path, endpoint), "go")
        process = await start(*words, piped=False)
        await until(lambda: endpoint.requests)
        process.send_signal(number)
        done = await finish(process)
        await until(lambda: endpoint.disconnects == 1)
    assert done.code == 128 + number and done.objects[-1]["reason"] == "cancelled"


async def test_the_model_is_told_that_a_server_exited_during_a_call(tmp_path: Path):
    async with Endpoint([calls(("slow__crash", {})), says("It crashed.")]) as endpoint:
        done = await mcptui(
            "run", "--approve", "all", "--config", config(tmp_path, endpoint, SLOW), "crash it"
        )
        told = endpoint.requests[1].json["messages"][-1]["content"]
    assert done.code == 0 and "exited with code 1" in told and "asked to crash" in told


async def test_calls_that_can_change_something_are_denied_if_only_reads_are_approved(tmp_path: Path):
    async with Endpoint([calls(("slow__crash", {})), says("I may not.")]) as endpoint:
        done = await mcptui(
            "run", "--json", "--approve", "reads", "--config", config(tmp_path, endpoint, SLOW), "go"
        )
    assert done.of_type("tool_result")[0]["why"] == "denied" and done.code == 0


async def test_without_a_terminal_an_approval_is_refused(tmp_path: Path):
    async with Endpoint([calls(("slow__crash", {})), says("I may not.")]) as endpoint:
        done = await mcptui("run", "--json", "--config", config(tmp_path, endpoint, SLOW), "go")
    assert done.of_type("tool_result")[0]["text"].startswith(
        "denied: needs approval, and there is no terminal to ask on (adds or changes data. "
        "Deletes nothing, according to the server). To allow it, use --approve all"
    )


async def test_the_line_of_a_denied_call_names_the_whole_option_that_allows_it(tmp_path: Path):
    read = calls(("weather__get_weather", {"location": "NYC"}))
    async with Endpoint([read, says("I may not.")]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint, trusted=False), "go")
    assert "use --approve reads --trust weather" in done.err


async def test_without_a_key_nothing_is_sent_and_one_error_says_what_to_do(tmp_path: Path):
    async with Endpoint([says("Hi.")]) as endpoint:
        path = config(tmp_path, endpoint, key='api_key_env = "NOT_SET_ANYWHERE"')
        done = await mcptui("run", "--config", path, "--no-servers", "hi")
        assert not endpoint.requests
    assert done.code == 2
    assert done.err.splitlines()[-1] == (
        "mcptui: scripted has no key: the environment variable NOT_SET_ANYWHERE is not set. "
        "Set it, store a key with `mcptui config key`, or add --model NAME."
    )


@pytest.mark.parametrize(
    ("question", "tool", "word"),
    [
        ("北京天气如何", "get_weather", "sunny"),
        ("What's the weather in Hangzhou?", "get_weather", "Hangzhou"),
        ("add a note: buy milk", "add_note", "buy milk"),
    ],
)
async def test_the_demo_model_answers_without_configuration(question: str, tool: str, word: str):
    done = await mcptui("run", "--demo", "--json", "--approve", "all", question)
    assert [call["tool"] for call in done.of_type("tool_call")] == [tool]
    assert word in done.of_type("turn_ended")[0]["text"] and "demo model" in done.objects[0]["model"]


async def test_escape_sequences_from_a_model_are_shown_as_text(tmp_path: Path):
    async with Endpoint([says("red \x1b[31m and \x1b]0;title\x07", pieces=1)]) as endpoint:
        done = await mcptui("run", "--config", config(tmp_path, endpoint), "go")
    assert "\x1b" not in done.out + done.err and "␛[31m" in done.out


SAMPLES_USED = "· no servers configured, using the samples weather, notes"


async def test_without_configuration_the_started_samples_are_named():
    done = await mcptui("run", "--demo", "hello")
    assert done.code == 0 and SAMPLES_USED in done.err.splitlines()


@pytest.mark.parametrize(
    "words",
    [
        ("--no-start", "run", "--demo", "hello"),
        ("run", "--demo", "hello", "--no-start"),
        ("run", "--demo", "--no-servers", "hello"),
    ],
)
async def test_no_servers_start_with_the_option_for_none(words: tuple[str, ...]):
    done = await mcptui(*words)
    assert done.code == 0 and "0 tools" in done.err and SAMPLES_USED not in done.err


async def test_a_named_server_starts_despite_no_start():
    done = await mcptui("--no-start", "run", "--demo", "--server", "weather", "--", "hello")
    assert done.code == 0 and "2 tools" in done.err
    assert "no servers configured, using the sample weather\n" in done.err


@pytest.mark.parametrize("words", [("--no-servers", "run"), ("run", "--no-servers")])
async def test_no_servers_and_a_named_server_contradict_each_other(words: tuple[str, ...]):
    done = await mcptui(*words, "--demo", "--server", "weather", "--", "hello")
    assert done.code == 2 and "--no-servers" in done.err


SCHEMA = {"type": "object", "properties": {"wind": {"type": "integer"}}, "required": ["wind"]}


def schema(folder: Path, text: str = json.dumps(SCHEMA)) -> str:
    path = folder / "schema.json"
    path.write_text(text, encoding="utf-8")
    return str(path)


async def test_an_answer_by_a_schema_is_json_and_the_schema_is_sent_to_the_endpoint(tmp_path: Path):
    async with Endpoint([says('As in [1]: {"wind": 7,}.')]) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--schema", schema(tmp_path))
        done = await mcptui("run", *given, "--no-servers", "wind?")
        sent = endpoint.requests[0].json
    assert (done.code, json.loads(done.out)) == (0, {"wind": 7})
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert json.dumps(SCHEMA, separators=(",", ":")) in sent["messages"][0]["content"]


async def test_an_answer_that_does_not_match_is_corrected_without_tools(tmp_path: Path):
    replies = [calls(("weather__get_weather", {"location": "NYC"})), says("Windy."), says('{"wind": 7}')]
    async with Endpoint(replies) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--schema", schema(tmp_path))
        done = await mcptui("run", *given, "--json", "wind?")
        first, second, last = (request.json for request in endpoint.requests)
    assert done.code == 0 and done.of_type("turn_ended")[0]["answer"] == {"wind": 7}
    assert "tools" in second and "tools" not in last
    assert "response_format" not in first and last["response_format"]["type"] == "json_schema"
    assert "does not match the JSON Schema: not JSON." in last["messages"][-1]["content"]


async def test_without_response_format_support_the_answer_is_only_validated(tmp_path: Path):
    def plain(request: Request) -> Answer:
        refused = refuses(400, "response_format is not supported by this model")
        return refused if "response_format" in request.json else says('{"wind": 7}')

    async with Endpoint([plain]) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--schema", schema(tmp_path))
        done = await mcptui("run", *given, "--no-servers", "wind?")
    assert (done.code, json.loads(done.out)) == (0, {"wind": 7})


async def test_an_answer_that_never_matches_ends_with_code_6_and_the_reason(tmp_path: Path):
    async with Endpoint([says('{"wind": "strong"}')]) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--schema", schema(tmp_path))
        done = await mcptui("run", *given, "--no-servers", "--output", str(tmp_path / "out"), "wind?")
        assert len(endpoint.requests) == 3
    assert (done.code, done.out) == (6, "") and not (tmp_path / "out").exists()
    assert "does not match the schema: wind: 'strong' is not of type 'integer'" in done.err
    assert '{"wind": "strong"}' in done.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "must be an object"),
        ('{"type": "nothing"}', "is not a valid JSON Schema: type:"),
    ],
)
async def test_an_invalid_schema_file_is_reported_before_the_first_request(
    tmp_path: Path, text: str, told: str
):
    async with Endpoint([says("no")]) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--schema", schema(tmp_path, text))
        done = await mcptui("run", *given, "--no-servers", "wind?")
        assert endpoint.requests == []
    assert done.code == 2 and "schema.json" in done.err and told in done.err


async def test_allowed_and_denied_calls_are_recorded_and_can_be_listed() -> None:
    assert (await mcptui("run", "--demo", "--approve", "none", "What's the weather in NYC?")).code == 0
    assert (await mcptui("run", "--demo", "--approve", "all", "What's the weather in NYC?")).code == 0
    found = (await mcptui("decisions", "--json")).objects
    assert [(one["server"], one["subject"], one["decision"], one["decided_by"]) for one in found] == [
        ("weather", "get_weather", "denied", "option --approve none"),
        ("weather", "get_weather", "allowed", "default (marked read-only by a trusted server)"),
    ]
    assert "NYC" not in (await mcptui("decisions")).out
