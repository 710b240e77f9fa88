"""Copying restores text as it was before wrapping."""

from hypothesis import given
from hypothesis import strategies as st

from tui.ui.widgets.code import highlighted, panel
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import Row, copied, wrap


def whole(rows: list[Row]) -> str:
    return copied((row, 0, -1) for row in rows)


def test_a_wrapped_line_is_copied_as_one_line():
    assert whole(wrap((("the quick brown fox", "text"),), 10)) == "the quick brown fox"


def test_a_broken_word_is_copied_as_one_word():
    assert whole(wrap((("incomprehensibilities", "text"),), 8)) == "incomprehensibilities"


def test_separate_lines_stay_separate():
    assert whole([(("one", "text"),), (("two", "text"),)]) == "one\ntwo"


def test_the_indent_of_a_wrapped_line_is_not_copied():
    assert whole(wrap((("one two three", "text"),), 9, first=(("• ", "dim"),))) == "• one two three"


def test_code_is_copied_without_edge_and_padding():
    lines = ["def f():", "    return 'a value that is long enough to be wrapped'"]

    assert whole(panel(highlighted(lines, "python"), 24)) == "\n".join(lines)


def test_the_bar_of_a_quote_is_not_copied():
    assert (
        whole(Markdown().rows("> one two three four five six seven", 20))
        == "one two three four five six seven"
    )


def test_a_selection_can_start_and_end_within_rows():
    rows = wrap((("the quick brown fox", "text"),), 10)

    assert copied([(rows[0], 4, -1), (rows[1], 0, 5)]) == "quick brown"


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=12), st.integers(2, 20))
def test_copying_restores_any_wrapped_words(words: list[str], cells: int):
    text = " ".join(words)

    assert whole(wrap(((text, "text"),), cells)) == text
