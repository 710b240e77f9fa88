"""The lines above the composer."""

from tui.ui.chat.composer.completion import suggestion_rows
from tui.ui.chat.composer.history import earlier_rows
from tui.ui.chat.composer.suggestions import Suggestion
from tui.ui.chat.turn_queue import held_rows
from tui.ui.widgets.rows import text_of, width_of


def test_suggestions_stand_in_columns():
    rows = suggestion_rows([Suggestion("/a", "X", "first"), Suggestion("/longer", "", "second")])
    assert {text_of(row).index(word) for row, word in zip(rows, ("first", "second"), strict=True)} == {12}


def test_a_long_name_does_not_push_the_others_away():
    rows = suggestion_rows([Suggestion("x" * 300, "", "about"), Suggestion("a", "", "b")])
    assert all(width_of(row) < 60 for row in rows)


def test_what_was_looked_for_is_lit():
    (row,) = earlier_rows(["buy MILK\nnow"], "milk")
    assert ("MILK", "accent bold") in row and text_of(row) == "   buy MILK now"


def test_what_cannot_be_lit_is_shown_all_the_same():
    assert text_of(earlier_rows(["a\nb"], "a\nb")[0]) == "   a b"
    assert "\x1b" not in text_of(earlier_rows(["a\x1b[31m"], "")[0])


def test_what_waits_is_counted_and_the_last_is_shown():
    (told, sent) = held_rows(["one", "two"], ["now"])
    assert text_of(told) == " 1 message will be told at the next step   now"
    assert text_of(sent) == " 2 messages will be sent next   two"
    assert held_rows([], []) == []
