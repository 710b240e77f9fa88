"""Hidden characters are shown as code points."""

import pytest

from tui.core.permission.launch import has_hidden, spelled


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("uvx mcp-server-time==1.2.3", "uvx mcp-server-time==1.2.3"),
        ("a\u200bb", "a[U+200B]b"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\u200b\u200b\u2063", "a[U+200B ×2, U+2063]"),
        ("a\U000e0001", "a[U+E0001]"),
        ("a\nb\tc", "a[U+000A]b[U+0009]c"),
        ("a\x1b[2K", "a[U+001B][2K"),
        ("a\u00a0b", "a[U+00A0]b"),
        ("a\U000e0041", "a[tag: A]"),
        ("a\ud800", "a[U+D800]"),
        ("a\u034f\U0001bca0", "a[U+034F, U+1BCA0]"),
        ("a\U00016fe4\U0001d159", "a[U+16FE4, U+1D159]"),
        ("北京 à", "北京 à"),
        ("a" + " " * 40 + "b", "a[40 blanks]b"),
    ],
)
def test_invisible_characters_are_shown_as_code_points(text: str, shown: str):
    assert spelled(text) == shown


def test_ordinary_text_has_no_hidden_characters():
    assert not has_hidden("npx -y café 北京")
    assert has_hidden("npx\u2063")
