"""`${NAME}` in requests and expectations."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.suite.read import suite_of
from tui.addons.tests.suite.references import (
    NotSaved,
    expected_with_saved,
    with_needed,
    with_saved,
    without_references,
)
from tui.core.comparison.placeholders import fits, fits_text
from tui.settings.references import names_in


def test_a_saved_value_is_filled_into_texts():
    assert with_saved({"a": ["order ${id}"]}, {"id": 7}) == {"a": ["order 7"]}


def test_a_text_that_is_one_reference_becomes_the_value_with_its_type():
    assert with_saved({"a": "${id}"}, {"id": {"b": [1]}}) == {"a": {"b": [1]}}


def test_an_escaped_reference_is_literal():
    assert with_saved("$${id}", {"id": 7}) == "${id}"


def test_a_value_that_was_not_saved_is_an_error():
    with pytest.raises(NotSaved, match=r"no value of \$\{id\} was saved"):
        with_saved("a ${id}", {})


@settings(max_examples=20)
@given(
    st.text(alphabet="<>anytextid$", max_size=8), st.sampled_from(["${x}", "<${x}>", "${x}<id>", "a${x}<"])
)
def test_a_saved_value_in_an_expectation_never_becomes_a_placeholder(value: str, expected: str):
    filled = expected_with_saved(expected, {"x": value})
    text = expected.replace("<id>", "1").replace("${x}", value)
    assert fits_text(filled, text)
    assert not fits_text(filled, f"{text} ")


def test_a_saved_number_is_expected_as_a_number():
    assert expected_with_saved({"id": "${id}"}, {"id": 7}) == {"id": 7}


def test_a_saved_value_in_a_pattern_is_literal():
    assert fits(expected_with_saved("<re:[a-z]+-${id}>", {"id": "a.>b"}), "x-a.>b")
    assert not fits(expected_with_saved("<re:[a-z]+-${id}>", {"id": "a.>b"}), "x-aa>b")


def test_names_are_found_with_their_defaults():
    assert names_in("a ${B} ${C:-d} $${E}") == (("B", "C"), False)


def test_a_reference_without_a_name_is_broken():
    assert names_in("${1}") == ((), True)


@settings(max_examples=20)
@given(st.text(alphabet="${}ab", max_size=12))
def test_a_text_without_references_is_filled_in_unchanged(text: str):
    assert with_saved([without_references(text)], {"a": "x"}) == [text]


SAVERS = suite_of(
    """
[[call]]
name = "order"
tool = "order"
save = { id = "$.id" }
[[call]]
name = "count"
tool = "count"
[[call]]
name = "customer"
tool = "get"
args = { id = "${id}" }
save = { customer = "$.id" }
[[call]]
name = "paid later"
tool = "count"
then = [ { tool = "pay", args = { by = "${customer}" } } ]
[[call]]
name = "image"
tool = "draw"
content = [ { type = "image", uri = "note:${id}" } ]
[[call]]
name = "order again"
tool = "order"
save = { id = "$.id" }
then = [ { tool = "get", args = { id = "${id}" } } ]
[[call]]
name = "not ready"
tool = "get"
args = { id = "${id}" }
skip = "later"
""",
    Path("x.mcp.toml"),
).cases


@each_case(
    ("chosen", "run"),
    [
        (["count"], ["count"]),
        (["customer"], ["order", "customer"]),
        (["paid later"], ["order", "customer", "paid later"]),
        (["image"], ["order", "image"]),
        (["order again"], ["order again"]),
        (["not ready"], ["not ready"]),
        (["order", "image", "count"], ["order", "count", "image"]),
    ],
)
def test_cases_run_after_those_that_save_what_they_use(chosen: list[str], run: list[str]):
    wanted = [one for one in SAVERS if one.name in chosen]
    assert [one.name for one in with_needed(SAVERS, wanted)] == run


def test_a_case_that_is_skipped_saves_nothing():
    skipped = [replace(one, skip="later") if one.name == "order" else one for one in SAVERS]
    assert [one.name for one in with_needed(skipped, skipped[2:3])] == ["customer"]
