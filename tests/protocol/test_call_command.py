"""`mcptui call`, `read`, `prompt` and `list`: a real process, real servers over stdio and HTTP."""

import asyncio
import base64
import json
import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

from tests import programs
from tests.configurations import config_file, server, table
from tests.http_server import ECHO, LEGACY, MODERN, Asked, http_server, reply, says
from tests.protocol.command import Done, in_this_process, mcptui, start
from tests.protocol.offering_server import PNG
from tests.trusted import trusting

SERVER = Path(__file__).with_name("offering_server.py")


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.fixture
def config(tmp_path: Path, calls: Path) -> str:
    """Configure two servers: one to call, and one that creates a file if it is started."""
    return config_file(
        tmp_path,
        server("offering", SERVER, calls),
        table("servers.other", command="touch", args=[str(tmp_path / "started")]),
        table("servers.off", command="touch", disabled=True),
        table("servers.unset", command="${NO_SUCH_COMMAND}"),
    )


def add_to(file: Path, text: str) -> None:
    file.write_text(f"{file.read_text()}\n{text}")


def add_faults(file: Path, rules: str) -> None:
    head = "[servers.offering]\n"
    file.write_text(file.read_text().replace(head, f"{head}faults = {rules}\n"))


def calls_in(file: Path) -> list[object]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def refused(done: Done, calls: Path, *words: str) -> None:
    """Check that nothing was called and that the message contains these words."""
    assert (done.code, done.out, calls.exists()) == (2, "", False), done
    assert [word for word in words if word not in done.err] == []


async def test_a_value_is_converted_by_the_schema_of_the_tool(config: str, calls: Path, tmp_path: Path):
    given = ("text=12", "count=3", "ratio=0.5", "loud=true", "mode=very slow", 'tags=["a", "b"]')
    done = await mcptui("call", "--config", config, "offering", "show", *given, 'place={"city": "Rome"}')
    expected = {"text": "12", "count": 3, "ratio": 0.5, "loud": True, "mode": "very slow"}
    expected |= {"tags": ["a", "b"], "place": {"city": "Rome"}}
    assert done.code == 0 and json.loads(done.out) == expected
    assert calls_in(calls) == [{"tool": "show", "arguments": expected}]
    assert not (tmp_path / "started").exists()  # no other server was started


async def test_a_call_is_recorded_as_a_decision(config: str, tmp_path: Path):
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    await mcptui("call", "--config", config, "offering", "show", "text=private", **state)
    done = await mcptui("decisions", "--json", **state)
    found = [one for one in map(json.loads, done.out.splitlines()) if one["kind"] == "call"]
    (decision,) = found
    assert (decision["server"], decision["subject"]) == ("offering", "show (by hand)")
    assert (decision["decided_by"], decision["decision"]) == ("command mcptui call", "allowed")
    assert "private" not in done.out


async def test_json_prints_the_whole_answer_of_the_server(config: str):
    done = await mcptui("call", "--json", "--config", config, "offering", "show", "text=x")
    content = [{"type": "text", "text": '{"text": "x"}'}]
    assert json.loads(done.out) == {"content": content, "structuredContent": {"text": "x"}}


async def test_a_command_after_two_dashes_is_the_server(tmp_path: Path):
    done = await mcptui(
        "call", "show", "text=hello", "--", *programs.command(SERVER), str(tmp_path / "--json")
    )
    assert (done.code, done.out) == (0, '{"text": "hello"}\n')
    assert (tmp_path / "--json").exists()  # an option after -- is the server's


async def test_a_server_given_as_a_command_needs_no_valid_configuration(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers")
    done = await mcptui("call", "show", "text=x", "--config", str(path), "--", *programs.command(SERVER))
    assert done.code == 0
    done = await mcptui("call", "offering", "show", "text=x", "--config", str(path))
    assert done.code == 2 and f"{path}:1" in done.err
    path.write_text('[servers.offering]\ncommand = "x"\nargs = 3\ncolour = 1\n')
    done = await mcptui("call", "offering", "show", "text=x", "--config", str(path))
    assert done.code == 2 and "offering: its configuration has 2 problems:\n  " in done.err


async def test_an_http_tool_is_called_with_a_header_from_the_environment():
    async with http_server() as server:
        header = ("--header", "Authorization: Bearer ${SOME_TOKEN}")
        done = await mcptui("call", server.url, "echo", "text=hi", *header, SOME_TOKEN="t-3kq9Zt")
        assert (done.code, done.out) == (0, '{"text": "hi"}\n'), done
        assert {one.headers.get("authorization") for one in server.asked} == {"Bearer t-3kq9Zt"}


async def test_a_url_without_a_server_gives_one_sentence_and_exit_code_5():
    done = await mcptui("call", "http://127.0.0.1:9/mcp", "echo")
    assert (done.code, done.out) == (5, "")
    assert "http://127.0.0.1:9" in done.err and "refused" in done.err and "Press" not in done.err


async def test_an_http_error_status_fails_the_call_and_is_reported():
    async with http_server() as server:
        server.answers["tools/call"] = says(reply(b"down", "503 Service Unavailable", "text/plain"))
        done = await mcptui("call", server.url, "echo", "text=hi", "--json")
        assert done.code == 1 and "503" in done.err
        assert json.loads(done.out)["type"] == "error" and server.methods().count("tools/call") == 1


async def test_a_server_that_fails_to_start_is_reported_with_its_last_line():
    failing = "import sys; print('no luck', file=sys.stderr); sys.exit(3)"
    done = await mcptui("list", "--", sys.executable, "-c", failing)
    assert (done.code, done.out) == (5, "")
    assert "exited with code 3" in done.err and "no luck" in done.err and "--verbose" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "txt=x"), ("no argument “txt”", "did you mean “text”?", "Its arguments: text=TEXT")),
        (("show",), ("show needs text", "text=TEXT [count=INTEGER]")),
        (("show", "hello"), ("is not NAME=VALUE.", "text=hello")),
        (("show", "text=a", "text=b"), ("text is set twice",)),
        (("show", "text=a", "count=many"), ("count is not an integer: “many”",)),
        (("show", "text=a", "count=-1"), ("count must be at least 0",)),
        (("show", "text=a", "mode=slow"), ("mode must be one of fast|'very slow'",)),
        (("show", "text=a", "tags=a,b"), ("tags is not JSON", """Write JSON, such as tags='["a", "b"]'""")),
        (("show", "text=a", "place=[]"), ("place is not a JSON object",)),
        (("show", "text=a", "place={}"), ("invalid arguments for show", "'city' is a required property")),
        (("fail", "x=1"), ("fail has no argument “x”", "takes no arguments")),
        (("sow",), ("offering has no tool “sow”, did you mean “show”?", "Its tools: show, fail")),
        (("show", "--args", "[1]"), ("--args: the string is not a JSON object",)),
        (("show", "--args", '{"text": }'), ("line 1, column 10",)),
        (("show", "--args", '{"text": 1}'), ("text: 1 is not of type 'string'",)),
        (("show", "--args", '{"txt": "a"}'), ("no argument “txt”",)),
        (("show", "text=a", "--args", "{}"), ("cannot be combined",)),
        (("show", "--args", "@/no/such/file"), ("No such file", "/no/such/file")),
        (("show", "text=a", "-o", "/no/such/folder/file"), ("No such file",)),
        (
            ("show", "text=a", "--header", "A: b"),
            ("--header, --env and --transport require a URL or a command.",),
        ),
        (("show", "text=a", "--era", "legacy"), ("--era requires a URL or a command.",)),
    ],
    ids=lambda value: " ".join(value)[:40],
)
async def test_arguments_that_do_not_fit_are_refused_and_nothing_is_called(
    config: str, calls: Path, words: tuple[str, ...], said: tuple[str, ...]
):
    refused(await mcptui("call", "--config", config, "offering", *words), calls, *said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("call", "offerings", "show"), ("did you mean “offering”?", "Configured servers: offering, other")),
        (("call", "off", "show"), ("“off” is disabled",)),
        (("call", "unset", "show"), ("NO_SUCH_COMMAND is not set",)),
        (("call", "offering"), ("the tool is required", "mcptui call SERVER TOOL")),
        (("call",), ("SERVER is required",)),
        (("read", "offering", "memo://a", "memo://b"), ("unexpected argument: “memo://b”",)),
        (("list", "offering", "toys"), ("cannot list “toys”", "tools, resources, prompts")),
        (("call", "ftp://host/x", "show"), ("ftp:// is not a server URL",)),
        (("prompt", "offering", "rewiew"), ("no prompt “rewiew”, did you mean “review”?",)),
        (("prompt", "offering", "review"), ("review needs topic", "topic=TEXT [style=TEXT]")),
        (("prompt", "offering", "review", "topik=x"), ("no argument “topik”, did you mean “topic”?",)),
    ],
    ids=lambda value: " ".join(value)[:40],
)
async def test_an_invalid_command_line_gets_a_suggestion(
    config: str, calls: Path, words: tuple[str, ...], said: tuple[str, ...]
):
    refused(await mcptui(*words, "--config", config), calls, *said)


async def test_arguments_come_from_a_file_or_from_stdin(config: str, tmp_path: Path):
    (tmp_path / "a.json").write_text('{"text": "file"}')
    done = await mcptui("call", "--config", config, "offering", "show", "--args", f"@{tmp_path}/a.json")
    assert json.loads(done.out) == {"text": "file"}
    piped = ("call", "--config", config, "offering", "show", "--args", "-")
    assert json.loads((await mcptui(*piped, stdin=b'{"text": "stdin"}')).out) == {"text": "stdin"}


async def test_unchecked_sends_arguments_that_do_not_match_the_schema(config: str):
    odd = ("--args", '{"count": "x", "more": 1}', "--unchecked")
    done = await mcptui("call", "--config", config, "offering", "show", *odd)
    assert (done.code, json.loads(done.out)) == (0, {"count": "x", "more": 1})


async def test_a_tool_that_takes_any_arguments_gets_json(config: str):
    done = await mcptui("call", "--config", config, "offering", "any", "a=1", 'b="text"')
    assert json.loads(done.out) == {"a": 1, "b": "text"}
    done = await mcptui("call", "--config", config, "offering", "any", "a=text")
    assert done.code == 2 and """Write JSON, such as a='"text"'""" in done.err


async def test_a_typed_command_is_not_looked_for_in_the_configuration(tmp_path: Path):
    (program := tmp_path / "notes.txt").write_text("milk")
    done = await mcptui("list", "--", str(program))
    assert done.code == 5 and "is not executable. Check the command after --." in done.err


async def test_a_server_of_the_hello_dialect_says_which_option_it_needs():
    maths = str(Path(__file__).parents[2] / "sample_config" / "servers" / "legacy_math.py")
    done = await mcptui("call", "add", "a=1", "b=2", "--", sys.executable, maths)
    assert done.code == 5 and "Use --transport lines." in done.err
    done = await mcptui("call", "add", "a=1", "b=2", "--transport", "lines", "--", sys.executable, maths)
    assert (done.code, done.out) == (0, "3\n")


async def test_a_tool_error_is_printed_as_the_result_with_exit_code_1(config: str):
    done = await mcptui("call", "--config", config, "offering", "fail")
    assert (done.code, done.out) == (1, "no luck\n")


async def test_injected_faults_are_counted_on_stderr(config: str):
    add_faults(Path(config), '["tool:show error=-32603", "repeat 1/9"]')
    done = await mcptui("call", "--config", config, "offering", "show", "text=a", "count=1")
    assert (done.code, "· faults: 2 rules, 1 injected\n" in done.err) == (1, True), done
    done = await mcptui("list", "--config", config, "offering")
    assert "· faults: 2 rules, " in done.err


async def test_a_protocol_error_is_printed_on_stderr_with_exit_code_1(config: str):
    done = await mcptui("call", "--config", config, "offering", "refuse")
    assert (done.code, done.out) == (1, "") and "not with me" in done.err


async def test_a_call_that_times_out_is_cancelled_with_exit_code_3(config: str):
    done = await mcptui("call", "--config", config, "offering", "hang", "--seconds", "0.4")
    assert (done.code, done.out) == (3, "") and "within 0.4 s (--seconds)" in done.err


async def test_ctrl_c_cancels_the_call_and_stops_the_server(config: str):
    process = await start("call", "--config", config, "offering", "hang", piped=False)
    assert process.stderr is not None and process.stdout is not None
    async with asyncio.timeout(30):
        while b"half" not in await process.stderr.readline():
            pass
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        code = await process.wait()
        await asyncio.gather(process.stderr.read(), process.stdout.read())
    assert code == 130 and time.monotonic() - began < 10
    said = await mcptui("traffic", "--config", config, "--filter", "method:notifications/cancelled", "--json")
    assert len(said.out.splitlines()) == 1


async def test_the_log_of_the_server_is_printed_only_on_request(config: str):
    quiet = await mcptui("call", "--config", config, "offering", "show", "text=x")
    told = await mcptui("call", "-v", "--config", config, "offering", "show", "text=x")
    assert "calling show" not in quiet.err
    assert "offering: calling show" in told.err and "offering warning: half awake" in told.err
    assert quiet.out == told.out


async def test_a_single_image_is_written_to_a_pipe_or_a_file_as_bytes(config: str, tmp_path: Path):
    target = tmp_path / "image.png"
    done = await mcptui("call", "--config", config, "offering", "image", "-o", str(target))
    assert (done.code, done.out, target.read_bytes()) == (0, "", PNG)
    target = tmp_path / "mixed.png"
    done = await mcptui("call", "--config", config, "offering", "mixed", "-o", str(target))
    assert done.out == "look:\n" and target.read_bytes() == PNG
    assert (tmp_path / "mixed-2.png").read_bytes() == PNG


async def test_images_among_text_are_described_with_a_hint_how_to_save_them(config: str):
    done = await mcptui("call", "--config", config, "offering", "mixed")
    assert done.out == "look:\n[image image/png, 10 B]\n[image image/png, 10 B]\n" and "-o FILE" in done.err


async def test_a_resource_is_cleaned_in_a_pipe_and_complete_as_json(config: str):
    done = await mcptui("read", "--config", config, "offering", "memo://text")
    assert (done.code, done.out) == (0, "one\ntwo␛[31m")
    done = await mcptui("read", "--json", "--config", config, "offering", "memo://bytes")
    assert base64.b64decode(json.loads(done.out)["contents"][0]["blob"]) == PNG


async def test_a_missing_resource_is_reported(config: str):
    done = await mcptui("read", "--config", config, "offering", "memo://nothing")
    assert (done.code, done.out) == (1, "") and "Resource not found: memo://nothing" in done.err


async def test_a_prompt_is_filled_in(config: str):
    done = await mcptui("prompt", "--config", config, "offering", "review", "topic=the plan", "style=short")
    assert (done.code, done.out) == (0, "Review style=short topic=the plan\n")


async def test_a_list_shows_how_to_call_each_tool(config: str):
    done = await mcptui("list", "--config", config, "offering")
    assert done.code == 0
    for line in (
        "  show text=TEXT [count=INTEGER] [ratio=NUMBER] [loud=true|false] [mode=fast|'very slow'] "
        "[tags=[JSON]] [place={JSON}]",
        "  memo://text  text",
        "  memo://{name}  any memo",
        "  review topic=TEXT [style=TEXT]",
    ):
        assert line in done.out.splitlines()


async def test_a_list_as_json_is_the_list_from_the_server(config: str):
    done = await mcptui("list", "--json", "--config", config, "offering", "tools")
    listed = json.loads(done.out)
    assert list(listed) == ["tools"] and listed["tools"][1]["name"] == "fail"


async def on_a_terminal(*words: str) -> tuple[int, str]:
    """Run a command whose stdout is a terminal. Return its exit code and its output."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", 0) as shown:
        with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
            done = await asyncio.to_thread(in_this_process, trusting(words), stdout=terminal)
            terminal.flush()
            os.set_blocking(ours, False)
            out = shown.read() or b""  # all of it, however many pieces
    return done.code, out.decode() + done.err


async def test_a_terminal_gets_no_binary_data_and_no_escape_sequences(config: str):
    code, said = await on_a_terminal("read", "--config", config, "offering", "memo://bytes")
    assert code == 2 and "image/png" in said and "-o FILE" in said and "PNG\r" not in said
    code, said = await on_a_terminal("call", "--config", config, "offering", "escapes")
    assert code == 0 and "\x1b" not in said and "\u202e" not in said and "␛]0;owned" in said


TASKS = SERVER.with_name("task_server.py")


@pytest.fixture
def at_server(tmp_path: Path) -> Path:
    return tmp_path / "at-server.json"


def statuses(at_server: Path) -> list[str]:
    return [task["status"] for task in json.loads(at_server.read_text()).values()]


def task_config(tmp_path: Path, at_server: Path) -> str:
    return config_file(tmp_path, server("tasks", TASKS, env={"TASKS_FILE": str(at_server)}, off=["stuck"]))


async def test_a_call_waits_for_the_task_it_becomes(tmp_path: Path, at_server: Path):
    done = await mcptui("call", "--config", task_config(tmp_path, at_server), "tasks", "count")
    assert (done.code, done.out) == (0, "counted to 3\n")
    assert done.err.count("task working") == 3


async def test_a_task_that_times_out_is_cancelled_with_exit_code_3(tmp_path: Path, at_server: Path):
    config = task_config(tmp_path, at_server)
    done = await mcptui("call", "--config", config, "tasks", "stuck", "--seconds", "1")
    assert (done.code, done.out) == (3, "")
    assert "The task did not respond or report progress within 1 s (--seconds). It was cancelled." in done.err
    assert statuses(at_server) == ["cancelled"]


@pytest.mark.parametrize("modern", [True, False], ids=["modern", "legacy"])
async def test_a_list_requests_each_kind_once(modern: bool):
    listed = {
        "tools/list": {"tools": [ECHO]},
        "resources/list": {"resources": [{"uri": "a://b", "name": "b"}]},
        "resources/templates/list": {"resourceTemplates": []},
        "prompts/list": {"prompts": [{"name": "greet"}]},
    }
    offers = {"tools": {}, "resources": {}, "prompts": {}}
    listed["server/discover" if modern else "initialize"] = {
        "capabilities": offers,
        **({"supportedVersions": [MODERN]} if modern else {"protocolVersion": LEGACY}),
        "serverInfo": {"name": "far", "version": "1"},
    }
    more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        result = {**listed[asked.method], **more}
        headers = {} if modern else {"mcp_session_id": "s"}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}, **headers))

    async with http_server(modern=modern, sessions={"s"}, answers=dict.fromkeys(listed, answer)) as server:
        done = await mcptui("list", server.url)
    assert done.code == 0 and "a://b" in done.out and "greet" in done.out
    asked = [method for method in server.methods() if method.endswith("/list")]
    assert sorted(asked) == sorted(set(listed) - {"server/discover", "initialize"})


async def test_a_list_marks_the_tools_not_offered_to_the_model(tmp_path: Path, at_server: Path):
    done = await mcptui("list", "--config", task_config(tmp_path, at_server), "tasks", "tools")
    assert done.out.count("not offered to the model") == 1
    assert "stuck\n    Never end.\n    not offered to the model: disabled\n" in done.out


async def test_a_tool_denied_by_a_rule_can_be_called_by_hand_and_the_rule_is_named(config: str, calls: Path):
    add_to(Path(config), '[approvals]\nrules = ["deny offering/*"]\n')
    done = await mcptui("list", "--config", config, "offering", "tools")
    assert "not offered to the model: deny offering/*\n" in done.out
    done = await mcptui("call", "--config", config, "offering", "show", "--args", "{}", "--unchecked")
    assert "· a rule denies this call to the model: deny offering/*\n" in done.err
    assert len(calls_in(calls)) == 1


@pytest.mark.parametrize(("era", "first"), [("legacy", "initialize"), ("modern", "server/discover")])
async def test_the_protocol_era_can_be_set_for_a_url(era: str, first: str):
    async with http_server(modern=era == "modern") as server:
        done = await mcptui("call", server.url, "echo", "text=a", "--era", era)
        assert done.code == 0, done.err
        assert (
            server.methods()[0] == first
            and len({"initialize", "server/discover"} & set(server.methods())) == 1
        )


async def test_the_protocol_era_can_be_set_for_a_command():
    command = (sys.executable, str(Path(__file__).with_name("gateway_server.py")), "error")
    done = await mcptui("list", "tools", "--era", "modern", "--", *command)
    assert done.code == 5 and 'initialize was not tried because era is "modern".' in done.err
    done = await mcptui("list", "tools", "--json", "--era", "legacy", "--", *command)
    assert done.code == 0 and len(json.loads(done.out)["tools"]) == 2
