"""Suggestions as rows."""

from tui.ui.chat.composer.completion import suggestion_rows
from tui.ui.chat.composer.suggestions import Suggestion
from tui.ui.widgets.rows import text_of, width_of


def test_suggestions_are_aligned_in_columns():
    rows = suggestion_rows([Suggestion("/a", "X", "first"), Suggestion("/longer", "", "second")])
    assert {text_of(row).index(word) for row, word in zip(rows, ("first", "second"), strict=True)} == {12}


def test_a_long_name_does_not_widen_the_column_of_the_others():
    rows = suggestion_rows([Suggestion("x" * 300, "", "about"), Suggestion("a", "", "b")])
    assert all(width_of(row) < 60 for row in rows)
