"""Importing servers from another host's file."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.settings.load import load
from tui.settings.save import add_tables, edited
from tui.settings.server_import import Plan, launch_differences, launch_of, plan_import

Planned = Callable[..., Plan]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "server.py").write_text("")
    return folder / "mcp.json"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def planned(source: Path, target: Path) -> Planned:
    def plan(**servers: object) -> Plan:
        source.write_text(json.dumps({"mcpServers": servers}))
        return plan_import(source, target)

    return plan


def test_new_servers_are_added_with_paths_that_still_resolve(source: Path, planned: Planned):
    plan = planned(a={"command": "python", "args": ["server.py", "--port", "80"]})
    args = [str(source.parent / "server.py"), "--port", "80"]
    assert plan.new == {"a": {"command": "python", "args": args, "source": "import"}}
    assert plan.done() == ["added    a"]


def test_the_same_server_is_skipped_and_another_with_its_name_is_renamed(target: Path, planned: Planned):
    target.write_text('[servers.same]\ncommand = "x"\n[servers.other]\ncommand = "x"\n')
    plan = planned(same={"command": "x"}, other={"command": "y"})
    assert plan.done() == ["renamed  other -> other-2", "skipped  same: same is already configured"]


@pytest.mark.parametrize(
    ("present", "command"),
    [
        ('[servers.a]\ncommand = "x"\nsource = "import"\n', "x"),
        ('[servers.a]\ncommand = "x"\n[servers.a-2]\ncommand = "y"\n', "y"),
    ],
    ids=["same name", "another name"],
)
def test_a_server_imported_before_is_not_imported_again(
    target: Path, present: str, command: str, planned: Planned
):
    target.write_text(present)
    assert planned(a={"command": command}).new == {}


@pytest.mark.parametrize(
    ("name", "fitted"), [("a/b", "a-b"), ("../x", "x"), ("", "server"), ("x" * 80, "x" * 64)]
)
def test_a_name_that_is_invalid_here_is_adapted(name: str, fitted: str, planned: Planned):
    assert list(planned(**{name: {"command": "x"}}).new) == [fitted]


def test_names_that_become_equal_lose_no_server(planned: Planned):
    assert (
        len(planned(**{"a/b": {"command": "x"}, "a:b/": {"command": "y"}, "a\\b": {"command": "z"}}).new) == 3
    )


def test_an_entry_that_is_not_a_server_is_skipped(planned: Planned):
    assert set(planned(a=[], b={}).skipped) == {"a", "b"}


@pytest.mark.parametrize("text", ["a = ", "\0"])
def test_nothing_is_imported_into_an_unreadable_configuration(target: Path, text: str, planned: Planned):
    target.write_text(text)
    with pytest.raises(ConfigError, match="Nothing was changed"):
        planned(a={"command": "x"})


def test_a_missing_or_damaged_file_is_an_error_with_its_location(source: Path, target: Path):
    with pytest.raises(ConfigError, match="file not found"):
        plan_import(source, target)
    source.write_text('{\n"mcpServers": }')
    with pytest.raises(ConfigError, match=r"mcp\.json:2"):
        plan_import(source, target)


def test_an_entry_of_an_unknown_type_is_skipped_with_a_suggestion(source: Path, planned: Planned):
    plan = planned(a={"type": "grpc", "url": "https://h"}, b={"type": "ws", "url": "wss://h"}, c={})
    assert plan.new == {"b": {"transport": "websocket", "url": "wss://h", "source": "import"}}
    assert plan.unusable == ["a", "c"]
    assert plan.skipped["a"] == (
        'unknown type “grpc”. Use one of "stdio", "http", "sse", "websocket", "lines", or remove it'
    )


@pytest.mark.parametrize("value", ["Bearer ${TOKEN}", "Bearer keyring:h/me", "keyring:h/me"])
def test_a_header_that_references_its_secret_gets_no_note(value: str, planned: Planned):
    assert planned(a={"url": "https://h", "headers": {"Authorization": value}}).notes == []


def test_a_copied_secret_is_noted_with_safer_places_for_it(planned: Planned):
    [note] = planned(a={"url": "https://h", "headers": {"Authorization": "Bearer s3cr3t"}}).notes
    assert note == (
        "note     a: `headers.Authorization` is copied with its secret. Use `${VAR}` or "
        "`keyring:SERVICE/NAME` to keep it out of the file"
    )


def test_an_import_writes_nothing_that_the_check_of_the_file_refuses(
    source: Path, target: Path, planned: Planned
):
    good = {"command": "x", "args": ["a", None, True, 1], "env": {"A": None, "B": True}, "cwd": None}
    bad: dict[str, object] = {
        "args": {"command": "x", "args": [[1]]},
        "env": {"command": "x", "env": {"A": {"b": None}}},
        "surrogate": {"command": "x", "args": ["\ud800"]},
        "null": {"command": "x\0"},
        "switch": {"command": "x", "disabled": "maybe"},
        "header": {"url": "https://h", "headers": {"Content-Length": "1"}},
        "nothing": None,
    }
    plan = planned(
        good=good, sign_in={"url": "https://h", "oauth": {"clientId": None, "scopes": [None]}}, **bad
    )
    assert plan.unusable == list(bad)
    assert all(plan.skipped[name] for name in bad)
    assert plan.new["good"] == {
        "command": "x",
        "args": ["a", "true", "1"],
        "env": {"B": "true"},
        "source": "import",
    }
    target.write_text(edited("", lambda document: add_tables(document, "servers", plan.new)))
    assert load(target, {}).errors == ()


def test_a_url_from_a_variable_is_no_reason_to_skip_a_server(planned: Planned):
    assert planned(a={"url": "${BASE}/mcp"}, b={"url": "${B}", "type": "websocket"}).unusable == []


def test_an_unset_variable_is_the_only_problem_of_a_url(target: Path):
    target.write_text('[servers.a]\nurl = "${BASE}/mcp"\n')
    assert [problem.message for problem in load(target, {}).problems] == [
        "the environment variable BASE is not set"
    ]


@pytest.mark.parametrize("url", [5, True, ["https://h"], {"a": None}, [None]])
def test_a_url_that_is_no_text_is_refused_beside_a_command_too(url: object, planned: Planned):
    plan = planned(a={"command": "x", "url": url}, b={"url": url})
    assert plan.new == {}
    assert plan.unusable == ["a", "b"]


def test_an_ordinary_header_is_not_called_a_secret(planned: Planned):
    headers = {
        "X-Figma-Region": "us-east-1",
        "X-Trace": "on",
        "Authorization": "Bearer abc",
        "X": "q9Zr4TbW1x",
    }
    plan = planned(a={"url": "https://h/mcp", "headers": headers})
    shown = [note.partition("`")[2].partition("`")[0] for note in plan.notes]
    assert shown == ["headers.Authorization", "headers.X"]


def test_a_launch_is_the_same_whatever_is_written_only_for_the_host(tmp_path: Path):
    one = launch_of({"command": "x", "args": [], "transport": "stdio", "disabled": True}, tmp_path / "a.json")
    assert one == launch_of({"command": "x", "env": {}, "tool_seconds": 3}, tmp_path / "b.json")


def test_relative_paths_of_two_folders_are_two_launches(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.py").touch()
    one, other = (launch_of({"command": "./server.py"}, tmp_path / name / "mcp.json") for name in "ab")
    assert launch_differences(one, other) == ["command"]


@pytest.mark.parametrize("table", [None, 3, [], {"command": 3, "args": 7, "env": [1]}, {"args": {}}])
def test_any_entry_has_a_launch(table: object, tmp_path: Path):
    assert launch_of(table, tmp_path / "mcp.json") == launch_of(table, tmp_path / "mcp.json")


def test_a_server_of_a_project_is_imported_with_its_folder_once(tmp_path: Path, target: Path):
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}))
    target.write_text(f'[servers.a]\ncommand = "x"\ncwd = "{tmp_path}"\n[servers.b]\ncommand = "y"\n')
    assert plan_import(path, target).new == {}
    target.unlink()
    assert {name: one["cwd"] for name, one in plan_import(path, target).new.items()} == {
        "a": str(tmp_path),
        "b": str(tmp_path),
    }
