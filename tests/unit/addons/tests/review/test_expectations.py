from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.expectations import accepted, loosened, recorded
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.suite.case import UNSET, Expectation, Request, RequestKind
from tui.core.comparison.placeholders import escaped_value
from tui.core.errors import UsageError
from tui.core.traffic import Finding, Severity

TOOL = Request(RequestKind.TOOL, "get")


def answer(text: str = "", structured: Any = None, *, error: bool = False) -> Response:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    result |= {"structuredContent": structured} if structured is not None else {}
    return Response(RequestKind.TOOL, {**result, "isError": True} if error else result)


def plain(value: Any) -> Any:
    return value


def fill(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: fill(one) for name, one in value.items()}
    return value.replace("${id}", "a-1") if isinstance(value, str) else value


def test_an_accepted_text_keeps_the_placeholders_that_fit():
    expected = Expectation(text="Hangzhou: light rain, <number> °C.\nstation <id>\nend")
    found = accepted(expected, answer("Hangzhou: snow, -3 °C.\nstation x-7\nnew\nend!"), plain)
    assert found.text == "Hangzhou: snow, <number> °C.\nstation <id>\nnew\nend!"


def test_of_an_accepted_list_only_the_names_are_expected():
    tools = [{"name": "a", "inputSchema": {}}, {"name": "b", "description": "new"}]
    listed = Response(RequestKind.LIST, {"tools": tools, "ttlMs": 5})
    found = accepted(Expectation(result={"tools": [{"name": "a"}]}), listed, plain)
    assert found.result == {"tools": [{"name": "a"}, {"name": "b"}]}
    found = accepted(Expectation(result={"tools": [{"name": "b", "description": "old"}]}), listed, plain)
    assert found.result["tools"][-1] == {"name": "b", "description": "new"}


def test_an_accepted_result_expects_the_same_members():
    expected = Expectation(result={"id": "<id>", "n": 1})
    found = accepted(expected, answer("", {"id": "b", "n": 2, "more": 1}), plain)
    assert found.result == {"id": "<id>", "n": 2}


def test_members_that_are_new_take_the_place_of_one_that_is_missing_in_the_same_object():
    expected = Expectation(result={"id": "<id>", "row": 4, "in": {"place": "B"}})
    got = {"id": "b", "rows": 4, "in": {"place": "B", "floor": 1}, "more": "<id>"}
    found = accepted(expected, answer("", got), plain)
    assert list(found.result) == ["id", "rows", "more", "in"]
    assert found.result == {"id": "<id>", "rows": 4, "more": "<<id>", "in": {"place": "B"}}


def test_an_accepted_value_is_literal():
    found = accepted(Expectation(result={"a": 1}), answer("", {"a": "<id> ${x}"}), plain)
    assert found.result == {"a": "<<id> $${x}"}


def test_a_reference_to_a_saved_value_stays():
    expected = Expectation(result={"id": "${id}", "n": 1})
    assert accepted(expected, answer("", {"id": "a-1", "n": 2}), fill).result == {"id": "${id}", "n": 2}
    assert loosened(expected, answer("", {"id": "a-1", "n": 2}), Part(("result", "n")), fill).result == {
        "id": "${id}",
        "n": "<number>",
    }


def test_an_accepted_error_expects_its_message():
    found = accepted(Expectation(result={"a": 1}), answer("no such city", error=True), plain)
    assert (found.error, found.text, found.result) == (True, "no such city", UNSET)


def test_a_result_in_place_of_an_expected_error_is_expected():
    found = accepted(Expectation(text="no such city", error=True), answer("sunny"), plain)
    assert (found.error, found.text) == (False, "sunny")


def test_a_text_in_place_of_structured_content_is_expected():
    found = accepted(Expectation(result={"a": 1}), answer("sunny"), plain)
    assert (found.text, found.result) == ("sunny", UNSET)


def test_findings_and_slowness_are_accepted_too():
    slow = Response(RequestKind.TOOL, answer("a").result, ms=450.0)
    found = accepted(Expectation(text="a", within_ms=100.0), slow, plain, ["odd-result"], slow=True)
    assert (found.findings, found.within_ms) == (("odd-result",), 1500.0)


def test_a_part_that_varies_becomes_a_placeholder_of_its_type():
    expected = Expectation(result={"n": 1, "id": "a1", "at": "2026-11-28T10:00:00Z", "flag": True})
    got = answer("", {"n": 2, "id": "b2", "at": "2026-11-29T11:00:00Z", "flag": False})
    placeholders = {"n": "<number>", "id": "<id>", "at": "<time>", "flag": "<any>"}
    for name, placeholder in placeholders.items():
        found = loosened(expected, got, Part(("result", name)), plain)
        assert found.result == {**expected.result, name: placeholder}


def test_only_the_words_that_differ_in_one_line_become_placeholders():
    expected = Expectation(text="Hangzhou: rain, 22 °C\nstation 5")
    found = loosened(expected, answer("Hangzhou: rain, 25 °C\nstation 7"), Part(("text",), 0), plain)
    assert found.text == "Hangzhou: rain, <number> °C\nstation 5"


def test_a_missing_member_that_varies_is_not_expected():
    expected = Expectation(result={"a": 1, "b": 2})
    assert loosened(expected, answer("", {"a": 1}), Part(("result", "b")), plain).result == {"a": 1}


def test_a_list_whose_length_varies_may_be_anything():
    expected = Expectation(result={"items": [1]})
    found = loosened(expected, answer("", {"items": [1, 2]}), Part(("result", "items")), plain)
    assert found.result == {"items": "<any>"}


@pytest.mark.parametrize("steps", [(), ("error",), ("result",), ("result", "a")])
def test_what_does_not_differ_cannot_vary(steps: tuple[str, ...]):
    with pytest.raises(UsageError, match="Select"):
        loosened(Expectation(result={"a": 1, "b": 2}), answer("", {"a": 1, "b": 3}), Part(steps), plain)


def test_a_result_that_nothing_was_expected_of_is_recorded_as_a_kept_call():
    found = recorded(TOOL, answer("order 3f2b8c9e-1d4a-4c5b-9e8f-7a6b5c4d3e2f"), 0.0)
    assert found.text == "order <id>"


TEXTS = st.lists(st.sampled_from(["a", "7", "<id>", "<number>", "rain", " ", "\n", "b1"]), max_size=8).map(
    "".join
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, TEXTS)
def test_an_accepted_text_is_as_expected(text: str, got: str):
    response = answer(got)
    assert not judge(accepted(Expectation(text=text), response, plain), response).mismatches


@given(VALUES, VALUES)
def test_an_accepted_result_is_as_expected(value: Any, got: Any):
    response = answer("", {"value": got})
    expected = Expectation(result={"value": value})
    assert not judge(accepted(expected, response, plain), response).mismatches


@given(VALUES, VALUES)
def test_whatever_the_two_values_are_all_parts_can_be_loosened_until_they_fit(value: Any, got: Any):
    from tui.addons.tests.review.compared import compared, sections

    response = answer("", {"value": got})
    expected = Expectation(result={"value": escaped_value(value)})
    for _ in range(40):
        lines = compared(sections(expected, response))
        part = next((line.part for line in lines if not line.pair.same), None)
        if part is None:
            break
        expected = loosened(expected, response, part, plain)
    assert not judge(expected, response).mismatches


def test_a_finding_is_accepted_by_its_code():
    finding = Finding(0, "odd-result", Severity.ERROR, "odd")
    response = Response(RequestKind.TOOL, answer("a").result, findings=[finding])
    assert not judge(accepted(Expectation(text="a"), response, plain, ["odd-result"]), response).mismatches
