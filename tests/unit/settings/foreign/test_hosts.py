"""Where other hosts keep their configuration."""

import sys
from pathlib import Path

import pytest

from tui.settings.foreign.hosts import HOSTS, files_of


def test_a_host_has_files_of_the_user_and_of_the_project(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setattr(sys, "platform", "linux")
    assert files_of(HOSTS["cursor"], Path("/p"), {}) == [
        Path("/home/me/.cursor/mcp.json"),
        Path("/p/.cursor/mcp.json"),
    ]
    assert files_of(HOSTS["claude-desktop"], Path("/p"), {"XDG_CONFIG_HOME": "/c"}) == [
        Path("/c/Claude/claude_desktop_config.json")
    ]


def test_macos_has_a_directory_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/Users/me")
    monkeypatch.setattr(sys, "platform", "darwin")
    library = Path("/Users/me/Library/Application Support")
    assert files_of(HOSTS["vscode"], Path("/p"), {})[0] == library / "Code/User/mcp.json"


def test_windows_has_a_directory_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "win32")
    found = files_of(HOSTS["claude-desktop"], Path("/p"), {"APPDATA": "/roaming"})
    assert found == [Path("/roaming/Claude/claude_desktop_config.json")]


def test_xdg_counts_on_macos_for_hosts_that_use_it_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/Users/me")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert files_of(HOSTS["zed"], Path("/p"), {})[0] == Path("/Users/me/.config/zed/settings.json")
    found = files_of(HOSTS["zed"], Path("/p"), {"XDG_CONFIG_HOME": "/x"})
    assert found[0] == Path("/x/zed/settings.json")


@pytest.mark.parametrize(
    ("host", "variable", "path"),
    [
        ("codex", "CODEX_HOME", "/moved/config.toml"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "/moved/.claude.json"),
        ("copilot", "COPILOT_HOME", "/moved/mcp-config.json"),
        ("opencode", "OPENCODE_CONFIG_DIR", "/moved/opencode.json"),
    ],
)
def test_a_variable_moves_the_files_of_a_host(host: str, variable: str, path: str):
    assert files_of(HOSTS[host], Path("/p"), {variable: "/moved"})[0] == Path(path)


def test_the_file_of_a_project_may_be_above_up_to_the_root_of_the_repository(tmp_path: Path):
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".mcp.json").touch()
    assert files_of(HOSTS["claude-code"], inner, {})[1] == inner / ".mcp.json"
    (tmp_path / "repository" / ".git").mkdir()
    assert files_of(HOSTS["claude-code"], inner, {})[1] == inner / ".mcp.json"
    (tmp_path / "repository" / ".mcp.json").touch()
    assert files_of(HOSTS["claude-code"], inner, {})[1] == tmp_path / "repository" / ".mcp.json"


def test_a_pattern_finds_files_of_known_formats_in_order(tmp_path: Path):
    folder = tmp_path / ".continue" / "mcpServers"
    folder.mkdir(parents=True)
    for name in ("b.yaml", "a.json", "notes.md"):
        (folder / name).touch()
    found = files_of(HOSTS["continue"], tmp_path, {})
    assert [path.name for path in found if path.parent == folder] == ["a.json", "b.yaml"]


def test_settings_of_a_host_are_apart_from_its_servers():
    found = files_of(HOSTS["claude-code"], Path("/p"), {}, settings=True)
    assert Path("/p/.claude/settings.local.json") in found
    assert not set(found) & set(files_of(HOSTS["claude-code"], Path("/p"), {}))
