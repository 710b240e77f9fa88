"""The form of a row: which numbers it finds, and for which answers it counts."""

import pytest

from tui.model.endpoints.refusal_rows import DECIDED, TOLD, Do, Refusal, named, parameter

WINDOW = Refusal("x", "conversation", Do.SHORTEN, r"context is <window> tokens")


@pytest.mark.parametrize(
    ("words", "number"), [("8192", "8192"), ("131,072", "131,072"), ("1_000_000", "1_000_000")]
)
def test_a_marker_finds_a_number_of_tokens_in_any_spelling(words: str, number: str) -> None:
    found = WINDOW.search(f"The CONTEXT is {words} tokens")
    assert found is not None and found["window"] == number


def test_a_row_that_changes_the_request_counts_only_if_its_part_was_sent() -> None:
    row = Refusal("x", "stop", Do.OMIT, "stop")
    assert row.is_learned
    assert row.counts_for(400, ["stop"]) and row.counts_for(400, None)
    assert not row.counts_for(400, ["temperature"]) and not row.counts_for(401, ["stop"])


@pytest.mark.parametrize("do", sorted(DECIDED | TOLD))
def test_a_row_that_is_decided_or_told_counts_for_every_answer(do: Do) -> None:
    assert Refusal("x", "any", do, "x").counts_for(418, ())


@pytest.mark.parametrize("words", ["thinkingBudget is not supported", "unknown field: thinking_budget"])
def test_a_parameter_is_found_in_either_order_and_in_camel_case(words: str) -> None:
    assert Refusal("x", "thinking_budget", Do.OMIT, parameter("thinking_budget")).search(words)


def test_a_name_without_words_of_refusal_is_not_found() -> None:
    assert not Refusal("x", "tools", Do.TEXT_TOOLS, named("tools")).search("tools are great")
