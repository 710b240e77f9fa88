"""What varies in a value, leaf by leaf, and the expectation with placeholders."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.addons.tests.keep.texts import template
from tui.addons.tests.keep.variation import Variation, expected, variations
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.suite.case import Expectation, RequestKind
from tui.core.comparison.placeholders import fits_text


def proposed(value: Any, *others: Any, given: Any = (), head: str = "result") -> Any:
    """Return the expectation with everything that is proposed."""
    found = variations(head, value, others, [given])
    return expected(head, value, [one for one in found if one.proposed])


def switched_off(value: Any, *others: Any) -> list[str]:
    return [one.where for one in variations("result", value, others) if not one.proposed]


def test_leaves_that_differ_become_placeholders_of_their_type():
    first = {"n": 22, "at": 1795938422.9, "id": "a1", "sky": "rain, 3 mm", "flag": True, "gone": None}
    other = {"n": 1, "at": 1795938429.9, "id": "b2", "sky": "rain, 4 mm", "flag": False, "gone": 1}
    assert proposed(first, other) == {
        "n": "<number>",
        "at": "<time>",
        "id": "<id>",
        "sky": "rain, <number> mm",
        "flag": "<any>",
        "gone": "<any>",
    }


def test_a_member_that_is_missing_in_another_result_is_still_expected_unless_it_is_switched():
    assert proposed({"a": 1, "b": 2}, {"a": 1}) == {"a": 1, "b": 2}
    (missing,) = variations("result", {"a": 1, "b": 2}, [{"a": 1}])
    assert (missing.why, missing.proposed) == ("missing in 1 of 1", False)
    assert expected("result", {"a": 1, "b": 2}, [missing]) == {"a": 1}


def test_a_list_whose_length_or_order_varies_is_any_list():
    assert proposed({"items": [1, 2]}, {"items": [1]}) == {"items": "<any>"}
    assert proposed({"items": [1, 2]}, {"items": [2, 1]}) == {"items": "<any>"}


def test_times_and_ids_by_name_are_proposed_from_a_single_result():
    assert proposed({"id": 7, "createdAt": 1795938422, "took_ms": 3, "temp": 7}) == {
        "id": "<id>",
        "createdAt": "<time>",
        "took_ms": "<number>",
        "temp": 7,
    }


def test_an_id_that_is_an_argument_does_not_vary():
    assert proposed({"id": "A1"}, given={"order": "A1"}) == {"id": "A1"}


def test_an_id_that_is_the_same_in_another_result_is_offered_but_switched_off():
    value = {"id": "A1", "n": 1}
    assert switched_off(value, value) == ["result.id"]
    assert proposed(value, value) == value


def test_a_secret_is_always_replaced():
    (found,) = variations("text", "the key is [redacted:API_KEY].", [])
    assert found.required
    assert expected("text", "the key is [redacted:API_KEY].", [found]) == "the key is <text>."


def test_texts_that_look_like_placeholders_or_saved_values_stay_literal():
    assert proposed("pay ${amount} to <id>", head="text") == "pay $${amount} to <<id>"


def test_a_part_that_is_switched_off_is_expected_as_it_was():
    first, other = "rain, 22 °C at 3 m", "rain, 19 °C at 5 m"
    (number, metres) = variations("text", first, [other])
    assert expected("text", first, [metres]) == "rain, 22 °C at <number> m"
    assert [number.value, *number.others] == ["22", "19"]


LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet="ab1 <>", max_size=6)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.lists(VALUES, min_size=1, max_size=3))
def test_the_proposed_expectation_passes_for_every_result(values: list[Any]):
    first, *others = [{"value": one} for one in values]
    wanted = Expectation(result=proposed(first, *others))
    for one in (first, *others):
        found = judge(wanted, Response(RequestKind.TOOL, {"content": [], "structuredContent": one}))
        assert not found.mismatches, (wanted, one)


@pytest.mark.parametrize("size", [1, 5000])
def test_values_of_any_size_are_bounded(size: int):
    first, other = {"items": list(range(size))}, {"items": list(range(1, size + 1))}
    found: list[Variation] = variations("result", first, [other])
    assert 0 < len(found) <= 500


def test_what_differs_in_one_item_of_a_list_varies_in_all_of_them():
    first = {"days": [{"sky": "sun", "n": 1}, {"sky": "rain", "n": 2}]}
    other = {"days": [{"sky": "sun", "n": 9}, {"sky": "fog", "n": 2}]}
    varying = {"sky": "<text>", "n": "<number>"}
    assert proposed(first, other) == {"days": [varying, varying]}


@each_case(
    ("text", "other", "expected"),
    [
        ("light rain, 22 °C.", "light rain, 19 °C.", "light rain, <number> °C."),
        ("light rain, 22 °C.", "heavy snow, -3.5 °C.", "<text>, <number> °C."),
        ("order a3f9c2 created", "order b771e0 created", "order <id> created"),
        ("Hello Ann Lee, welcome", "Hello Bob, welcome", "Hello <text>, welcome"),
        ("seen 2026-11-29 07:47:02", "seen 2026-11-29 07:48:11", "seen <time>"),
        ("took 12ms", "took 9ms", "took <number>ms"),
        ("", "x", "<text>"),
    ],
)
def test_what_differs_becomes_a_placeholder_of_its_type(text: str, other: str, expected: str):
    assert template(text, other) == expected


@each_case(
    ("text", "expected"),
    [
        ("at 2026-11-29T07:47:02.903Z", "at <time>"),
        ("Sun, 29 Nov 2026 07:47:02 GMT", "<time>"),
        ("id 0b7a2c6e-1d2f-4e8b-9c1e-0123456789ab", "id <id>"),
        ("done in 3.5 ms", "done in <number> ms"),
        ("at 3:04 PM", "at <time>"),
        ("Bake it for 20 min, see 3:16", "Bake it for 20 min, see 3:16"),
        ("22 °C", "22 °C"),
    ],
)
def test_times_uuids_and_measured_durations_vary_even_in_one_result(text: str, expected: str):
    assert template(text) == expected


def test_what_is_given_in_an_argument_does_not_vary():
    assert template("Forecast for 2026-12-25", given="2026-12-25") == "Forecast for 2026-12-25"


def test_a_text_with_little_in_common_varies_as_a_whole():
    assert template("The cat sat on the mat today", "A different sentence was made here") == "<text>"


@settings(max_examples=20)
@given(st.lists(st.text(alphabet="ab 1.:<>-", max_size=30), min_size=2, max_size=4))
def test_the_expectation_fits_every_text_that_was_compared(texts: list[str]):
    expected = template(*texts, escape=True)
    assert all(fits_text(expected, text) for text in texts)


@each_case("unit", ["1-", "1:", "1 ", "2026-11-", "a b "])
def test_a_long_text_is_compared_quickly(unit: str):
    began = time.perf_counter()
    template(unit * 8000, unit[::-1] * 8000)
    assert time.perf_counter() - began < 2
