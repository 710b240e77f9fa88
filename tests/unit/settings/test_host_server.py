"""A server of another host, named HOST:NAME."""

import json
from pathlib import Path

import pytest

from tui.core.errors import ConfigError, UsageError
from tui.core.servers import ServerSpec
from tui.settings.host_server import host_server
from tui.settings.load import load
from tui.settings.locations import config_file, server_folder
from tui.settings.specs import server_specs


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, **servers: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def spec(word: str) -> ServerSpec:
    found = host_server(None, word)
    assert found is not None
    return found[0]


def test_a_server_of_a_host_is_found_with_its_origin(separate_home: Path):
    path = put(separate_home / ".cursor/mcp.json", files={"command": "npx", "args": ["-y", "files"]})
    found = spec("cursor:files")
    assert (found.name, found.command, found.args) == ("cursor:files", "npx", ("-y", "files"))
    assert found.source == f"the file {path.resolve()}"


def test_the_name_of_a_host_may_be_in_capitals(separate_home: Path):
    put(separate_home / ".cursor/mcp.json", files={"command": "npx"})
    assert spec("Cursor:files").name == "cursor:files"


def test_relative_paths_are_those_of_the_project_of_the_file(project: Path):
    (project / "server.py").touch()
    put(project / ".cursor/mcp.json", a={"command": "python", "args": ["server.py", "${workspaceFolder}/x"]})
    assert spec("cursor:a").args == (f"{project}/server.py", f"{project}/x")


def test_secrets_are_returned_to_be_redacted(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOKEN", "t-3kq9Zt")
    headers = {"Authorization": "Bearer ${env:TOKEN}"}
    put(project / ".cursor/mcp.json", a={"url": "https://h.example/mcp", "headers": headers})
    found = host_server(None, "cursor:a")
    assert found is not None and "t-3kq9Zt" in found[1].values()
    assert found[0].headers == {"Authorization": "Bearer t-3kq9Zt"}


def test_it_runs_as_with_the_file_itself_so_that_one_consent_is_enough(project: Path):
    path = put(project / ".cursor/mcp.json", a={"command": "npx", "args": ["-y", "a"]})
    (same,) = server_specs(load(path, {}))
    found = spec("cursor:a")
    assert (found.folder, found.args, found.cwd) == (same.folder, same.args, same.cwd)


def test_a_server_of_the_user_has_a_folder_by_its_plain_name(separate_home: Path):
    put(separate_home / ".cursor/mcp.json", a={"command": "npx", "args": ["-y", "a"]})
    assert spec("cursor:a").folder == str(server_folder("a"))


def test_a_server_of_a_project_starts_in_it_as_in_its_host(project: Path):
    put(
        project / ".mcp.json",
        a={"command": "python", "args": ["-m", "a"]},
        b={"url": "https://h.example/mcp"},
    )
    assert (spec("claude-code:a").cwd, spec("claude-code:a").folder) == (str(project), "")
    assert spec("claude-code:b").cwd is None


def test_a_server_of_the_user_and_of_the_project_starts_in_the_project(separate_home: Path, project: Path):
    for folder in (separate_home, project):
        put(folder / ".cursor/mcp.json", a={"command": "npx"})
    assert spec("cursor:a").cwd == str(project)


def test_a_name_that_is_a_path_gets_one_that_can_be_used(project: Path):
    put(project / ".cursor/mcp.json", **{"github.com/x/y": {"command": "npx"}})
    assert spec("cursor:github.com/x/y").name == "cursor:github.com-x-y"


def test_a_configured_server_of_this_very_name_wins(project: Path):
    put(project / ".cursor/mcp.json", a={"command": "npx"})
    config_file().parent.mkdir(parents=True)
    config_file().write_text('[servers."cursor:a"]\ncommand = "mine"\n')
    assert host_server(None, "cursor:a") is None
    other = put(project / "other.json", **{"cursor:b": {"command": "x"}})
    assert host_server(str(other), "cursor:b") is None


@pytest.mark.parametrize("word", ["files", "notes:a", "cursor:", ":a", "localhost:8080", "a:b:c"])
def test_other_words_are_names_of_the_configuration(word: str):
    assert host_server(None, word) is None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("cursr:files", "unknown host “cursr”. Did you mean “cursor”?"),
        (
            "cursor:file",
            "Cursor has no server “file”, did you mean “files”? Its servers: files, off, bad, unset",
        ),
        ("zed:files", "Zed has no server “files”. Its servers: none. All hosts: mcptui config hosts"),
        ("cursor:off", "mcp.json:1: “off” is disabled there"),
        ("cursor:bad", "“bad” cannot be used: no command and no url"),
        ("cursor:unset", "env.A: the environment variable NO_SUCH is not set"),
    ],
)
def test_what_cannot_be_used_says_why(word: str, said: str, project: Path):
    put(
        project / ".cursor/mcp.json",
        files={"command": "npx"},
        off={"command": "npx", "disabled": True},
        bad={"args": []},
        unset={"command": "npx", "env": {"A": "${env:NO_SUCH}"}},
    )
    with pytest.raises((UsageError, ConfigError)) as raised:
        host_server(None, word)
    assert said in str(raised.value)


def test_an_input_names_its_variable(project: Path):
    path = put(project / ".vscode/mcp.json")
    path.write_text('{"servers": {"a": {"command": "x", "env": {"K": "${input:api-key}"}}}}')
    with pytest.raises(
        ConfigError, match=r"\$\{input:api-key\} is read from the environment variable API_KEY"
    ):
        host_server(None, "vscode:a")


def test_two_files_that_differ_are_both_named(project: Path, separate_home: Path):
    put(separate_home / ".cursor/mcp.json", a={"command": "npx"})
    put(project / ".cursor/mcp.json", a={"command": "npx", "type": "stdio"})
    assert spec("cursor:a").command == "npx"  # the same
    put(project / ".cursor/mcp.json", a={"command": "uvx"})
    with pytest.raises(UsageError) as raised:
        host_server(None, "cursor:a")
    assert f"{separate_home}/.cursor/mcp.json:1, {project}/.cursor/mcp.json:1" in str(raised.value)
    assert "--config FILE" in (raised.value.next_step or "")


def test_a_broken_file_of_the_host_is_named(project: Path):
    (project / ".cursor").mkdir()
    (project / ".cursor/mcp.json").write_text("{")
    with pytest.raises(UsageError, match=r"mcp.json:1: is not JSON"):
        host_server(None, "cursor:a")


def test_environment_and_folder_may_be_those_of_another_process(tmp_path: Path):
    put(tmp_path / "elsewhere/.cursor/mcp.json", a={"command": "x", "args": ["${env:WORD}"]})
    found = host_server(None, "cursor:a", {"WORD": "theirs"}, tmp_path / "elsewhere")
    assert found is not None and found[0].args == ("theirs",)


def test_what_has_no_effect_is_said(project: Path):
    entry = {"command": "x", "envFile": ".env", "sandbox": {"a": 1}, "alwaysAllow": ["t"]}
    put(project / ".cursor/mcp.json", a=entry)
    notes: list[str] = []
    host_server(None, "cursor:a", note=notes.append)
    assert notes == [
        "`envFile` not imported. Copy the variables of .env to `env`",
        "`sandbox` is not supported and is ignored",
    ]


def test_a_local_server_of_claude_code_is_preferred_in_its_project(project: Path, separate_home: Path):
    local = {"mcpServers": {"db": {"command": "local"}}}
    tree = {"mcpServers": {"db": {"command": "user"}}, "projects": {str(project): local, "/other": local}}
    (separate_home / ".claude.json").write_text(json.dumps(tree))
    found = spec("claude-code:db")
    assert (found.name, found.command, found.cwd) == ("claude-code:db", "local", str(project))
    assert host_server(None, "claude-code:db", {}, Path("/"))[0].command == "user"  # type: ignore[index]
