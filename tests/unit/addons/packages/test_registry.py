"""Choosing a package or remote of a registry entry. The rest is in tests/protocol."""

from dataclasses import replace

import pytest

from tui.addons.packages.registry import _chosen
from tui.addons.packages.registry_entry import LaunchOption
from tui.core.errors import UsageError

NPM, REMOTE, BROKEN = (
    LaunchOption("npm", "x 1"),
    LaunchOption("remote", "https://h"),
    LaunchOption("nuget", "x", problem="not supported"),
)


def test_an_unusable_package_or_remote_is_not_offered():
    assert _chosen([BROKEN, NPM], None, "n") is NPM
    with pytest.raises(UsageError, match="n cannot be used: not supported"):
        _chosen([BROKEN], None, "n")
    with pytest.raises(UsageError, match="n cannot be used:\n  not supported\n  too old"):
        _chosen([BROKEN, replace(BROKEN, problem="too old")], None, "n")
    with pytest.raises(UsageError, match="no package and no URL"):
        _chosen([], None, "n")


def test_the_package_or_remote_is_asked_for_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr("tui.addons.packages.registry.is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "2")
    assert _chosen([NPM, REMOTE], None, "n") is REMOTE
    assert "2  remote: https://h" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda prompt: "3")
    with pytest.raises(UsageError, match="nothing was chosen"):
        _chosen([NPM, REMOTE], None, "n")
