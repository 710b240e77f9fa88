"""clean() lets nothing through that a terminal would obey or an eye would miss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.text import Cleaner, clean, clean_line, preview

HOSTILE = [
    "\x1b[31mred",
    "\x1b]52;c;aGk=\x07",
    "\x1b]0;title\x1b\\",
    "\x1bPdcs\x1b\\",
    "\x9b31m",
    "\x9d0;t\x9c",
    "a\x00b\x7f",
    "bell\x07back\x08",
    "‮gnp.exe",
    "⁦x⁩",
    "zero​width",
    "tag\U000e0041\U000e007f",
    "soft\u00adhyphen",
    "\ud800 lone",
    "bom\ufeff",
    "interlinear\ufff9x",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_characters_are_made_visible(text: str):
    cleaned = clean(text)
    assert all(char.isprintable() or char in "\n\t\ufffd" for char in cleaned), ascii(cleaned)


def test_escape_is_shown_as_a_picture():
    assert clean("\x1b[2J") == "␛[2J"


def test_newlines_and_tabs_stay_and_crlf_becomes_lf():
    assert clean("a\r\nb\tc\n") == "a\nb\tc\n"


def test_a_lone_carriage_return_cannot_overwrite_the_line():
    assert clean("safe\revil") == "safe␍evil"


def test_other_line_ends_become_newlines():
    assert clean("a\u2028b\u2029c\x85d") == "a\nb\nc\nd"


def test_ordinary_text_of_any_script_is_unchanged():
    text = "naïve 北京 مرحبا עברית हिन्दी 👩\u200d💻 ❤\ufe0f e\u0301"
    assert clean(text) == text


def test_a_joiner_between_ascii_letters_is_shown():
    assert clean("pass\u200dword") == "pass\ufffdword"


@given(st.text(st.characters()))
def test_cleaned_text_can_be_encoded_and_cleaning_twice_changes_nothing(text: str):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned
    assert not any((ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0 for char in cleaned)


def test_clean_line_folds_white_space_and_cuts_with_an_ellipsis():
    assert clean_line(" a\n\tb ", 10) == "a b"
    assert clean_line("x" * 20, 10) == "x" * 9 + "…"


def test_clean_line_says_that_more_follows_even_if_the_head_is_white_space():
    assert clean_line("a" + " " * 5000 + "b", 10) == "a…"


def test_preview_is_capped_by_lines_and_by_characters_and_counts_what_it_leaves_out():
    by_lines = preview("x\n" * 500)
    assert by_lines.text.count("\n") == 199 and by_lines.omitted == 1000 - len(by_lines.text)
    by_size = preview("y" * 3_000_000)
    assert len(by_size.text) == 16 * 1024 and by_size.omitted == 3_000_000 - 16 * 1024
    assert preview("short").omitted == 0


@given(st.lists(st.text(st.sampled_from("ab\r\n\u200c\u200dé漢\u202e\x1b\ud800👩"), max_size=6), max_size=12))
def test_text_in_pieces_is_cleaned_as_the_whole_is(pieces: list[str]):
    cleaner = Cleaner()
    for _ in range(2):
        assert "".join(map(cleaner.feed, pieces)) + cleaner.end() == clean("".join(pieces))
