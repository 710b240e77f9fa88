"""Painted rows have the right width."""

import pytest
from rich.segment import Segment
from rich.style import Style

from tui.ui.platform.strips import padded, row_of

PLAIN = Style()


@pytest.mark.parametrize(
    ("text", "shown"), [("ab", "ab  "), ("日本", "日本"), ("日本語", "日本"), ("a日本", "a日 ")]
)
def test_a_row_is_padded_or_cropped_to_its_width(text: str, shown: str) -> None:
    strip = row_of([Segment(text, PLAIN)], 4, PLAIN)
    assert (strip.text, strip.cell_length) == (shown, 4)


def test_a_row_is_shifted_within_its_width() -> None:
    strip = row_of([Segment("abcd", PLAIN)], 4, PLAIN)
    assert padded(strip, 0, 4, PLAIN) is strip
    assert padded(strip, 2, 5, PLAIN).text == "  abc"
