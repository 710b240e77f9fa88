"""What varies in a text: compared with other results, or by what it looks like."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.addons.tests.keep.texts import template
from tui.core.comparison.placeholders import fits_text


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("unit", ["1-", "1:", "1 ", "2026-11-", "a b "])
def test_a_long_text_is_compared_quickly(unit: str):
    began = time.perf_counter()
    template(unit * 8000, unit[::-1] * 8000)
    assert time.perf_counter() - began < 2
