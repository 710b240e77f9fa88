"""Expectations from several observed values."""

from functools import reduce
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.comparison.placeholders import escaped_value, fits, fits_text, same
from tui.core.comparison.varied import renewed, renewed_text, varied_text, widened, widened_text

TRICKY = st.text(alphabet="<>abid re:number0123-.\n: textany\\[]", max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TRICKY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def fulfilled(expected: Any, value: Any) -> bool:
    if isinstance(expected, str):
        return fits(expected, value)
    if isinstance(expected, dict):
        inside = isinstance(value, dict) and expected.keys() <= value.keys()
        return inside and all(fulfilled(member, value[name]) for name, member in expected.items())
    if isinstance(expected, list):
        return (
            isinstance(value, list) and len(expected) == len(value) and all(map(fulfilled, expected, value))
        )
    return same(expected, value)


@each_case(
    ("texts", "expected"),
    [
        (("light rain, 12 °C.", "light rain, 9.5 °C."), "light rain, <number> °C."),
        (("took 12ms", "took 9ms"), "took <number>ms"),
        (("Order ord_8f3a is open", "Order ord_91bc is open"), "Order <id> is open"),
        (("at 2026-12-01T10:00:00Z", "at 2026-12-02T11:00:03Z"), "at <time>"),
        (("in /tmp/tmpab12/x.txt", "in /tmp/tmpcd34/x.txt"), "in /tmp/<id>/x.txt"),
        (("http://127.0.0.1:4567/", "http://127.0.0.1:9999/"), "http://127.0.0.1:<number>/"),
        (("the sky is very blue", "the sky is grey"), "the sky is <text>"),
        (("a <id> 5", "a <id> 6"), "a <<id> <number>"),
        (("for <a1b2>", "for <c3d4>"), "for <text>>"),
        (("same", "same"), "same"),
        (("1\n2", "3\n2"), "<number>\n2"),
        (("7", "8"), "<number>"),
    ],
)
def test_the_words_of_texts_that_differ_become_placeholders(texts: tuple[str, ...], expected: str):
    assert varied_text(texts) == expected


def test_a_third_text_widens_the_expectation_of_two():
    assert varied_text(["id a1", "id a2", "id a b"]) == "id <text>"


def test_leaves_that_differ_become_placeholders_of_their_type():
    first = {"n": 1, "at": 1_700_000_000, "id": "a1", "name": "x", "on": True, "items": [1, 2]}
    second = {"n": 2, "at": 1_700_000_005, "id": "b2", "name": "x", "on": False, "items": [1, 3]}
    assert widened(first, second) == {
        "n": "<number>",
        "at": "<time>",
        "id": "<id>",
        "name": "x",
        "on": "<any>",
        "items": [1, "<number>"],
    }


def test_digits_in_a_string_become_an_id_because_a_number_fits_no_string():
    assert widened({"n": "7"}, {"n": "8"}) == {"n": "<id>"}


def test_a_member_that_only_some_values_have_is_not_expected():
    assert widened({"a": 1, "b": 2}, {"a": 1}) == {"a": 1}


def test_lists_of_different_sizes_may_be_anything():
    assert widened({"a": [1]}, {"a": [1, 2]}) == {"a": "<any>"}


@settings(max_examples=20)
@given(st.lists(JSON, min_size=1, max_size=3))
def test_an_expectation_fits_all_the_values_that_it_is_made_of(values: list[Any]):
    expected = reduce(widened, values[1:], escaped_value(values[0]))
    assert all(fulfilled(expected, value) for value in values)


@settings(max_examples=20)
@given(st.lists(TRICKY, min_size=1, max_size=3))
def test_an_expectation_fits_all_the_texts_that_it_is_made_of(texts: list[str]):
    expected = varied_text(texts)
    assert all(fits_text(expected, text) for text in texts)


def test_a_renewed_text_keeps_the_placeholders_that_fit():
    expected = "Weather in <text>: light rain, <number> °C."
    assert (
        renewed_text(expected, "Weather in Hangzhou: snow, -2 °C.") == "Weather in <text>: snow, <number> °C."
    )


def test_a_renewed_value_keeps_the_placeholders_that_fit_and_expects_no_other_members():
    assert renewed({"id": "<id>", "n": 1}, {"id": "a1", "n": 2, "more": 3}) == {"id": "<id>", "n": 2}


def test_a_renewed_value_has_the_items_of_the_list_that_came():
    assert renewed(["<id>", 1], ["a", 2, "<id>"]) == ["<id>", 2, "<<id>"]


@settings(max_examples=20)
@given(JSON, JSON)
def test_a_renewed_or_widened_expectation_fits_the_value(expected: Any, value: Any):
    assert fulfilled(renewed(expected, value), value)
    assert fulfilled(widened(expected, value), value)


def test_a_long_text_keeps_what_is_equal_at_both_ends():
    words = " ".join(f"w{number}" for number in range(3000))
    other = " ".join(f"v{number}" for number in range(3000))
    assert widened_text(f"begin {words} end", f"begin {other} end") == "begin <text> end"


def test_a_line_that_only_one_text_has_is_replaced_from_its_line_break():
    texts = ['{\n  "a": 1,\n  "c": 3\n}', '{\n  "a": 1,\n  "b": true,\n  "c": 3\n}']
    for one in (texts, texts[::-1]):
        assert varied_text(one) == '{\n  "a": 1,<text>\n  "c": 3\n}'
