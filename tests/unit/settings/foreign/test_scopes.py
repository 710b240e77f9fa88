"""The servers in another host's file: where they are, and which are switched off."""

import time
from typing import Any

import pytest

from tests.cases import each_case
from tui.settings.foreign.scopes import servers_of

X = {"command": "x"}


def names(tree: Any) -> list[str]:
    return [one.name for one in servers_of(tree) or ()]


@each_case(
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


@each_case("tree", [[], {}, {"a": 1}, {"mcp": {"allowed": []}}, {"projects": {"a": 1}}, None])
def test_a_file_without_servers_has_no_table(tree: Any):
    assert servers_of(tree) is None


def test_tools_that_a_permission_of_opencode_denies_are_off():
    rules = {"a_drop*": "deny", "a_read": "allow", "b_*": "deny", "*": "deny", "bash": {"*": "deny"}}
    found = servers_of({"mcp": {"a": X, "b": X}, "permission": rules}) or ()
    assert [one.tools_off for one in found] == [("drop*",), ("*",)]


def test_invalid_projects_are_ignored():
    tree = {"mcpServers": {}, "projects": {"a": 1, "b": {"mcpServers": {"x": {"tools": {}}}}, "c": []}}
    assert servers_of(tree) == []


@each_case(
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
    started = time.process_time()
    assert all(one.off for one in servers_of(tree) or ())
    assert time.process_time() - started < 2


@each_case(
    "switch",
    [
        {"deniedMcpServers": [{"serverCommand": ["x", "-y"]}]},
        {"deniedMcpServers": [{"serverName": "b"}, {"serverName": "A"}]},
        {"allowedMcpServers": []},
        {"allowedMcpServers": [{"serverName": "a"}, {"serverCommand": ["y"]}]},
        {"chat.mcp.access": "none"},
    ],
)
def test_what_another_file_of_the_host_says_counts(switch: dict[str, Any]):
    (found,) = servers_of({"mcpServers": {"a": {"command": "x", "args": ["-y"]}}}, [switch]) or ()
    assert found.off


@pytest.mark.parametrize(
    "switch",
    [
        {"deniedMcpServers": [{"serverCommand": ["x"]}, {"serverUrl": "https://*"}, 3, {}, None]},
        {"allowedMcpServers": [{"serverCommand": ["x", "-y"]}]},
        {"allowedMcpServers": [{"serverUrl": "https://h/*"}, "a"]},
        {"mcp": {"allowed": []}},
    ],
)
def test_a_list_about_others_switches_nothing_off(switch: dict[str, Any]):
    (found,) = servers_of({"mcpServers": {"a": {"command": "x", "args": ["-y"]}}}, [switch]) or ()
    assert not found.off


@each_case(
    ("pattern", "is_off"),
    [
        *(("https://h.example/*", True), ("https://*.example/mcp", True), ("https://h.example/mcp", True)),
        *(("https://h.example", False), ("http://*", False), ("*" * 40, False)),
    ],
)
def test_a_url_is_denied_by_its_pattern(pattern: str, is_off: bool):
    tree = {"mcpServers": {"a": {"url": "https://h.example/mcp"}}}
    (found,) = servers_of(tree, [{"deniedMcpServers": [{"serverUrl": pattern}]}]) or ()
    assert bool(found.off) is is_off


@each_case(
    ("rules", "is_off"),
    [
        ([{"matches": {"command": "npx -y evil*"}, "action": "reject"}], True),
        ([{"matches": {"command": "npx", "args": "*evil*"}, "action": "reject"}], True),
        (
            [
                {"matches": {"command": "npx *"}, "action": "allow"},
                {"matches": {"command": "*"}, "action": "reject"},
            ],
            False,
        ),
        (
            [{"matches": {"url": "*"}, "action": "reject"}, {"matches": {}, "action": "reject"}, 3, None],
            False,
        ),
        ([{"matches": {"other": "*"}, "action": "reject"}, {"action": "reject"}], False),
    ],
)
def test_the_first_rule_of_amp_that_matches_decides(rules: list[Any], is_off: bool):
    tree = {
        "amp.mcpServers": {"a": {"command": "npx", "args": ["-y", "evil-mcp"]}},
        "amp.mcpPermissions": rules,
    }
    (found,) = servers_of(tree) or ()
    assert bool(found.off) is is_off


@pytest.mark.parametrize(
    "tree",
    [
        {"extensions": {"a": {"type": "stdio", "cmd": "x"}}},
        {"extensions": {"a": {"enabled": True, "config": {"type": "stdio", "cmd": "x"}}}},
        {"extensions": [{"type": "sse", "name": "a", "uri": "http://h"}]},
    ],
)
def test_the_extensions_of_goose_are_servers(tree: Any):
    assert names(tree) == ["a"]


@each_case("value", [{"disabled": ["a"]}, ["a"], {"a": {"version": 1}}, 3, {}])
def test_other_extensions_are_none(value: Any):
    assert servers_of({"extensions": value}) is None


@pytest.mark.parametrize("key", ["amp.tools.disable", "permissions"])
def test_tools_that_are_denied_by_name_are_off(key: str):
    listed = ["mcp__a__drop", "mcp__b__drop", "builtin:x", "*", 3]
    tree = {"mcpServers": {"a": X}, key: {"deny": listed} if key == "permissions" else listed}
    (found,) = servers_of(tree) or ()
    assert found.tools_off == ("drop",)


def test_tools_that_zed_denies_are_off():
    denied = {key: {"default": "deny"} for key in ("mcp:a.b:drop", "mcp:b:x", "mcp:", "terminal")}
    tools = {**denied, "mcp:a.b:get": {"default": "allow"}, "mcp:a.b:odd": 3}
    tree = {"context_servers": {"a.b": X}, "agent": {"tool_permissions": {"tools": tools}}}
    (found,) = servers_of(tree) or ()
    assert found.tools_off == ("drop",)
