from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.addons.tests.review.compared import MISSING, Part, Section, aligned, compared, sections
from tui.addons.tests.run.judge import Response
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import Expectation, RequestKind
from tui.core.comparison.values import LinePair

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "a\nb", "<id>", "<<id>", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


def pairs(expected: object, got: object, key: str = "result") -> list[LinePair]:
    return [line.pair for line in compared([Section(key, expected, got)])][1:]


def differing(expected: object, got: object, key: str = "result") -> list[Part]:
    return [line.part for line in compared([Section(key, expected, got)]) if not line.pair.same]


def test_a_placeholder_that_fits_and_a_further_member_are_no_differences():
    found = pairs({"id": "<id>", "n": 1}, {"id": "a-7", "n": 1, "more": [2]})
    assert all(pair.same for pair in found)
    assert LinePair('    "id": "<id>"', '    "id": "a-7"', True) in found
    assert LinePair("", '    "more": [', True) in found


def test_a_line_that_differs_knows_the_part_of_the_expectation():
    assert differing({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == [Part(("result", "a", 1, "b"))]
    assert differing({"gone": 1}, {}) == [Part(("result", "gone"))]


def test_an_inserted_item_is_one_difference():
    expected = [{"name": "a", "at": "<time>"}, {"name": "b", "at": "<time>"}]
    day = "2026-11-29"
    got = [{"name": "a", "at": day}, {"name": "new", "at": day}, {"name": "b", "at": day}]
    assert set(differing(expected, got)) == {Part(("result",))}


def test_a_line_that_was_inserted_into_a_long_text_is_one_difference():
    lines = [f"line {number % 50}, <number> ms" for number in range(600)]
    got = [line.replace("<number>", "5") for line in lines]
    literal = [line.replace("<number>", "5") for line in lines]
    found = compared([Section("text", "\n".join(literal), "\n".join(["new", *got]))])
    assert sum(not line.pair.same for line in found) == 1


def test_texts_are_compared_line_by_line_with_their_placeholders():
    found = compared([Section("text", "at <number> °C\nrain\nend", "at 22 °C\nsnow\nend")])[1:]
    assert [(line.pair.same, line.part.line) for line in found] == [(True, 0), (False, 1), (True, 2)]


def test_a_placeholder_for_several_lines_leaves_no_difference():
    assert not differing("<text>\nend", "one\ntwo\nend", "text")


def test_a_text_of_a_server_is_cleaned():
    (pair,) = pairs("a", "\x1b[31mb")
    assert "\x1b" not in str(pair.after)


@given(VALUES, VALUES)
def test_any_two_values_can_be_compared_and_equal_ones_have_no_difference(one: object, other: object):
    from tui.core.comparison.placeholders import escaped_value

    compared([Section("result", one, other)])
    assert not differing(escaped_value(one), one)


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_each_item_of_both_lists_is_aligned_once(one: list[int], other: list[int]):
    found = list(aligned(one, other))
    assert [old for old, _ in found if old is not None] == list(range(len(one)))
    assert [new for _, new in found if new is not None] == list(range(len(other)))


def answer(text: str, **more: Any) -> Response:
    return Response(RequestKind.TOOL, {"content": [{"type": "text", "text": text}], **more})


def test_only_what_is_expected_is_compared():
    response = answer("sunny", structuredContent={"a": 1})
    assert sections(Expectation(text="rain"), response) == [Section("text", "rain", "sunny")]
    assert sections(Expectation(result={"a": 2}), response) == [Section("result", {"a": 2}, {"a": 1})]


def test_an_unexpected_error_shows_what_it_says():
    assert sections(Expectation(result={"a": 1}), answer("no such city", isError=True)) == [
        Section("error", False, True),
        Section("text", ABSENT, "no such city"),
        Section("result", {"a": 1}, MISSING),
    ]


def test_a_case_that_expects_nothing_shows_all_that_it_could_expect():
    assert sections(Expectation(), answer("sunny")) == [Section("text", ABSENT, "sunny")]
    found = sections(Expectation(), answer("{}", structuredContent={"a": 1}))
    assert found == [Section("result", ABSENT, {"a": 1})]
