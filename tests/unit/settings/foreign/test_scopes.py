"""The servers in another host's file: where they are, and which are switched off."""

from typing import Any

import pytest

from tui.settings.foreign.scopes import servers_of

X = {"command": "x"}


def names(tree: Any) -> list[str]:
    return [one.name for one in servers_of(tree) or ()]


@pytest.mark.parametrize(
    "tree",
    [
        {"mcpServers": {"a": X}},
        {"mcp_servers": {"a": X}},
        {"mcp": {"servers": {"a": X}}},
        {"folders": [], "settings": {"mcp": {"servers": {"a": X}}}},
        {"customizations": {"vscode": {"mcp": {"servers": {"a": X}}}}},
        {"amp": {"mcpServers": {"a": X}}},
        {"mcp": {"a": X, "allowed": ["a"], "timeout": 3}},
        {"mcpServers": [{"name": "a", **X}]},
        {"augment.advanced": {"mcpServers": [{"name": "a", **X}]}},
        {"mcpServers": {}, "projects": {"/p": {"mcpServers": {"a": X}}}},
        {"a": X},
        {"name": "a", **X},
    ],
)
def test_a_server_is_found_wherever_a_host_puts_it(tree: Any):
    assert names(tree) == ["a"]


@pytest.mark.parametrize("tree", [[], {}, {"a": 1}, {"mcp": {"allowed": []}}, {"projects": {"a": 1}}, None])
def test_a_file_without_servers_has_no_table(tree: Any):
    assert servers_of(tree) is None


def test_invalid_projects_are_ignored():
    tree = {"mcpServers": {}, "projects": {"a": 1, "b": {"mcpServers": {"x": {"tools": {}}}}, "c": []}}
    assert servers_of(tree) == []


@pytest.mark.parametrize(
    "switch",
    [
        {"mcp": {"excluded": ["A "]}},
        {"mcp": {"allowed": ["other"]}},
        {"excludeMCPServers": ["a"]},
        {"allowMCPServers": ["b"]},
        {"disabledMcpServers": ["a"]},
        {"deniedMcpServers": [{"serverName": "a"}]},
    ],
)
def test_a_server_that_the_file_switches_off_elsewhere_says_why(switch: dict[str, Any]):
    (found,) = servers_of({"mcpServers": {"a": X}, **switch}) or ()
    assert found.off


@pytest.mark.parametrize("switch", [{"mcp": {"allowed": []}}, {"mcp": {"excluded": ["b"]}}, {"mcp": 5}])
def test_other_switches_change_nothing(switch: dict[str, Any]):
    (found,) = servers_of({"mcpServers": {"a": X}, **switch}) or ()
    assert not found.off


def test_the_time_to_find_servers_grows_with_the_file_only():
    """5,000 servers, each switched off by a list of 5,000: a second at most, not minutes."""
    many = [f"server-{number}" for number in range(5000)]
    tree = {"mcpServers": dict.fromkeys(many, X), "mcp": {"excluded": many}}
    assert all(one.off for one in servers_of(tree) or ())
