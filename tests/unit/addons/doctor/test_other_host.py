"""What other hosts do with an entry of their configuration."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.doctor.causes import cause_of
from tui.addons.doctor.habits import HABITS
from tui.addons.doctor.other_host import host_steps, in_words_of, input_steps, of_inputs
from tui.addons.doctor.steps import Checklist, State, Step

COMMAND = Step("command", "/opt/node/bin/node")


def told(title: str, entry: dict[str, Any], *steps: Step, tools: tuple[str, ...] = ()) -> list[Step]:
    return [*host_steps(title, entry, Checklist("s", "", [*steps], tools=tools), [])]


@each_case(
    ("title", "entry", "said"),
    [
        ("Claude Desktop", {"url": "https://h/mcp"}, "ignores servers with a url"),
        ("Claude Code", {"url": "https://h/mcp"}, "does not use a url without a type"),
        ("Cursor", {"command": "x", "env": {"A": "${A}"}}, "passes ${A} on as it is"),
        ("Claude Code", {"url": "https://h/mcp", "transport": "http"}, "does not use a url without a type"),
        ("Claude Code", {"command": "x", "cwd": "/srv"}, "ignores `cwd`"),
        ("Claude Code", {"command": "x", "disabled": True}, "starts it: it ignores `disabled`"),
        ("Roo Code", {"url": "https://h/mcp"}, "does not use a url without a type"),
        ("Roo Code", {"command": "x", "disabled": True}, "it is disabled"),
        ("Zed", {"command": "x", "args": ["./a/server.py"]}, "./a/server.py is relative"),
    ],
)
def test_what_a_host_does_otherwise_is_told(title: str, entry: dict[str, Any], said: str):
    (found,) = told(title, entry)
    assert said in found.seen and found.state is not State.OK


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "./run.sh"},
        {"command": "x", "args": ["server.py"]},
        {"command": "x", "args": ["--db=data.db"]},
    ],
)
def test_relative_paths_of_any_form_are_told(entry: dict[str, Any]):
    (found,) = told("Cursor", entry)
    assert "is relative, and Cursor starts it in a folder that it chooses" in found.seen
    assert told("Cursor", entry | {"cwd": "/srv"})[0].state is State.OK


def test_a_working_directory_that_the_host_ignores_does_not_help_a_relative_path():
    found = told("Claude Code", {"command": "x", "args": ["./server.py"], "cwd": "/srv"})
    assert [step.seen.partition(" ")[0] for step in found] == ["Claude", "./server.py"]


def test_the_type_to_add_is_the_one_of_the_host():
    (found,) = told("Roo Code", {"url": "https://h/mcp"})
    assert found.fix == 'Add `"type": "streamable-http"`.'


def test_a_url_without_a_type_is_fine_for_a_host_that_tries_both_transports():
    assert told("Gemini CLI", {"url": "https://h/mcp"})[0].state is State.OK


def test_the_advice_for_a_variable_names_it():
    (found,) = told("Cursor", {"command": "x", "env": {"A": "${MY_KEY}"}})
    assert found.fix == "Write ${env:MY_KEY}."


def test_a_host_of_the_desktop_may_lack_the_path_of_a_shell():
    (found,) = told("Cursor", {"command": "node"}, COMMAND)
    assert "may not find node" in found.seen and '"/opt/node/bin/node"' in found.fix
    assert told("Claude Code", {"command": "node"}, COMMAND)[0].state is State.OK


def test_limits_of_tools_and_names_are_told():
    many = tuple(f"tool-{number}" for number in range(101))
    assert "101 tools" in told("Windsurf", {}, tools=many)[0].seen
    assert "too long" in told("Cursor", {}, tools=("x" * 60,))[0].seen


def test_an_editor_that_asks_the_shell_has_its_path():
    assert told("VS Code", {"command": "node"}, COMMAND)[0].state is State.OK


@each_case(
    ("title", "text", "is_replaced"),
    [
        ("VS Code", "${input:key}", True),
        ("VS Code", "${config:a.b}", True),
        ("VS Code", "${KEY}", False),
        ("Roo Code", "${workspaceFolder}", True),
        ("Roo Code", "${userHome}", False),
        ("Cursor", "${input:key}", False),
        ("Cursor", "${workspaceFolder}", True),
        ("Windsurf", "${file:/k}", True),
        ("Windsurf", "${workspaceFolder}", False),
        ("Gemini CLI", "$KEY", True),
        ("Claude Desktop", "${KEY}", False),
        ("Zed", "${KEY}", True),
    ],
)
def test_a_reference_is_told_if_the_host_is_known_not_to_replace_it(title: str, text: str, is_replaced: bool):
    found = told(title, {"command": "x", "env": {"A": text}})
    assert (found[0].state is State.OK) is is_replaced


def test_a_host_that_does_the_same_has_one_line():
    assert told("Claude Code", {"command": "x", "env": {"A": "${A:-b}"}})[0].seen.startswith("nothing")


def said(title: str, step: Step, *replaced: str) -> Step:
    return in_words_of(title, HABITS[title].reference, set(replaced), step)


@each_case(
    ("fix", "ours"),
    [
        ('set `command = "node"`', 'set `"command": "node"`'),
        ("write its absolute path, or set `cwd`", "write its absolute path"),
        ('write "/a/run.sh", or set `cwd = "/a"`', 'write "/a/run.sh"'),
        ('set `transport = "sse"`, or --transport sse', 'set `"type": "sse"`'),
        ("run `mcptui login s`", "sign in there"),
        ("shorten descriptions, or turn tools off (`off`)", "shorten descriptions, or turn tools off"),
    ],
)
def test_advice_has_no_syntax_of_mcptui(fix: str, ours: str):
    assert said("Cursor", Step.failed("start", "x", fix)).fix == ours


@pytest.mark.parametrize(("title", "value"), [("Cursor", "${env:API_KEY}"), ("Claude Desktop", "…")])
@pytest.mark.parametrize("ours", [{}, {"API_KEY": "x"}])
def test_a_variable_is_written_as_the_host_reads_it(title: str, value: str, ours: dict[str, str]):
    _, _, fix = cause_of(["KeyError: 'API_KEY'"], {}, ours)
    assert said(title, Step.failed("start", "x", fix)).fix == f'add `"env": {{"API_KEY": "{value}"}}`'


def test_a_variable_that_is_not_set_is_to_be_set_only_where_the_host_replaces_it():
    seen = "m.json:5 servers.s.env.A: the environment variable A is not set. Set it, or write `${A:-default}`"
    step = Step.failed("configuration", seen, "correct it (`mcptui config check`)")
    found = said("Cursor", step, "A")
    assert found.seen == "m.json:5 env.A: the environment variable A is not set"
    assert found.fix == "set A, here and for Cursor"
    assert said("Cursor", step).fix == "write ${env:A}"
    assert said("Claude Desktop", step).fix == "write the value of A"


WITH_INPUT = {"url": "https://h/", "headers": {"A": "${input:my-tok}"}}
UNSET = "m.json:3 headers.A: the environment variable MY_TOK is not set"


def test_an_input_that_the_host_asks_for_is_no_failure():
    found, others = of_inputs("VS Code", WITH_INPUT, {"my-tok"}, [UNSET])
    assert found is not None and found.state is State.WARNING and not others
    assert found.seen == "VS Code asks for my-tok when it starts. Not started here" and "MY_TOK" in found.fix
    (asked,) = input_steps("VS Code", WITH_INPUT, {"my-tok"})
    assert asked.state is State.OK and asked.seen == "VS Code asks for my-tok when it starts"


def test_an_input_that_is_not_defined_is_a_failure():
    found, _ = of_inputs("VS Code", WITH_INPUT, set(), [UNSET])
    assert found is not None and found.state is State.FAILED
    assert "`inputs` does not define my-tok" in found.seen
    assert [one.state for one in input_steps("VS Code", WITH_INPUT, set())] == [State.FAILED]


def test_a_problem_beside_an_input_and_an_input_of_a_host_that_has_none_stay_what_they_are():
    other = "needs a `command`"
    assert of_inputs("VS Code", WITH_INPUT, {"my-tok"}, [UNSET, other])[1] == [other]
    assert of_inputs("Cursor", WITH_INPUT, {"my-tok"}, [UNSET]) == (None, [UNSET])
    assert [*input_steps("Cursor", WITH_INPUT, {"my-tok"})] == []


def test_only_the_program_of_a_command_line_is_searched_on_the_path():
    (found,) = told("Cursor", {"command": "node --x"}, COMMAND)
    assert found.seen == "started from the desktop, Cursor may not find node"
