"""Which tools another host would drop, and why."""

import pytest

from tests.cases import each_case
from tui.addons.act_as.dropped import acting_facts, dropped_tools
from tui.core.tools import Tool

OBJECT = {"type": "object", "properties": {}}


def tool(name: str, schema: object = OBJECT) -> Tool:
    return Tool("srv", name, schema=schema)  # type: ignore[arg-type]


def why(host: str, name: str, server: str = "srv", schema: object = OBJECT) -> str:
    return "; ".join(one.why for one in dropped_tools(host, server, [tool(name, schema)]))


@each_case("host", ["claude-code", "claude-desktop", "codex", "cursor", "goose", "vscode"])
def test_an_ordinary_tool_is_taken_by_all(host: str):
    assert why(host, "get_weather") == ""


def test_the_name_with_its_server_counts_where_the_host_joins_them():
    assert "129 characters as mcp__srv__aaa" in why("claude-code", "a" * 119)
    assert why("claude-code", "a" * 118) == ""
    assert "61 characters" in why("cursor", "a" * 58) and why("cursor", "a" * 57) == ""


def test_characters_that_a_host_rejects_are_said_and_whose_they_are():
    assert why("claude-desktop", "a.b") == "its name has other characters than letters, digits, _ and -"


@pytest.mark.parametrize("host", ["claude-code", "gemini-cli", "vscode"])
def test_hosts_that_replace_characters_drop_no_tool_for_them(host: str):
    assert why(host, "a.b", server="my server") == ""


def test_a_schema_that_the_models_of_a_host_reject_is_said():
    assert "at the root" in why("claude-code", "either", schema={"anyOf": [OBJECT]})
    assert why("goose", "either", schema={"anyOf": [OBJECT]}) == ""


def test_more_tools_than_a_host_takes_are_said_once():
    found = dropped_tools("vscode", "srv", [tool(f"t{number}") for number in range(129)])
    assert [(one.name, "128" in one.why) for one in found] == [("", True)]


def test_facts_name_the_host_its_evidence_and_what_it_drops():
    facts = acting_facts("claude-desktop", "srv", [tool("a b\x1b[1m"), tool("fine")])
    shown = {name: value for name, value, _ in facts if name}
    assert shown["host"] == "Claude Desktop, as claude-ai 0.1.0"
    assert shown["observed"].startswith("2026-")
    assert shown["drops"] == "1 of 2 tools" and "\x1b" not in str(facts)


def test_facts_name_what_a_host_declares_and_mcptui_leaves_out():
    facts = {name: value for name, value, _ in acting_facts("vscode", "srv", [])}
    assert facts["left out"] == "tasks, which mcptui cannot answer"


def test_an_unknown_host_has_no_facts_and_drops_nothing():
    assert acting_facts("nobody", "srv", [tool("a")]) == [] == dropped_tools("nobody", "srv", [tool("a b")])
