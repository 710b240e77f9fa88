"""clean() removes everything that a terminal would interpret or a reader would not see."""

import re
import sys
from unicodedata import combining, normalize

from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.programs import printed_by
from tui.core.text import (
    _SINGLE,
    MOST_JOINED,
    Cleaner,
    abridged,
    cells_of,
    clean,
    clean_line,
    cropped,
    fold,
    grapheme_end,
    grapheme_start,
    graphemes,
    head_of,
    preview,
    quoted_name,
    start_of,
    truncated,
    visible,
    whole_words,
    without_styling,
)

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
    "hieroglyphs\U00013430\U0001343f",
    "shorthand\U0001bca0\U0001bca3",
    "music\U0001d159\U0001d173",
    "khitan\U00016fe4",
]


@each_case("text", HOSTILE)
def test_hostile_characters_are_made_visible(text: str):
    cleaned = clean(text)
    assert all(char.isprintable() or char in "\n\t\ufffd" for char in cleaned), ascii(cleaned)


@each_case(
    ("text", "cleaned"),
    [
        ("\x1b[2J", "␛[2J"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("safe\revil", "safe␍evil"),
        ("a\u2028b\u2029c\x85d", "a\nb\nc\nd"),
        *[("naïve 北京 مرحبا עברית हिन्दी 👩\u200d💻 ❤\ufe0f e\u0301",) * 2],
    ],
)
def test_control_characters_become_symbols_line_ends_newlines_and_other_text_stays(text: str, cleaned: str):
    assert clean(text) == cleaned


NEEDED = [
    "می\u200cخواهم",  # Persian, between letters that would otherwise join
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


@each_case("text", NEEDED)
def test_joiners_are_kept_where_their_script_needs_them(text: str):
    assert clean(text) == text
    assert visible(text) == text


@each_case("text", NEEDLESS)
def test_other_joiners_are_shown_to_people_and_removed_for_models(text: str):
    assert "\ufffd" in clean(text)
    assert len(visible(text)) <= len(text)
    assert set(visible(text)).isdisjoint("\u200c\u200d")


def test_every_sign_that_joins_consonants_is_recognized():
    joining = [chr(code) for code in range(sys.maxunicode + 1) if combining(chr(code)) == 9]
    assert [ascii(sign) for sign in joining if "\ufffd" in clean(f"{sign}\u200d")] == []


READ_BY_NOBODY = [
    "tag\U000e0041\U000e007f",
    "zero\u200bwidth",
    "sepa\u2063rator",
    "so\u00adft",
    "\ufeffbom",
    "\u202egnp.exe",
    "⁦x⁩",
    "a\u200eb",
    "\u3164filler",
    "x\ufe0e\U000e0101",
    "👩\U000e0101\U000e0102",
    "a\U0001d173",
    "a\U0001bca0\U0001bca3\U00013430\U0001343f\U0001d159\U00016fe4",
    "\ufff9x\ufffa",
    "ไ\u200b\u200bท",
    "\u0430\u200b\u0432",
    "\U0001f3f4\U000e0061\U000e0062\U000e007f",
    "ا\u200e\u200f\u200e\u200f",
]
READ_BY_ALL = [
    "ไทย\u200bภาษา",  # Thai has no spaces between words
    "葛\U000e0100城 㐂\ufe00",  # a variant of a Han character
    "ᠮᠣᠩ\u180bᠭᠣᠯ",
    "☎\ufe0e ❤\ufe0f 1\ufe0f\u20e3 👨\u200d👩\u200d👧 🇩🇪 👍🏽",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "שלום\u200f (a) \u2068b\u2069, مرحبا\u061c",
    "\u115fᅡ 한국어 ᄀ\u1160",
    "漢字かなカナ, 中文。Ελληνικά, русский, हिन्दी, বাংলা, தமிழ், עברית, العربية, አማርኛ, ქართული",
    "é e\u0301 Å ﬁ ½ € “quoted” — … \u00a0\u3000 \ue0b0 \ufffd \U000f0001",
    "def f(x):\r\n\tif x < 0:\r\n\t\treturn '\\x1b[0m', \"\\u200b\"\r\n\f\n# ---\n",
    "\U00013000\U00013430\U00013001 \U0001bc00\U0001bca0\U0001bc01 \U00018b00\U00016fe4\U00018b01",
    "│├──└ ▁▂▃ ∑∫√ λ→μ ⌘⇧ ␛ �",
]


@each_case("text", READ_BY_NOBODY)
def test_text_that_is_invisible_to_people_is_removed_for_models(text: str):
    assert not re.search(
        "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
        "\U00013430-\U00013440\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
        "\U000e0000-\U000e0fff]",
        visible(text),
    )


@each_case("text", READ_BY_ALL)
def test_text_in_any_script_and_source_code_are_unchanged_for_models(text: str):
    assert visible(text) == text


SHOWN = st.characters(
    categories=("L", "N", "P", "S", "Zs", "Co"), exclude_characters="\u115f\u1160\u3164\uffa0\U0001d159"
)


@given(st.text(SHOWN))
def test_letters_digits_and_symbols_are_unchanged_for_models(text: str):
    assert visible(text) == text


def test_models_get_control_characters_as_symbols_and_line_ends_unchanged():
    assert visible("\x1b[8mx\x07\x00") == "␛[8mx␇␀"
    assert visible("\x9b31m a\x85b\u2028c\r\nd\te\ff") == "\ufffd31m a\nb\nc\r\nd\te\ff"


@given(st.text(st.characters(codec=None) | st.characters(min_codepoint=0xE0000, max_codepoint=0xE01EF)))
def test_text_for_models_is_encodable_and_has_no_control_or_tag_characters(text: str):
    seen = visible(text)
    seen.encode()
    assert not any((one < " " and one not in "\t\n\r\f") or "\x7f" <= one <= "\x9f" for one in seen)
    assert not any(0xE0000 <= ord(one) < 0xE0100 for one in seen)
    assert not any(0xE0110 <= ord(one) < 0xE1000 for one in seen)
    assert len(seen) <= len(text)


UNSEEN = "\u200b\u200c\u200d\u034f\ufe0e\ufe0f\u200e\u202e\u180b\U000e0100\U000e0041"


@given(st.text(st.sampled_from("aا👩क्☎ไ漢ᠭ\u05bc" + UNSEEN)))
def test_text_for_models_has_no_three_invisible_characters_in_a_row(text: str):
    assert not re.search(f"[{UNSEEN}]{{3}}", visible(text))


_ALPHABETS = st.sampled_from(["abyz é", "漢字", "бв", "αβ", " .,", "012"])


@given(_ALPHABETS.flatmap(lambda letters: st.text(st.sampled_from(letters + "\u200c\u200d\u034f"))))
def test_text_encoded_in_joiners_never_passes(text: str):
    hidden = set("\u200c\u200d\u034f")
    assert set(clean(text)).isdisjoint(hidden)
    assert len(clean(text)) == len(text)
    assert set(visible(text)).isdisjoint("\u200c\u200d")


@given(st.text(st.sampled_from("ا👩क्a ❤\ufe0f\u200c\u200d\u034f")))
def test_two_joiners_in_a_row_are_never_kept(text: str):
    assert not re.search("[\u200c\u200d\u034f]{2}", clean(text))


@given(st.text(st.characters()))
def test_cleaned_text_can_be_encoded_and_cleaning_twice_changes_nothing(text: str):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned
    assert not any((ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0 for char in cleaned)


def test_clean_line_collapses_white_space_and_truncates_with_an_ellipsis():
    assert clean_line(" a\n\tb ", 10) == "a b"
    assert clean_line("x" * 20, 10) == "x" * 9 + "…"
    assert clean_line("a" + " " * 5000 + "b", 10) == "a…"
    assert abridged("weather-of-the-sea", 12) == "weathe…e-sea"
    assert abridged("天气服务器的名字", 12) == "天气服…名字" and abridged("sea", 12) == "sea"


def test_a_preview_is_limited_in_lines_and_characters_and_counts_the_omitted_ones():
    by_lines = preview("x\n" * 500)
    assert by_lines.text.count("\n") == 199 and by_lines.omitted == 1000 - len(by_lines.text)
    by_size = preview("y" * 3_000_000)
    assert len(by_size.text) == 16 * 1024 and by_size.omitted == 3_000_000 - 16 * 1024
    assert preview("short").omitted == 0
    assert whole_words("one two", 7) == "one two"
    assert whole_words("one two", 6) == "one…" and whole_words("one", 2) == "…"


PIECE = st.text(st.sampled_from("ab\r\n\u200c\u200dé漢\u202e\x1b\ud800👩❤\ufe0fاक्\u034f"), max_size=6)


@given(st.lists(PIECE, max_size=12))
@example(["❤\ufe0f", "\u200d", "🔥"])
@example(["x\ufe0f", "\u200d🔥"])
@example(["ا\r", "\n", "\u200cا"])
def test_text_in_pieces_is_cleaned_like_the_whole_text(pieces: list[str]):
    cleaner = Cleaner()
    for _ in range(2):
        assert "".join(map(cleaner.feed, pieces)) + cleaner.end() == clean("".join(pieces))


def test_patterns_for_rare_texts_are_not_compiled_at_startup():
    code = (
        "import re\nmade, compiled = [], re.compile\n"
        "re.compile = lambda pattern, *more: made.append(pattern) or compiled(pattern, *more)\n"
        "import tui.core.text\nprint(sum('\\u200c' in str(one) or '\\ufe0f' in str(one) for one in made))"
    )
    assert printed_by(code) == "0"


@each_case(
    ("name", "shown"),
    [
        ("notes", "“notes”"),
        ("is safe", "“is safe”"),
        ("a”, which is safe, “b", '“a", which is safe, "b”'),
        ("a\x1b", "“a\u241b”"),
        ("", "“”"),
        ("x" * 99, "“" + "x" * 63 + "…”"),
    ],
)
def test_a_name_in_a_sentence_is_in_quotes_that_it_cannot_close(name: str, shown: str):
    assert quoted_name(name) == shown


def test_styling_is_removed_and_other_text_is_kept():
    text = "\x1b[1;31merror\x1b[0m: [0m \x1b[2K\x1b[?25lat 5 %\x1b[38:5:1m"
    assert without_styling(text) == "error: [0m at 5 %"
    assert without_styling("\x1b]0;title\x07 \x1b[") == "\x1b]0;title\x07 \x1b["


def test_no_character_of_usual_text_belongs_to_the_one_before_it():
    usual = "".join(re.findall(_SINGLE, "".join(map(chr, range(0x110000)))))
    assert {"é", "я", "漢", "가", "│"} <= set(usual)
    assert [char for char in usual if grapheme_start(f"a{char}", 1) != 1] == []
    assert list(graphemes("é漢│")) == ["é", "漢", "│"]


@each_case("sign", ["👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣", "e\u0301", "🏳️‍🌈"])
def test_a_shortened_text_does_not_end_with_half_an_emoji(sign: str):
    text = sign * 20
    assert list(graphemes(text)) == [sign] * 20
    for limit in range(2, 3 * len(sign)):
        assert start_of(text, limit).replace(sign, "") == head_of(text, limit).replace(sign, "") == ""
        for cut in (clean_line(text, limit), truncated(text, limit), cropped(text, limit)):
            assert cut.removesuffix("…").replace(sign, "") == ""
        assert abridged(text, limit).replace(sign, "") == "…"
        assert preview(text, limit).text.replace(sign, "") == ""
    for index in range(len(text)):
        start, end = grapheme_start(text, index), grapheme_end(text, index)
        assert start <= index <= end
        assert start % len(sign) == end % len(sign) == 0


@given(st.text(st.sampled_from("ab，。北é👩\u200d🚀❤\ufe0f\u0301🇫🇷"), max_size=60), st.integers(1, 30))
def test_a_text_that_is_cut_to_a_width_fits_it(text: str, cells: int):
    assert text.startswith(head_of(text, cells)) and cropped(text, 0) in ("", text)
    assert all(cells_of(cut(text, cells)) <= cells for cut in (head_of, cropped, abridged))


def test_a_text_that_is_all_one_character_does_not_vanish_where_it_is_shortened():
    marks = "e" + "\u0301" * 3000
    assert all(len(one) <= MOST_JOINED for one in graphemes(marks)) and "".join(graphemes(marks)) == marks
    assert len(clean_line(marks, 200)) == 200 and len(preview(marks, 1000).text) > 900
    assert grapheme_start(marks, 2000) <= 2000 <= grapheme_end(marks, 2000)
    assert grapheme_start(marks, MOST_JOINED - 1) == 0


SIGNS = st.sampled_from('aEsSßẞﬁKéÉ\u0301\u0323\u0345\u0308İıΐΣς각가\u1161\u11a8\u0e33天🙂\ud83d "\\')
TEXTS = st.text(st.one_of(SIGNS, st.characters(exclude_categories=[])), max_size=12)


@each_case(
    ("one", "other"),
    [("Café", "CAFE\u0301"), ("Straße", "STRASSE"), ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"), ("\u212a", "k"), ("ﬁ", "FI")],
)
def test_case_and_composition_are_ignored(one: str, other: str):
    assert fold(one) == fold(other)


def test_different_characters_fold_differently():
    assert all(fold(one) != fold(other) for one, other in ("eé", "aä", "ıi", "2²"))


@given(TEXTS)
def test_canonically_equivalent_texts_fold_to_the_same_text(text: str):
    assert fold(normalize("NFD", text)) == fold(normalize("NFC", text)) == fold(text) == fold(fold(text))
