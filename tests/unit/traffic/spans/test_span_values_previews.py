"""Previews of arguments and results in the trace."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from tui.core.text import VALUE_CHARS, compact
from tui.traffic.spans.span_values import MAX_ARGUMENTS, argument_lines, result_preview

_plain = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | _plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_plain, inner, max_size=3),
    max_leaves=8,
)


@given(_json)
def test_a_small_value_is_shown_as_json(value: object) -> None:
    assert json.loads(compact(value, 100_000)) == value


@given(
    st.recursive(st.floats() | st.text(), lambda inner: st.lists(inner), max_leaves=50), st.integers(2, 60)
)
def test_a_preview_is_one_line_within_its_limit(value: object, limit: int) -> None:
    text = compact(value, limit)
    assert len(text) <= limit
    assert "\n" not in text


def test_a_circular_value_is_truncated() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert compact(loop) == "[" * 12 + "…" + "]" * 12


def test_the_cost_of_a_preview_does_not_grow_with_the_value() -> None:
    huge = {"text": "x" * 50_000_000, "list": list(range(1_000_000)), "number": 1 << 10_000_000}
    began = time.process_time()
    lines = argument_lines(huge)
    assert time.process_time() - began < 1
    assert all(len(text) <= VALUE_CHARS for _, text in lines)
    assert lines[2] == ("number", "…")


def test_escape_sequences_are_shown_as_symbols() -> None:
    assert argument_lines({"na\x1b[2Jme": "\x1b]52;c;eA==\x07"}) == (("na␛[2Jme", '"␛]52;c;eA==␇"'),)


def test_more_arguments_than_fit_are_counted() -> None:
    lines = argument_lines({str(number): number for number in range(MAX_ARGUMENTS + 12)})
    assert lines[-1] == ("…", "12 more")


def test_the_preview_of_a_result_is_a_few_lines() -> None:
    head = result_preview("\n".join(str(number) for number in range(1000)))
    assert head.text.count("\n") < 24
    assert head.omitted > 0
