"""Judging a response: each part of an expectation, with the path of the first difference."""

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.run.judge import Response, content_of, judge
from tui.addons.tests.run.outcome import ABSENT, Mismatch
from tui.addons.tests.suite.case import UNSET, Expectation, RequestKind
from tui.core.comparison.placeholders import escaped_value
from tui.core.traffic import Finding, Severity

PNG = b"\x89PNG...."
IMAGE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}
DESCRIBED = {"type": "image", "mime": "image/png", "size": 8, "sha256": hashlib.sha256(PNG).hexdigest()}


def text(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one} for one in texts]


def answered(
    *content: dict[str, Any], kind: RequestKind = RequestKind.TOOL, ms: float = 1.0, **more: Any
) -> Response:
    return Response(kind, {"content": list(content), **more}, ms=ms)


def structured(value: Any) -> Response:
    return answered(structuredContent=value)


def refused(message: str, code: int = -32602) -> Response:
    return Response(RequestKind.TOOL, error={"code": code, "message": message})


def found(expected: Expectation, response: Response, **more: Any) -> list[Mismatch]:
    return list(judge(expected, response, **more).mismatches)


def paths(expected: Expectation, response: Response, **more: Any) -> list[str]:
    return [one.path for one in found(expected, response, **more)]


# ---- text --------------------------------------------------------------------------------------------------


@each_case(
    ("expected", "got"),
    [
        ("3", "3"),
        ("<number>", "3"),
        ("It is <number> °C at <time>.", "It is 21.5 °C at 14:05:10."),
        ("<text>", "anything\nat all"),
        ("<re:[a-f]+>", "abc"),
        ("<<id>", "<id>"),
        ("", ""),
    ],
)
def test_a_text_that_fits_is_no_difference(expected: str, got: str):
    assert found(Expectation(text=expected), answered(*text(got))) == []


@each_case(
    ("expected", "got"),
    [("3", "4"), ("<number>", "three"), ("It is <number> °C", "It is 21 °C now"), ("a", "a\n"), ("", " ")],
)
def test_a_text_that_does_not_fit_is_shown_whole(expected: str, got: str):
    assert found(Expectation(text=expected), answered(*text(got))) == [Mismatch("text", expected, got)]


def test_texts_are_joined_by_line_breaks():
    assert found(Expectation(text="one\ntwo"), answered(*text("one", "two"))) == []


def test_an_added_text_fails_a_case():
    assert paths(Expectation(text="one"), answered(*text("one", "two"))) == ["text"]


def test_the_text_of_a_resource_is_that_of_its_contents():
    read = Response(
        RequestKind.READ, {"contents": [{"uri": "a:b", "text": "one"}, {"uri": "a:c", "text": "two"}]}
    )
    assert read.text == "one\ntwo"


def test_the_text_of_a_prompt_is_that_of_its_messages():
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Hello"}},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi"}, IMAGE]},
    ]
    prompt = Response(RequestKind.PROMPT, {"messages": messages})
    assert prompt.text == "Hello\nHi"
    assert prompt.content == [DESCRIBED]


def test_a_note_says_that_the_role_of_another_speaker_was_not_compared():
    messages = [{"role": "assistant", "content": {"type": "text", "text": "Hello"}}]
    notes = judge(Expectation(text="Hello"), Response(RequestKind.PROMPT, {"messages": messages})).notes
    assert [note.partition(".")[0] for note in notes] == ["not compared: role assistant"]


# ---- result ------------------------------------------------------------------------------------------------


def test_objects_may_have_more_members_at_any_depth():
    got = {"id": 7, "inner": {"a": 1, "b": 2}, "more": True}
    assert found(Expectation(result={"id": 7, "inner": {"a": 1}}), structured(got)) == []


def test_lists_may_not_have_more_items():
    (one,) = found(Expectation(result={"items": [1]}), structured({"items": [1, 2]}))
    assert (one.path, one.expected, one.got, one.why) == ("result.items[1]", ABSENT, 2, "not expected")


def test_a_lost_field_is_named():
    (one,) = found(Expectation(result={"a": {"b": 1}}), structured({"a": {}}))
    assert (one.path, one.expected, one.got, one.why) == ("result.a.b", 1, ABSENT, "missing")


def test_a_field_that_is_null_is_not_a_missing_one():
    (one,) = found(Expectation(result={"a": None}), structured({}))
    assert one.got is ABSENT and one.expected is None


@each_case(("expected", "got"), [(1, "1"), (1, True), ("1", 1), (None, False), ([], {}), ({}, []), (1, 1.5)])
def test_another_type_or_value_is_a_difference(expected: Any, got: Any):
    assert found(Expectation(result={"a": expected}), structured({"a": got})) == [
        Mismatch("result.a", expected, got)
    ]


def test_the_same_number_in_another_form_is_no_difference():
    assert found(Expectation(result={"a": 1}), structured({"a": 1.0})) == []


def test_changed_order_of_named_items_is_a_difference():
    first, second = {"id": "a"}, {"id": "b"}
    (one,) = found(Expectation(result=[first, second]), structured([second, first]))
    assert (one.path, one.why) == ("result", "in another order")


def test_a_renamed_item_is_one_difference():
    expected = {"tools": [{"name": "add"}, {"name": "count_orders"}]}
    got = {"tools": [{"name": "add"}, {"name": "order_count", "title": "Count"}]}
    (one,) = found(Expectation(result=expected), structured(got))
    assert (one.path, one.expected, one.got) == ("result.tools[1].name", "count_orders", "order_count")


def test_placeholders_stand_for_values_of_their_type():
    expected = {"id": "<id>", "at": "<time>", "count": "<number>", "any": "<any>"}
    got = {"id": "a-1", "at": "2026-11-28T10:00:00Z", "count": 7, "any": {"x": []}}
    assert found(Expectation(result=expected), structured(got)) == []
    assert paths(Expectation(result=expected), structured({**got, "count": "7"})) == ["result.count"]


def test_names_that_are_no_words_are_quoted_in_a_path():
    assert paths(Expectation(result={"a b": [1]}), structured({"a b": [2]})) == ['result["a b"][0]']


def test_without_structured_content_the_json_of_the_text_counts():
    assert found(Expectation(result={"count": 1}), answered(*text('{"count": 1, "more": 2}'))) == []
    assert found(Expectation(result=5), answered(*text("5"))) == []


def test_structured_content_counts_more_than_the_text():
    response = answered(*text('{"a": 1}'), structuredContent={"a": 2})
    assert paths(Expectation(result={"a": 1}, text="<text>"), response) == ["result.a"]


@each_case(
    ("texts", "value"),
    [
        (['{"a": 1}'], {"a": 1}),
        (['{\n  "a": 1\n}'], {"a": 1}),
        (['{"a": 1}', '{"a": 2}'], {"result": [{"a": 1}, {"a": 2}]}),
        (["True"], {"result": True}),
        ([], {"a": 1}),
    ],
)
def test_texts_that_repeat_structured_content_are_not_compared(texts: list[str], value: Any):
    assert found(Expectation(result=value), answered(*text(*texts), structuredContent=value)) == []


def test_an_added_text_beside_structured_content_fails_a_case():
    response = answered(*text('{"a": 1}', "Note: a is old."), structuredContent={"a": 1})
    (one,) = found(Expectation(result={"a": 1}), response)
    assert one.path == "text" and one.expected is ABSENT and "something else" in one.why


def test_a_text_that_is_not_json_has_no_result():
    (one,) = found(Expectation(result={"a": 1}), answered(*text("a = 1")))
    assert one.path == "result" and one.got is ABSENT and "not JSON" in one.why


def test_a_null_is_an_expectation():
    assert found(Expectation(result=None), structured(None)) == []
    assert paths(Expectation(result=None), structured({})) == ["result"]


@pytest.mark.parametrize("kind", [RequestKind.LIST, RequestKind.PROMPT])
def test_the_whole_result_of_a_list_or_a_prompt_is_compared(kind: RequestKind):
    response = Response(kind, {"tools": [{"name": "add"}], "messages": [], "_meta": {"x": 1}})
    assert found(Expectation(result={"tools": [{"name": "add"}]}), response) == []
    assert paths(Expectation(result={"_meta": {}}), response) == ["result._meta"]


def test_a_result_too_large_to_compare_fails():
    many = list(range(150_000))
    (one,) = found(Expectation(result=many), structured([*many, 0]))
    assert one.path.startswith("result")


# ---- content -----------------------------------------------------------------------------------------------


def test_items_that_are_not_text_are_described():
    resource = {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "hi"}}
    blob = {"type": "resource", "resource": {"uri": "a:c", "blob": base64.b64encode(b"abc").decode()}}
    link = {"type": "resource_link", "uri": "a:d", "name": "d", "size": 9}
    assert content_of([*text("no"), IMAGE, resource, blob, link, 7]) == [
        DESCRIBED,
        {"type": "resource", "mime": "text/plain", "uri": "a:b", "text": "hi"},
        {"type": "resource", "uri": "a:c", "size": 3, "sha256": hashlib.sha256(b"abc").hexdigest()},
        {"type": "resource_link", "uri": "a:d", "name": "d", "size": 9},
        {"type": "unknown"},
    ]


def test_data_that_is_not_base64_is_described_by_its_text():
    (item,) = content_of([{"type": "image", "data": "*"}])
    assert item["sha256"] == hashlib.sha256(b"*").hexdigest()


def test_a_blob_of_a_resource_is_an_item():
    read = Response(RequestKind.READ, {"contents": [{"uri": "a:b", "blob": IMAGE["data"]}]})
    assert read.text == "" and read.content[0]["sha256"] == DESCRIBED["sha256"]


def test_only_the_given_members_of_an_item_are_compared():
    assert found(Expectation(content=[{"type": "image", "size": "<number>"}]), answered(IMAGE)) == []


def test_an_item_that_differs_is_named_with_its_member():
    expected = Expectation(content=[{"type": "image", "mime": "image/jpeg"}])
    assert found(expected, answered(IMAGE)) == [Mismatch("content[0].mime", "image/jpeg", "image/png")]


def test_an_extra_item_fails_a_case_with_content():
    (one,) = found(Expectation(content=[]), answered(*text("hi"), IMAGE))
    assert (one.path, one.expected, one.got) == ("content[0]", ABSENT, DESCRIBED)


def test_a_missing_item_is_a_difference():
    (one,) = found(Expectation(content=[{"type": "image"}]), answered(*text("hi")))
    assert (one.path, one.expected, one.got) == ("content[0]", {"type": "image"}, ABSENT)


def test_a_note_says_which_items_were_not_compared():
    judgement = judge(Expectation(text="hi"), answered(*text("hi"), IMAGE, IMAGE))
    assert judgement.mismatches == []
    assert judgement.notes == ["not compared: 2 images. To compare them, add content = […]."]


# ---- errors ------------------------------------------------------------------------------------------------


def test_an_error_instead_of_a_result_is_the_only_difference():
    expected = Expectation(text="3", result={"a": 1})
    (one,) = found(expected, answered(*text("no such place"), isError=True))
    assert (one.path, one.expected, one.got) == ("error", False, "no such place")
    (one,) = found(expected, refused("unknown tool"))
    assert (one.path, one.got) == ("error", "unknown tool") and "-32602" in one.why


def test_a_result_instead_of_an_error_is_the_only_difference():
    (one,) = found(Expectation(error=True, text="no"), answered(*text("yes")))
    assert (one.path, one.expected, one.got) == ("error", True, "yes")


@pytest.mark.parametrize("response", [answered(*text("no place"), isError=True), refused("no place")])
def test_the_text_of_an_expected_error_is_its_message(response: Response):
    assert found(Expectation(error=True, text="no <text>"), response) == []
    assert paths(Expectation(error=True, text="none"), response) == ["text"]


# ---- time and findings -------------------------------------------------------------------------------------


def test_a_slow_response_is_a_note():
    judgement = judge(Expectation(text="3", within_ms=800), answered(*text("3"), ms=1200))
    assert judgement.mismatches == []
    assert judgement.notes == ["slow: 1.2 s, expected within 0.8 s."]


@pytest.mark.parametrize(
    ("ms", "limit", "said"),
    [
        (504, 499, "slow: 504 ms, expected within 499 ms."),
        (100.4, 100, "slow: 100.4 ms, expected within 100.0 ms."),
        (101, 99, "slow: 101 ms, expected within 99 ms."),
    ],
)
def test_two_times_differ_as_they_are_written(ms: float, limit: float, said: str):
    assert judge(Expectation(text="3", within_ms=limit), answered(*text("3"), ms=ms)).notes == [said]


def test_a_slow_response_fails_with_strict_time():
    expected = Expectation(text="3", within_ms=800)
    assert paths(expected, answered(*text("3"), ms=1200), strict_time=True) == ["within"]
    assert paths(expected, answered(*text("3"), ms=800), strict_time=True) == []


def finding(code: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(1, code, severity, "It is wrong.")


def test_a_finding_fails_a_case_unless_it_is_named():
    response = Response(RequestKind.TOOL, {"content": text("3")}, findings=[finding("bad-result")])
    (one,) = found(Expectation(text="3"), response)
    assert (one.path, one.got, one.why) == ("findings", "bad-result", "It is wrong.")
    assert found(Expectation(text="3", findings=("bad-result",)), response) == []


def test_a_hint_of_the_linter_is_a_note():
    hints = [finding("deprecated", Severity.HINT)]
    response = Response(RequestKind.TOOL, {"content": text("3")}, findings=hints)
    judgement = judge(Expectation(text="3"), response)
    assert (judgement.mismatches, judgement.notes) == ([], ["hint deprecated: It is wrong."])


# ---- whatever a server answers -----------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9, allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=20, deadline=None)
@given(value=JSON)
def test_a_value_fits_itself_once_it_is_escaped(value: Any):
    assert found(Expectation(result=escaped_value(value)), structured(value)) == []


@settings(max_examples=20, deadline=None)
@given(result=JSON, kind=st.sampled_from(list(RequestKind)), expected=JSON)
def test_no_response_breaks_the_judge(result: Any, kind: RequestKind, expected: Any):
    wanted = Expectation(text="<text>", result=expected, content=[{"type": "image"}])
    for response in (Response(kind, result), answered(result, kind=kind)):
        assert judge(wanted, response).mismatches is not None


def test_nothing_expected_is_nothing_compared():
    assert found(Expectation(result=UNSET), answered(*text("x"))) == []


@each_case(
    ("item", "codes"),
    [
        ({"type": "image", "data": "aGk="}, []),
        ({"type": "image", "data": "aGk"}, []),
        ({"type": "image", "data": "not base64!"}, ["invalid-base64"]),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": "%"}}, ["invalid-base64"]),
        ({"type": "resource", "resource": {"uri": "a:b", "text": "%"}}, []),
    ],
)
def test_data_that_is_not_base64_is_a_finding(item: dict[str, Any], codes: list[str]):
    response = Response(RequestKind.TOOL, {"content": [item]})
    assert [one.got for one in judge(Expectation(), response).mismatches] == codes
    assert not judge(Expectation(findings=("invalid-base64",)), response).mismatches


@pytest.mark.parametrize(("said", "is_error"), [(True, True), ("true", False), (1, False), (False, False)])
def test_only_true_says_that_a_call_failed_as_in_the_traffic(said: object, is_error: bool):
    assert Response(RequestKind.TOOL, {"content": [], "isError": said}).is_error is is_error
