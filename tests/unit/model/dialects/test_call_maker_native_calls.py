"""Native calls that are repaired, and calls in output that an endpoint failed to parse."""

import json

import pytest

from tests.cases import each_case
from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ToolSpec
from tui.model.dialects.call_maker import calls_of_generation, repaired

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "area": {"anyOf": [{"properties": {"km": {"allOf": [{"type": "integer"}]}}}, {"type": "null"}]},
        "most": {"additionalProperties": {"type": "integer"}},
        "pair": {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
        "wind": {"oneOf": [{"properties": {"a": {"type": kind}}} for kind in ("string", "integer")]},
        "hours": {"type": "array", "items": {"type": "integer"}},
        "code": {"type": ["string", "integer"]},
    },
    "required": ["city"],
}
TOOLS = [ToolSpec("wx__forecast", "", SCHEMA, "wx", "forecast"), ToolSpec("now", "", {})]
OSLO = {"city": "Oslo", "days": 2}


def mended(arguments: str) -> CallRequest:
    (call,) = repaired([CallRequest("c", "wx__forecast", arguments)], TOOLS)
    return call


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": "Oslo", "days": 2,}',
        "{'city': 'Oslo', 'days': 2}",
        '```json\n{"city": "Oslo", "days": 2}\n```',
        '{"city": "Oslo", days: 2}',
    ],
)
def test_almost_json_arguments_are_repaired_and_marked_unless_only_a_fence_was_removed(
    arguments: str,
) -> None:
    call = mended(arguments)
    assert json.loads(call.arguments) == OSLO
    assert call.recovered is not arguments.startswith("```")


@each_case(
    ("arguments", "value"),
    [
        ({"city": "Oslo", "days": "2"}, OSLO),
        ({"city": "Oslo", "days": " 2 "}, OSLO),
        ({"area": {"km": "5"}}, {"area": {"km": 5}}),
        ({"most": {"rain": "5", "snow": None}}, {"most": {"rain": 5, "snow": None}}),
        ({"area": None, "pair": ["1", "2"]}, {"area": None, "pair": [1, "2"]}),
        ({"city": "Oslo", "hours": '["1", 2]'}, {"city": "Oslo", "hours": [1, 2]}),
        ({"city": "Oslo", "days": None}, {"city": "Oslo"}),
        ({"code": "2", "wind": {"a": "3"}}, {"code": "2", "wind": {"a": "3"}}),
        ({"city": "Oslo", "days": "two"}, {"city": "Oslo", "days": "two"}),
        ({"city": None, "extra": None}, {"city": None, "extra": None}),
        ({"params": {"other": 1}}, {"params": {"other": 1}}),
    ],
)
def test_a_string_is_converted_to_the_type_in_the_schema(arguments: object, value: object) -> None:
    call = mended(json.dumps(arguments))
    assert json.loads(call.arguments) == value and not call.recovered


@each_case(
    "arguments",
    [
        '{"arguments": {"city": "Oslo", "days": 2}}',
        '{"name": "wx__forecast", "parameters": {"city": "Oslo", "days": 2}}',
        '{"input": "{\\"city\\": \\"Oslo\\", \\"days\\": 2}"}',
        '{"city": "Oslo", "days": 2}\n\nDone.',
        'json{"city": "Oslo", "days": 2}',
        '={"city": "Oslo", "days": 2}',
        'city="Oslo", days=2',
    ],
)
def test_arguments_in_a_wrapper_or_between_words_are_extracted_and_marked(arguments: str) -> None:
    call = mended(arguments)
    assert json.loads(call.arguments) == OSLO and call.recovered


@each_case(
    ("name", "recovered"),
    [
        ("functions.wx__forecast:0", False),
        ("default_api.wx__forecast", False),
        ('"wx__forecast"', False),
        ("wx__forecast()", False),
        ('wx__forecast{"city": "Oslo"}', True),
        ('wx__forecast={"city": "Oslo"}', True),
    ],
)
def test_a_tool_name_with_extra_text_around_it_is_recognized(name: str, recovered: bool) -> None:
    (call,) = repaired([CallRequest("c", name, "{}" if recovered else '{"city": "Oslo"}')], TOOLS)
    assert (call.name, call.recovered) == ("wx__forecast", recovered)
    assert json.loads(call.arguments) == {"city": "Oslo"}


@each_case(
    "name",
    """
    mcp__wx__forecast mcp_wx_forecast wx.forecast wx:forecast wx/forecast wx-forecast mcp.wx.forecast
    tools.forecast mcp__forecast wxForecast WX__FORECAST functions:wx__forecast wx__wx__forecast
    """.split(),
)
def test_a_name_that_fits_only_one_tool_is_that_tool(name: str) -> None:
    (call,) = repaired([CallRequest("c", name, '{"city": "Oslo"}')], TOOLS)
    assert call.name == "wx__forecast"


@each_case("name", ["other__forecast", "wx__forecasts", "mcp", "mcp__mcp", "wx", "", "_"])
def test_a_name_that_fits_no_tool_stays(name: str) -> None:
    assert repaired([CallRequest("c", name, "{}")], TOOLS)[0].name == name


def test_a_name_that_fits_two_tools_stays() -> None:
    tools = [*TOOLS, ToolSpec("sea__forecast", "", SCHEMA, "sea", "forecast")]
    assert repaired([CallRequest("c", "mcp__forecast", "{}")], tools)[0].name == "mcp__forecast"
    assert repaired([CallRequest("c", "mcp__sea__forecast", "{}")], tools)[0].name == "sea__forecast"
    tools = [ToolSpec("a__bc", "", {}, "a", "bc"), ToolSpec("ab__c", "", {}, "ab", "c")]
    assert repaired([CallRequest("c", "mcp__a_b_c", "{}")], tools)[0].name == "mcp__a_b_c"


def test_valid_arguments_are_kept_as_the_model_wrote_them() -> None:
    assert mended('{"city":"Oslo",  "days":2}').arguments == '{"city":"Oslo",  "days":2}'


@each_case(
    "call",
    [
        CallRequest("c", "wx__forecast", '{"city": "Os', truncated=True),
        CallRequest("c", "unknown", '{"city": "Oslo",}'),
        CallRequest("c", "wx__forecast", "{}", problem="broken"),
        CallRequest("c", "wx__forecast", '{"city": NaN}'),
        CallRequest("c", "wx__forecast", "[1, 2]"),
        CallRequest("c", "wx__forecast", '{"city": "Oslo'),
    ],
)
def test_arguments_that_cannot_be_repaired_are_unchanged(call: CallRequest) -> None:
    assert repaired([call], TOOLS) == (call,)


BODY = '{"city": "Oslo", "days": 2}'


@each_case(
    "text",
    [
        f'{{"name": "wx__forecast", "arguments": {BODY}}}',
        f'[{{"name": "forecast", "parameters": {BODY}}}]',
        f'```json\n{{"name": "wx__forecast", "arguments": {BODY}}}\n```',
        f'<tool-use>\n{{"tool_calls":[{{"function":{{"name":"wx__forecast"}},"parameters":{BODY}}}]}}</tool-use>',
        "{'name': 'wx__forecast', 'arguments': {'city': 'Oslo', 'days': 2,}}",
        'wx__forecast(city="Oslo", days=2)',
        '```tool_code\nprint(default_api.wx__forecast(city="Oslo", days=2))\n```',
        f'<tools>{{"name": "wx__forecast", "arguments": {BODY}}}</tools>',
        f"wx__forecast{BODY}</function>",
    ],
)
def test_a_call_that_the_endpoint_failed_to_parse_is_found(text: str) -> None:
    (call,) = calls_of_generation(text, TOOLS)
    assert (call.name, json.loads(call.arguments), call.recovered) == ("wx__forecast", OSLO, True)


@each_case(
    "text",
    [
        "",
        "I cannot do that.",
        '{"name": "other", "arguments": {}}',
        '{"name": "wx__forecast", "arguments": {"city": "Os',
        'wx__forecast(city="Oslo") and now(',
        'wx__forecast("Oslo")',
        '[{"name": "now"}, {"name": "other"}]',
        '{"name": "now", "arguments": [1]}',
    ],
)
def test_other_output_that_the_endpoint_failed_to_parse_is_not_a_call(text: str) -> None:
    assert calls_of_generation(text, TOOLS) == ()


def wrapped(*names: str) -> CallRequest:
    uses = [{"recipient_name": f"functions.{name}", "parameters": OSLO} for name in names]
    return CallRequest("c", "multi_tool_use.parallel", json.dumps({"tool_uses": uses}))


def test_a_call_that_only_wraps_others_is_replaced_by_them() -> None:
    calls = repaired([wrapped("wx__forecast", "wx__forecast")], TOOLS)
    assert [(call.name, json.loads(call.arguments), call.recovered) for call in calls] == [
        ("wx__forecast", OSLO, True)
    ] * 2
    assert calls[0].id == "c" and len({call.id for call in calls}) == 2


def test_a_wrapper_around_an_unknown_tool_stays_one_call() -> None:
    call = wrapped("wx__forecast", "wx__other")
    assert repaired([call], TOOLS) == (call,)
