"""Copying restores text as it was before wrapping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.ui.widgets.code import highlighted, panel
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import Row, copied, wrap


def whole(rows: list[Row]) -> str:
    return copied((row, 0, -1) for row in rows)


CODE = ["def f():", "    return 'a value that is long enough to be wrapped'"]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (wrap((("incomprehensibilities", "text"),), 8), "incomprehensibilities"),
        (wrap((("one two three", "text"),), 9, first=(("• ", "dim"),)), "• one two three"),
        ([(("one", "text"),), (("two", "text"),)], "one\ntwo"),
        (panel(highlighted(CODE, "python"), 24), "\n".join(CODE)),
        (Markdown().rows("> one two three four five six seven", 20), "one two three four five six seven"),
    ],
)
def test_neither_breaks_nor_ornaments_are_copied(rows: list[Row], text: str):
    assert whole(rows) == text


def test_a_selection_can_start_and_end_within_rows():
    rows = wrap((("the quick brown fox", "text"),), 10)

    assert copied([(rows[0], 4, -1), (rows[1], 0, 5)]) == "quick brown"


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=12), st.integers(2, 20))
def test_copying_restores_any_wrapped_words(words: list[str], cells: int):
    text = " ".join(words)

    assert whole(wrap(((text, "text"),), cells)) == text
