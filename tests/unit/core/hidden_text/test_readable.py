"""Hidden text, decoded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.hidden_text import readable as module
from tui.core.hidden_text.readable import readable, readable_line
from tui.core.text import clean


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def selectors(text: str) -> str:
    return "".join(chr(0xE0100 + byte - 16) for byte in text.encode())


@pytest.mark.parametrize(
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


def test_a_repeated_run_is_decoded_once(monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []
    monkeypatch.setattr(module, "in_numbers", lambda text, start, end: read.append(start) or "[…]")
    assert readable("a\u200d" * 1000) == "a[…]" * 1000
    assert len(read) == 1


def test_a_line_is_shortened_to_its_limit():
    assert readable_line(f"Adds.\n{tags('read')}", 60) == "Adds. [tag: read]"
    assert len(readable_line("\u200b\u200c\u200d\u2060\u2061a" * 99, 60)) == 60


@given(st.text(st.characters() | st.sampled_from("\u200b\u200d\ufe0f\ufe00\U000e0041\U0001f3f4\u2028\r\n ")))
def test_the_decoded_text_is_safe_to_show(text: str):
    assert clean(readable(text)) == readable(text)
