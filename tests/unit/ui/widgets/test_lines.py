"""Painting rows."""

import pytest
from rich.style import Style

from tui.ui.widgets.lines import painted
from tui.ui.widgets.theme_colors import Palette

PLAIN = Style()


@pytest.mark.parametrize(("text", "shown"), [("abc", "abc  "), ("abcde", "abcde"), ("abcdefg", "abcde")])
def test_a_painted_row_is_as_wide_as_the_pane(text: str, shown: str) -> None:
    strip = painted(((text, "bold"),), 5, Palette.of({}), PLAIN)
    assert (strip.text, strip.cell_length) == (shown, 5)


def test_a_painted_row_contains_no_controls() -> None:
    strip = painted((("a\x1b[31m\nb\t\x9bc", ""),), 20, Palette.of({}), PLAIN)
    assert strip.text.isprintable()
