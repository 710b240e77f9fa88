"""The command that repeats a case, quoted for a shell."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.suite.case import Case, Expectation, Lose, Request, RequestKind, Suite, SuiteServer
from tui.core.servers import ServerSpec

HERE = Path("weather.mcp.toml")
LOCAL = Suite(HERE, SuiteServer(command=("python", "my server.py")))
ONLY = RepeatCommand()
SPEC = ServerSpec("weather", "python", ("my server.py",))


def case(kind: RequestKind = RequestKind.TOOL, name: str = "get_weather", **more: object) -> Case:
    arguments = more.pop("arguments", {})
    return Case("rain", 3, Request(kind, name, arguments), **more)  # type: ignore[arg-type]


def redact(text: str) -> str:
    return text.replace("canary", "[redacted:key]")


def repeated(one: Case, suite: Suite = LOCAL, command: RepeatCommand = ONLY, era: str = "") -> str:
    return command.of(suite, SPEC, one, redact, era)


def test_a_tool_call_is_repeated_with_its_arguments():
    line = repeated(case(arguments={"location": "Xi'an", "days": 2}))
    assert shlex.split(line) == [
        *("mcptui", "call", "get_weather", "--args", '{"location": "Xi\'an", "days": 2}'),
        *("--", "python", "my server.py"),
    ]


@each_case(
    ("one", "words"),
    [
        (case(), "call get_weather"),
        (case(RequestKind.READ, "notes://a b"), "read 'notes://a b'"),
        (case(RequestKind.PROMPT, "hi", arguments={"who": "Ada L"}), "prompt hi 'who=Ada L'"),
        (case(RequestKind.LIST, "tools"), "list tools"),
        (case(RequestKind.LIST, "templates"), "list resources"),
        (case(expected=Expectation(error=True)), "call get_weather --args '{}' --unchecked"),
    ],
)
def test_each_kind_of_request_has_its_command(one: Case, words: str):
    assert repeated(one) == f"mcptui {words} -- python 'my server.py'"


def test_the_command_starts_in_the_folder_of_the_file(tmp_path: Path):
    suite = Suite(tmp_path / "a b" / "x.mcp.toml", SuiteServer(command=("python",), cwd="src"))
    folder = shlex.quote(str(tmp_path / "a b" / "src"))
    assert repeated(case(), suite) == f"(cd {folder} && mcptui call get_weather -- python)"


def test_variables_are_passed_on_as_they_are_written():
    server = SuiteServer(command=("python",), env={"KEY": "${KEY}"}, era="legacy")
    assert repeated(case(), Suite(HERE, server)) == (
        "mcptui call get_weather --era legacy --env 'KEY=${KEY}' -- python"
    )


def test_variables_of_a_url_are_filled_in_by_the_shell():
    server = SuiteServer(url="https://${HOST}/mcp?a=`x`", headers={"Authorization": "Bearer ${TOKEN}"})
    assert repeated(case(), Suite(HERE, server)) == (
        "mcptui call https://\"${HOST:?}\"'/mcp?a=`x`' get_weather --header 'Authorization: Bearer ${TOKEN}'"
    )


def test_a_configured_server_is_named_with_its_configuration():
    command = RepeatCommand(options=("--config", "c.toml"))
    assert repeated(case(), Suite(HERE, SuiteServer(name="weather")), command) == (
        "mcptui call weather get_weather --config c.toml"
    )


def test_a_server_of_the_command_line_replaces_that_of_the_file():
    named = Suite(HERE, SuiteServer(name="weather"))
    assert repeated(case(), named, RepeatCommand(live=("node", "x.js"))) == (
        "mcptui call get_weather -- node x.js"
    )
    assert repeated(case(), LOCAL, RepeatCommand(server="prod")) == "mcptui call prod get_weather"


LOST = case(lose=Lose.ANSWER)


@pytest.mark.parametrize(
    "one", [LOST, case(then=(case(),)), case(answers={"form": {}})], ids=["lost", "then", "answers"]
)
def test_what_a_single_call_cannot_repeat_is_run_again_as_a_case(one: Case):
    assert repeated(one) == "mcptui test weather.mcp.toml -k rain"


def test_a_case_is_repeated_with_the_options_of_the_run():
    command = RepeatCommand(("node", "x.js"), "", ("--trust-config",))
    assert repeated(replace(LOST, name="it's"), LOCAL, command, "modern") == (
        "mcptui test weather.mcp.toml -k 'it'\"'\"'s' --era modern --trust-config -- node x.js"
    )


def test_a_case_with_values_of_others_is_repeated_with_them():
    assert repeated(case(arguments={"id": "${id}"})) == "mcptui test weather.mcp.toml -k rain"


def test_a_call_with_huge_arguments_is_repeated_by_its_name():
    assert repeated(case(arguments={"text": "x" * 5_000})) == "mcptui test weather.mcp.toml -k rain"


def test_a_command_with_a_secret_runs_the_case_of_the_file_instead():
    suite = replace(LOCAL, server=SuiteServer(command=("python", "x.py"), env={"TOKEN": "canary"}))
    assert shlex.split(repeated(case(), suite)) == ["mcptui", "test", "weather.mcp.toml", "-k", "rain"]
