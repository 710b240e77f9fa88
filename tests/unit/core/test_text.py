"""clean() lets nothing through that a terminal would obey or an eye would miss."""

import re
import sys
from unicodedata import combining

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.programs import printed_by
from tui.core.text import Cleaner, clean, clean_line, preview, visible, whole_words

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


NEEDED = [
    "می\u200cخواهم",  # Persian, between letters that would join
    "ه\u200d",  # Arabic, a letter alone in the form that it has in a word
    "क्\u200cष क्\u200dष",  # Devanagari, after the sign that joins
    "র\u200d্য",  # Bengali, before it
    "ക്\u200d",  # Malayalam, at the end of a word
    "ක්\u200dරි",  # Sinhala
    "👩\u200d💻 👨🏽\u200d💻 👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈",
    "1\ufe0f\u20e3 ☎\ufe0f ©\ufe0f",
    "שָׁ\u034fב",
]
NEEDLESS = [
    "pass\u200dword",
    "pass\u200cword",
    "é\u200dé",
    "漢\u200d字",
    "👩\u200dx",
    "👩\u200c👩",
    "👩\u200d",
    "ا\u200c",
    "ا\u200d\u200dا",
    "ا\u200c\u200cا",
    "क\u200dक",
    "क्\u200d\u200dष",
    "a\u034fb",
    "é\ufe0f",
    "👩\ufe0f\ufe0f",
    "ក\u17b5",
]


@pytest.mark.parametrize("text", NEEDED)
def test_joiners_stay_where_their_script_needs_them(text: str):
    assert clean(text) == text
    assert visible(text) == text


@pytest.mark.parametrize("text", NEEDLESS)
def test_a_joiner_elsewhere_is_shown_and_no_model_reads_it(text: str):
    assert "\ufffd" in clean(text)
    assert len(visible(text)) <= len(text)
    assert set(visible(text)).isdisjoint("\u200c\u200d")


def test_every_sign_that_joins_consonants_is_known():
    joining = [chr(code) for code in range(sys.maxunicode + 1) if combining(chr(code)) == 9]
    assert [ascii(sign) for sign in joining if "\ufffd" in clean(f"{sign}\u200d")] == []


_ALPHABETS = st.sampled_from(["abyz é", "漢字", "бв", "αβ", " .,", "012"])


@given(_ALPHABETS.flatmap(lambda letters: st.text(st.sampled_from(letters + "\u200c\u200d\u034f"))))
def test_bits_written_in_joiners_never_pass(text: str):
    hidden = set("\u200c\u200d\u034f")
    assert set(clean(text)).isdisjoint(hidden)
    assert len(clean(text)) == len(text)
    assert set(visible(text)).isdisjoint("\u200c\u200d")


@given(st.text(st.sampled_from("ا👩क्a ❤\ufe0f\u200c\u200d\u034f")))
def test_no_two_joiners_stay_in_a_row(text: str):
    assert not re.search("[\u200c\u200d\u034f]{2}", clean(text))


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


@given(
    st.lists(
        st.text(st.sampled_from("ab\r\n\u200c\u200dé漢\u202e\x1b\ud800👩❤\ufe0fاक्\u034f"), max_size=6),
        max_size=12,
    )
)
@example(["❤\ufe0f", "\u200d", "🔥"])
@example(["x\ufe0f", "\u200d🔥"])
@example(["ا\r", "\n", "\u200cا"])
def test_text_in_pieces_is_cleaned_as_the_whole_is(pieces: list[str]):
    cleaner = Cleaner()
    for _ in range(2):
        assert "".join(map(cleaner.feed, pieces)) + cleaner.end() == clean("".join(pieces))


def test_a_text_is_cut_between_words():
    assert whole_words("one two", 7) == "one two"
    assert whole_words("one two", 6) == "one…" and whole_words("one", 2) == "…"


def test_patterns_for_rare_texts_are_not_compiled_at_the_start():
    code = (
        "import re\nmade, compiled = [], re.compile\n"
        "re.compile = lambda pattern, *more: made.append(pattern) or compiled(pattern, *more)\n"
        "import tui.core.text\nprint(sum('\\u200c' in str(one) or '\\ufe0f' in str(one) for one in made))"
    )
    assert printed_by(code) == "0"
