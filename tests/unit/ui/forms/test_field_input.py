"""A line of text with a cursor, and its visible part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.ui.forms.field_input import LineEdit

KEYS = ("left", "right", "home", "end", "ctrl+left", "ctrl+right", "backspace", "delete", "ctrl+w", "ctrl+u")


def test_words_are_deleted_one_by_one() -> None:
    edit = LineEdit.at_end("one two-three")
    edit.key("ctrl+w")
    assert edit.text == "one two-"
    edit.key("ctrl+w")
    assert edit.text == "one "


def test_a_letter_and_its_combining_accent_are_one_step() -> None:
    edit = LineEdit.at_end("ae\u0301")
    edit.key("backspace")
    assert edit.text == "a"


@given(st.text(max_size=40), st.lists(st.sampled_from(KEYS) | st.text(min_size=1, max_size=3), max_size=20))
def test_the_cursor_never_leaves_the_text(text: str, keys: list[str]) -> None:
    edit = LineEdit.at_end(text)
    for key in keys:
        if not edit.key(key):
            edit.insert(key)
        assert 0 <= edit.cursor <= len(edit.text)


@given(st.text(max_size=80), st.integers(0, 80), st.integers(3, 40))
def test_the_visible_part_fits_and_has_no_control_characters(text: str, cursor: int, cells: int) -> None:
    edit = LineEdit(text, min(cursor, len(text)))
    shown = "".join(edit.window(cells))
    assert cell_len(shown) <= cells
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)


@pytest.mark.parametrize("sign", ["👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣", "e\u0301"])
def test_a_sign_of_several_code_points_is_edited_and_shown_as_one(sign: str) -> None:
    edit = LineEdit.at_end(f"a{sign}{sign}")
    edit.key("backspace")
    assert edit.text == f"a{sign}"
    edit.key("left")
    assert edit.cursor == 1
    assert edit.window(20) == ("a", sign, "")
    edit.key("delete")
    assert edit.text == "a"
    edit = LineEdit.at_end(sign * 40)
    before, under, after = edit.window(11)
    assert (before.replace(sign, ""), under, after) == ("", " ", "")
