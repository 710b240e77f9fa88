"""`mcptui config hosts` as a user runs it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.other_hosts import CORPUS, PLACES
from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.core.text import cells_of
from tui.settings.locations import config_file

GITHUB = {
    "command": "npx",
    "args": ["-y", "server-github"],
    "env": {"LEVEL": "debug"},
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hosts(*words: str) -> int:
    return dispatch(build_parser().parse_args(["config", "hosts", *words]))


def put(path: Path, **servers: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))


def objects(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    hosts(*words, "--json")
    return {one["id"]: one for one in json.loads(capsys.readouterr().out)}


def test_without_hosts_it_says_what_to_do(capsys: pytest.CaptureFixture[str]):
    assert hosts() == 0
    said = capsys.readouterr().out
    assert said.startswith("no servers of other hosts found on this computer\n")
    assert "mcptui config import FILE" in said and "Claude Desktop" in said


def test_what_is_the_same_and_what_differs_is_said(
    separate_home: Path, project: Path, capsys: pytest.CaptureFixture[str]
):
    put(separate_home / ".cursor/mcp.json", github=GITHUB, one={"url": "https://h.example/mcp"})
    put(separate_home / ".codeium/windsurf/mcp_config.json", gh={**GITHUB, "type": "stdio"})
    put(project / ".mcp.json", github={**GITHUB, "args": ["-y", "server-github@1"]})
    assert hosts() == 0
    said = capsys.readouterr().out
    assert "Cursor  ~/.cursor/mcp.json\n  github  npx -y server-github\n" in said
    assert "          same as windsurf:gh\n          differs from claude-code:github: args\n" in said
    assert "4 servers of 3 hosts, 3 different, 0 configured" in said
    found = objects(capsys)
    assert found["cursor:github"]["same_as"] == ["windsurf:gh"]
    assert found["cursor:github"]["differs_from"] == [{"id": "claude-code:github", "in": ["args"]}]
    assert found["cursor:one"]["url"] == "https://h.example/mcp"


def test_a_server_that_is_configured_already_says_so(separate_home: Path, capsys: pytest.CaptureFixture[str]):
    put(separate_home / ".cursor/mcp.json", github=GITHUB)
    config_file().parent.mkdir(parents=True)
    launch = 'command = "npx"\nargs = ["-y", "server-github"]\nenv = { LEVEL = "debug" }\n'
    config_file().write_text(f"[servers.mine]\n{launch}")
    assert objects(capsys)["cursor:github"]["configured_as"] == "mine"


def test_no_secret_is_printed(separate_home: Path, capsys: pytest.CaptureFixture[str]):
    canary = "ghp_Canary0123456789abcdefghijklmnopqrst"
    put(
        separate_home / ".cursor/mcp.json",
        a={"command": "x", "args": ["--token", canary, f"--key={canary}"], "env": {"API_KEY": canary}},
        b={"url": f"https://user:{canary}@h.example/mcp?token={canary}", "headers": {"X-Key": canary}},
        c={"command": "sh", "args": ["-c", f"curl -H 'Authorization: Bearer {canary}'"]},
    )
    hosts()
    hosts("cursor")
    hosts("--json")
    said = "".join(capsys.readouterr())
    assert "cursor:a" in said and canary not in said


def test_a_host_that_is_named_is_listed_alone_with_all_notes(
    separate_home: Path, project: Path, capsys: pytest.CaptureFixture[str]
):
    put(separate_home / ".cursor/mcp.json", a={"command": "x", "alwaysAllow": ["t"], "envFile": ".env"})
    put(project / ".mcp.json", b={"command": "x"})
    assert hosts("Cursor") == 0
    said = capsys.readouterr().out
    assert "`envFile` not imported" in said and "Claude Code" not in said
    assert "same as claude-code:b" in said
    hosts("claude")
    assert capsys.readouterr().out.startswith("Claude  ./.mcp.json\n")


def test_a_broken_file_is_named_and_the_others_are_listed(
    separate_home: Path, project: Path, capsys: pytest.CaptureFixture[str]
):
    put(separate_home / ".cursor/mcp.json", a={"command": "x"})
    (project / ".roo").mkdir()
    (project / ".roo/mcp.json").write_text('{\n"mcpServers": [\n')
    (separate_home / ".codex").mkdir()
    (separate_home / ".codex/config.toml").write_text("[mcp_servers.a]\ncommand = x\n")
    (separate_home / "config/goose").mkdir(parents=True)
    (separate_home / "config/goose/config.yaml").write_text("extensions:\n  a: [\n")
    assert hosts() == 2
    said = capsys.readouterr().out
    assert "  a       x\n" in said
    assert "Roo Code  ./.roo/mcp.json:3: is not JSON: " in said
    assert "Codex  ~/.codex/config.toml:2: is not TOML: " in said
    assert "goose  ~/config/goose/config.yaml:2: is not YAML: " in said
    assert hosts("--json") == 2
    assert "is not JSON" in capsys.readouterr().err


def test_an_entry_that_cannot_be_used_says_why(separate_home: Path, capsys: pytest.CaptureFixture[str]):
    put(separate_home / ".cursor/mcp.json", a={"args": []}, b=3, c={"command": "x", "args": 7}, d=None)
    assert hosts() == 0
    said = capsys.readouterr().out
    assert said.count("not usable: no command and no url") == 3
    assert "not usable: args" in said


def test_an_unknown_host_names_the_nearest(capsys: pytest.CaptureFixture[str]):
    assert hosts("cursr") == 2
    assert "unknown host “cursr”. Did you mean “cursor”?" in capsys.readouterr().err


def test_hostile_names_are_cleaned(separate_home: Path, capsys: pytest.CaptureFixture[str]):
    put(
        separate_home / ".cursor/mcp.json",
        **{"a\x1b[31m\nb": {"command": "x\x1b]0;t\x07", "args": ["\u202e"]}, "n" * 300: {"command": "y"}},
    )
    hosts()
    hosts("--json")
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\u202e" not in said and "\x07" not in said


@pytest.mark.parametrize("columns", [80, 120])
def test_lines_fit_the_terminal(
    columns: int, separate_home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    roots = {"~": separate_home, "+": separate_home / "config", ".": project}
    for _, place, name in PLACES:
        path = roots[place[0]] / place[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((CORPUS / name).read_bytes())
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert hosts() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 60 and max(map(cells_of, lines)) <= columns


KEYS = st.sampled_from(
    "mcpServers command args env url headers type disabled enabled timeout oauth auth cwd name x".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
ENTRIES = st.dictionaries(st.text(max_size=6), st.dictionaries(KEYS, VALUES, max_size=5) | VALUES, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(ENTRIES)
def test_any_file_is_listed(separate_home: Path, entries: dict[str, Any]):
    put(separate_home / ".cursor/mcp.json", **entries)
    assert hosts("cursor") in (0, 2)
    assert hosts("--json") in (0, 2)


def test_an_imported_server_of_a_project_is_known(project: Path, capsys: pytest.CaptureFixture[str]):
    put(project / ".cursor/mcp.json", a={"command": "x", "args": ["-m", "a"]})
    config_file().parent.mkdir(parents=True)
    config_file().write_text(f'[servers.mine]\ncommand = "x"\nargs = ["-m", "a"]\ncwd = "{project}"\n')
    assert objects(capsys)["cursor:a"]["configured_as"] == "mine"
