"""What a case expects of a response: text, structured content, other items, errors, time."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.keep.draft import Draft, name_for, within
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.suite.case import UNSET, Expectation, Request, RequestKind

REPORT = Request(RequestKind.TOOL, "report", {"city": "Oslo"})


def result(text: str, structured: Any = None, *more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"content": [{"type": "text", "text": text}, *more]}
    return made if structured is None else made | {"structuredContent": structured}


def expectation(raw: Any, *others: Any, request: Request = REPORT, **more: Any) -> Expectation:
    exchange = Exchange("weather", request, result=raw, ms=12, others=others, **more)
    return Draft.of(exchange, "a case").case().expected


def test_a_text_that_structured_content_only_wraps_is_kept_as_text():
    found = expectation(result("Rain, 22 °C", {"result": "Rain, 22 °C"}))
    assert (found.text, found.result) == ("Rain, 22 °C", UNSET)


@pytest.mark.parametrize(
    ("text", "structured"),
    [('{"a": 1}', {"a": 1}), ("5", {"result": 5}), ("true", {"result": True}), ('{\n  "a": 1\n}', {"a": 1})],
)
def test_a_text_that_says_the_same_as_the_structured_content_is_left_out(text: str, structured: Any):
    found = expectation(result(text, structured))
    assert (found.text, found.result) == (None, structured)


def test_a_text_that_says_something_else_is_kept_too():
    found = expectation(result("Found 1 order.", {"orders": 1}))
    assert (found.text, found.result) == ("Found 1 order.", {"orders": 1})


def test_json_in_the_only_text_is_kept_as_a_value():
    found = expectation(result('{"a": 1}'))
    assert (found.text, found.result) == (None, {"a": 1})


def test_an_image_is_kept_by_type_size_and_hash():
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    found = expectation(result("see", None, image))
    assert found.text == "see" and found.content is not None
    (kept,) = found.content
    assert (kept["type"], kept["mime"], kept["size"]) == ("image", "image/png", 5)
    assert kept["sha256"].startswith("2cf24dba")


def test_an_image_that_varies_is_expected_without_its_hash():
    def image(data: str) -> dict[str, Any]:
        return result("see", None, {"type": "image", "data": data, "mimeType": "image/png"})

    found = expectation(image("aGVsbG8="), image("aGVsbG8hIQ=="))
    assert found.content == [{"type": "image", "mime": "image/png", "size": "<number>"}]


def test_errors_of_both_kinds_are_kept_with_their_message():
    assert expectation(result("boom") | {"isError": True}) == Expectation(
        text="boom", error=True, within_ms=100
    )
    error = {"code": -32602, "message": "unknown city"}
    found = expectation(None, error=error)
    assert (found.text, found.error) == ("unknown city", True)


def test_a_prompt_of_one_message_is_kept_as_its_text():
    raw = {"messages": [{"role": "user", "content": {"type": "text", "text": "Tell me."}}]}
    assert expectation(raw, request=Request(RequestKind.PROMPT, "ask")).text == "Tell me."


@pytest.mark.parametrize(
    ("kind", "member", "item"),
    [
        ("tools", "tools", {"name": "a"}),
        ("prompts", "prompts", {"name": "a"}),
        ("resources", "resources", {"uri": "note://a"}),
        ("templates", "resourceTemplates", {"uriTemplate": "note://{a}"}),
    ],
)
def test_of_a_list_only_what_its_items_are_called_by_is_kept(kind: str, member: str, item: dict[str, str]):
    raw = {member: [{**item, "description": "A.", "title": "A"}], "ttlMs": 0, "_meta": {"x": 1}}
    found = expectation(raw, request=Request(RequestKind.LIST, kind))
    assert found.result == {member: [item]}


@pytest.mark.parametrize("text", ["Rain, 22 °C", "costs <id>", "", "at 2026-11-29 07:47:02"])
def test_the_kept_result_passes(text: str):
    raw = result(text, {"said": text, "n": [1, {"id": 3}]})
    assert not judge(expectation(raw), Response(RequestKind.TOOL, raw)).mismatches


@each_case(("ms", "limit"), [(0.7, 100), (40, 150), (100, 300), (260, 800), (1234, 4000), (99999, 300_000)])
def test_the_time_limit_is_three_times_the_latency_rounded_up(ms: float, limit: float):
    assert within(ms) == limit


def test_the_slowest_of_equal_calls_decides_the_time_limit():
    assert expectation(result("a"), result("a"), other_ms=(500,)).within_ms == 1500


def test_a_case_is_named_after_its_request_and_apart_from_others():
    assert name_for(REPORT) == "report Oslo"
    assert name_for(REPORT, {"report Oslo", "report Oslo (2)"}) == "report Oslo (3)"
    assert name_for(Request(RequestKind.LIST, "tools")) == "list of tools"


@pytest.mark.parametrize("value", [10**400, -1e308, "0001-01-01T00:00:00+23:59"])
def test_a_time_of_any_size_is_compared_with_that_of_the_call(value: Any):
    result = {"content": [], "structuredContent": {"createdAt": value}}
    exchange = Exchange("s", REPORT, result=result, others=[result], at=1.7e9)
    assert Draft.of(exchange, "a case").case().expected.result == {"createdAt": value}


def test_a_saved_value_in_arguments_is_escaped():
    request = Request(RequestKind.TOOL, "t", {"path": "${HOME}/x"})
    draft = Draft.of(Exchange("s", request, result=result("a")), "a case")
    assert draft.case().request.arguments == {"path": "$${HOME}/x"}


def test_parts_and_the_time_limit_can_be_switched_off():
    draft = Draft.of(Exchange("s", REPORT, result=result("a", {"id": 3})), "a case")
    (one,) = draft.variations
    case = draft.switch(one).case()
    assert case.expected.result == {"id": 3}
    assert draft.switch(one).switch(one).case() == draft.case()
