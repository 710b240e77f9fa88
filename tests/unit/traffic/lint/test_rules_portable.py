"""Tools that a provider of models does not accept as they are defined."""

from typing import Any

from tests.unit.traffic.traffic_script import ECHO, Script
from tui.core.traffic import Severity

PICK = {**ECHO, "name": "pick", "inputSchema": {"type": "object", "anyOf": [{"required": ["a"]}]}}
FREE = {**ECHO, "name": "free", "inputSchema": {"type": "object", "additionalProperties": True}}
RANGE = {"type": "integer", "exclusiveMinimum": 0}


def listed(*tools: Any) -> Script:
    return Script().legacy().listed(*tools)


def test_an_ordinary_tool_with_optional_arguments_is_portable():
    assert listed(ECHO).codes() == []


def test_each_provider_has_one_finding_for_a_list():
    (anthropic, openai) = sorted(
        listed(ECHO, PICK, {**PICK, "name": "x"}).findings(), key=lambda one: one.code
    )
    assert (anthropic.code, openai.code) == ("portable-anthropic", "portable-openai")
    assert anthropic.severity is Severity.HINT
    assert anthropic.sentence == (
        'Anthropic rejects 2 of 3 tools if sent unchanged. "pick": anyOf at the root of the inputSchema, '
        '"x": anyOf at the root of the inputSchema.'
    )


def test_many_tools_are_counted():
    tools = ({**FREE, "name": f"free{number}"} for number in range(12))
    (finding,) = listed(*tools).findings()
    assert finding.sentence.endswith("and 9 more.")


def test_a_list_with_the_same_tools_is_not_reported_again():
    assert listed(FREE).listed(FREE).codes() == ["portable-openai"]
    assert listed(FREE).listed({**FREE, "name": "other"}).codes() == ["portable-openai"] * 2


def test_google_only_may_reject_what_it_may_ignore():
    schema = {"type": "object", "properties": {"n": RANGE}}
    (finding,) = listed({**ECHO, "inputSchema": schema}).findings()
    assert finding.sentence.startswith("Google may reject 1 of 1 tool if sent unchanged.")


def test_a_definition_that_is_invalid_for_all_is_reported_once():
    assert listed({**ECHO, "inputSchema": {"type": "array"}}).codes() == ["bad-schema"]
    assert listed({**ECHO, "name": "a b"}).codes() == ["tool-name"]
