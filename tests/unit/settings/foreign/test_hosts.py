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
