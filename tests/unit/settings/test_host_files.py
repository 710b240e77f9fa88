"""The files of the other hosts on a computer."""

import json
import shutil
from pathlib import Path

import pytest

from tests.other_hosts import BECOMES, CORPUS, PLACES
from tui.settings.foreign.hosts import ALIASES, HOSTS
from tui.settings.host_files import HostFiles, host_files, machine_files


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def read(host: str, project: Path, **env: str) -> HostFiles:
    return host_files(host, project, env)


def write(path: Path, tree: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return path


def put(project: Path, place: str) -> Path:
    roots = {"~": project.parent / "home", "+": project.parent / "home/.config", ".": project}
    path = roots[place[0]] / place[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize(("host", "place", "name"), PLACES, ids=[f"{one[0]}-{one[2]}" for one in PLACES])
def test_the_file_of_a_host_is_found_where_it_keeps_it(host: str, place: str, name: str, project: Path):
    shutil.copy(CORPUS / name, put(project, place))
    found = read(host, project)
    assert not found.problems
    usable = [one for one in found.servers if one.table]
    assert [one.name for one in usable] == list(BECOMES[name])
    assert all(one.line > 0 for one in usable)


def test_a_broken_file_is_named_with_its_line_and_the_others_count(project: Path):
    write(project / ".cursor/mcp.json", '{\n"mcpServers": {\n')
    write(put(project, "~/.cursor/mcp.json"), {"mcpServers": {"a": {"command": "a"}}})
    found = read("cursor", project)
    assert [one.id for one in found.servers] == ["cursor:a"]
    assert [(one.file, one.line) for one in found.problems] == [(str(project / ".cursor/mcp.json"), 3)]


@pytest.mark.parametrize("make", ["folder", "unreadable", "loop"])
def test_what_is_no_file_is_named_too(make: str, project: Path):
    path = put(project, "~/.cursor/mcp.json")
    if make == "folder":
        path.mkdir()
    elif make == "unreadable":
        path.write_bytes(b"\xff\xfe\x00{")
    else:
        path.symlink_to(path)
    (problem,) = read("cursor", project).problems
    assert problem.file == str(path)


def test_settings_without_servers_are_no_problem(project: Path):
    write(project / ".vscode/settings.json", {"editor.tabSize": 2})
    write(put(project, "~/.gemini/settings.json"), {"theme": "dark"})
    assert machine_files(project, {}, HOSTS) == []


def test_a_file_of_several_hosts_is_listed_with_the_first(project: Path):
    write(project / ".vscode/mcp.json", {"servers": {"a": {"command": "a"}}})
    found = machine_files(project, {}, ("vscodium", "vscode"))
    assert [one.host for one in found] == ["vscodium"]


def test_the_lists_of_claude_code_in_other_files_count(project: Path):
    write(project / ".mcp.json", {"mcpServers": {name: {"command": name} for name in "abcd"}})
    write(project / ".claude/settings.local.json", {"enabledMcpjsonServers": ["a"]})
    write(project / ".claude/settings.json", {"disabledMcpjsonServers": ["b"]})
    settings = {"permissions": {"deny": ["mcp__a__drop", "mcp__d", "Bash(rm:*)", 7]}}
    write(put(project, "~/.claude/settings.json"), settings)
    user = {"b": {"command": "b"}, "user": {"command": "u"}}
    one = {"disabledMcpjsonServers": ["c"], "disabledMcpServers": ["user"]}
    write(put(project, "~/.claude.json"), {"mcpServers": user, "projects": {str(project): one, "/o": 3}})
    found = {(one.path.name, one.name): one for one in read("claude-code", project).servers}
    shared = {name: found[".mcp.json", name] for name in "abcd"}
    assert [name for name, one in shared.items() if one.table.get("disabled")] == ["b", "c"]
    assert "is disabled: `disabledMcpjsonServers` lists it" in shared["c"].notes
    assert shared["a"].table["off"] == ["drop"] and shared["d"].table["off"] == ["*"]
    assert not any("not approved" in note for note in shared["a"].notes)
    assert any("not approved" in note for note in shared["d"].notes)
    assert found[".claude.json", "user"].table["disabled"] is True
    assert "disabled" not in found[".claude.json", "b"].table  # that list is about .mcp.json


def test_a_policy_counts_for_servers_of_the_project_in_the_users_file(project: Path):
    local = {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}
    write(
        put(project, "~/.claude.json"), {"projects": {str(project): {**local, "disabledMcpServers": ["c"]}}}
    )
    policy = {"deniedMcpServers": [{"serverName": "a"}], "disabledMcpServers": ["b"]}
    write(put(project, "~/.claude/settings.json"), policy | {"permissions": {"deny": ["mcp__b__drop"]}})
    found = {one.name: one for one in read("claude-code", project).servers}
    assert [name for name, one in found.items() if one.is_off] == ["a", "c"]
    assert found["b"].table["off"] == ["drop"]


def test_all_servers_of_a_project_may_be_approved(project: Path):
    write(project / ".mcp.json", {"mcpServers": {"a": {"command": "a"}}})
    write(project / ".claude/settings.json", {"enableAllProjectMcpServers": True})
    (one,) = read("claude-code", project).servers
    assert not one.notes


def test_vs_code_turns_off_all_servers_in_its_settings(project: Path):
    write(project / ".vscode/mcp.json", {"servers": {"a": {"command": "a"}}})
    write(put(project, "+/Code/User/settings.json"), {"chat.mcp.access": "none"})
    (one,) = read("vscode", project).servers
    assert one.notes == ["is disabled: `chat.mcp.access` is none"]


def test_a_list_of_the_user_counts_for_servers_of_the_project(project: Path):
    write(project / ".gemini/settings.json", {"mcpServers": {"a": {"command": "a"}}})
    write(put(project, "~/.gemini/settings.json"), {"mcp": {"excluded": ["a"]}})
    (one,) = read("gemini", project).servers
    assert one.table["disabled"] is True


@pytest.mark.parametrize(
    ("host", "place", "text"),
    [
        ("zed", "~/.config/zed/settings.json", '{"context_servers": {"x": {"settings": {"a": 1}}}}'),
        ("goose", "~/.config/goose/config.yaml", "extensions: {x: {type: builtin, enabled: true}}"),
        ("continue", "~/.continue/config.yaml", "mcpServers: [{uses: x}]"),
        ("opencode", "~/.config/opencode/opencode.json", '{"mcp": {"x": {"enabled": false}}}'),
    ],
)
def test_a_server_that_its_host_provides_is_listed_as_not_usable(host: str, place: str, text: str, project):
    write(put(project, place), text)
    (one,) = read(host, project).servers
    assert (one.name, one.table) == ("x", {}) and one.fault.startswith("provided by its host")


def test_profiles_of_codex_in_files_of_their_own_are_read(project: Path):
    write(put(project, "~/.codex/config.toml"), '[mcp_servers.a]\ncommand = "a"\n')
    write(put(project, "~/.codex/work.config.toml"), '[mcp_servers.b]\ncommand = "b"\n')
    assert [one.name for one in read("codex", project).servers] == ["a", "b"]


def test_a_name_that_is_defined_twice_is_a_warning_about_the_file(project: Path):
    path = write(put(project, "~/.cursor/mcp.json"), '{"mcpServers": {"a": 1, "a": {"command": "x"}}}')
    (problem,) = read("cursor", project).problems
    assert problem.warning and problem.file == str(path) and "defined twice" in problem.message


def test_a_huge_file_is_read_in_part_and_says_so(project: Path):
    many = {f"s{number}": {"command": "x"} for number in range(1100)} | {"s0": {"command": "x" * 300_000}}
    write(put(project, "~/.cursor/mcp.json"), {"mcpServers": many})
    found = read("cursor", project)
    assert len(found.servers) == 1000
    assert [one.name for one in found.servers if one.fault] == ["s0"]
    assert "has 1,100 servers. Only the first 1,000 are read" in str(found.problems[0])


def test_an_alias_is_not_a_host_of_its_own():
    assert ALIASES < HOSTS.keys()
