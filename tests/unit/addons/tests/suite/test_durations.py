"""Durations such as "800ms"."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.suite.durations import duration_text, milliseconds


@each_case(("text", "ms"), [("800ms", 800), ("2s", 2000), ("1.5 s", 1500), ("1m", 60_000), (" 3ms ", 3)])
def test_a_duration_is_a_number_with_a_unit(text: str, ms: float):
    assert milliseconds(text) == ms


@each_case("text", ["", "5", "5 hours", "-1s", "0s", "1e3ms", "٣ms", "9999999m", "s"])
def test_other_texts_are_not_durations(text: str):
    assert milliseconds(text) is None


@settings(max_examples=20)
@given(st.integers(1, 86_400_000) | st.floats(0.001, 1000).map(lambda ms: round(ms, 3)))
def test_a_written_duration_is_read_as_the_same(ms: float):
    assert milliseconds(duration_text(ms)) == pytest.approx(ms)


def test_a_duration_is_written_in_its_largest_unit():
    assert [duration_text(ms) for ms in (800, 2000, 120_000, 1500)] == ["800ms", "2s", "2m", "1500ms"]
