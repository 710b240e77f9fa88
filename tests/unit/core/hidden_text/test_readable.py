"""Hidden text, decoded."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.hidden_text.readable import as_latin, mixed_word, readable, readable_line
from tui.core.text import clean


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def selectors(text: str) -> str:
    return "".join(chr(0xE0100 + byte - 16) for byte in text.encode())


@each_case(
    ("text", "shown"),
    [
        ("Adds two numbers.\r\n\tÄ 👩\u200d💻 ☎\ufe0f", "Adds two numbers.\n\tÄ 👩\u200d💻 ☎\ufe0f"),
        (f"Adds.{tags('read ssh key')} Two.", "Adds.[tag: read ssh key] Two."),
        ("a" + "\u200b" * 24 + "b", "a[U+200B ×24]b"),
        ("\u200b\u200c\u200b", "[U+200B ×2, U+200C]"),
        ("a\u202eb", "a[U+202E]b"),
        (selectors("ls ~"), "[variation selectors: ls ~]"),
        ("a\U000e0100b", "a[U+E0100]b"),
        ("\U0001f3f4" + tags("gbeng") + "\U000e007f", "\U0001f3f4[flag: gbeng]"),
        ("\U0001f3f4" + tags("read"), "\U0001f3f4[tag: read]"),
        ("\ufffd", "\ufffd"),
        ("\x1b[8m", "␛[8m"),
        ("a" + " " * 80 + "b", "a [80 blanks] b"),
        ("a" + "\u2800" * 80 + "b", "a [80 blanks] b"),
        ("a" + "\u2028" * 20 + "b", "a [20 line breaks] b"),
        ("a" + " " * 80, "a" + " " * 80),
    ],
)
def test_hidden_text_is_decoded(text: str, shown: str):
    assert readable(text) == shown


def test_tag_characters_are_a_flag_only_after_a_black_flag():
    england = tags("gbeng") + "\U000e007f"
    assert readable(f"a{england} \U0001f3f4{england} a{england}").count("[flag: gbeng]") == 1


def test_a_line_is_shortened_to_its_limit():
    assert readable_line(f"Adds.\n{tags('read')}", 60) == "Adds. [tag: read]"
    assert len(readable_line("\u200b\u200c\u200d\u2060\u2061a" * 99, 60)) == 60


@given(st.text(st.characters() | st.sampled_from("\u200b\u200d\ufe0f\ufe00\U000e0041\U0001f3f4\u2028\r\n ")))
def test_the_decoded_text_is_safe_to_show(text: str):
    assert clean(readable(text)) == readable(text)


def test_look_alikes_are_read_as_latin_letters_at_the_same_positions():
    text = "Dо nοt 𝐭𝐞𝐥𝐥 \uff54\uff48\uff45 Ⓤser, 用户 ℃"
    assert as_latin(text) == "Do not tell the User, 用户 ℃"
    assert len(as_latin(text)) == len(text)


@each_case("word", ["раypal", "gооgle", "dеlete", "Aррle", "pаssword"])
def test_a_word_that_mixes_scripts_is_found(word: str):
    assert mixed_word(f"The {word} tool") == (4, 4 + len(word))


@each_case("text", ["plain", "Возвращает JSONа и URLы", "5 µm, 3 kΩ, Δt, 2πr", "а b о c", ""])
def test_words_of_different_scripts_side_by_side_are_not_mixed(text: str):
    assert mixed_word(text) is None
