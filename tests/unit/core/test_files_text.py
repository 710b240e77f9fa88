"""The encoding of a file that the user wrote."""

import pytest

from tui.core.files import NotText, text_of
from tui.core.text import encoding_of

JSON = '{"mcpServers": {"a": {"command": "x"}}}'


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_a_text_in_utf_16_or_32_is_named_with_and_without_a_mark(codec: str):
    raw = JSON.encode(codec)
    assert encoding_of(raw) == codec[:6].upper()
    with pytest.raises(NotText, match=rf"is {codec[:6].upper()} text, not UTF-8. Save it as UTF-8"):
        text_of(raw)


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"a", JSON.encode(), "\ufeffé".encode(), b"a\0b" * 100, b"\0" * 2, b"\0" * 200, b"\xff"),
        b"SQLite format 3\0\x10\0\1\1\0\x40\x20\x20\0\0\0\3\0\0\0\2" + b"\0" * 72,
        b"\x7fELF\2\1\1" + b"\0" * 9 + b"\3\0\x3e\0\1\0\0\0" + b"\0" * 40,
    ],
)
def test_any_other_content_is_neither(raw: bytes):
    assert encoding_of(raw) == ""


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"a\n\0", "is not text: null byte in line 2"),
        (b"a\n\n\xe9", "is not UTF-8 text: byte 0xe9 in line 3"),
    ],
)
def test_other_faults_are_named_with_their_line(raw: bytes, why: str):
    with pytest.raises(NotText, match=why):
        text_of(raw)


def test_a_byte_order_mark_of_utf_8_is_removed():
    assert text_of("\ufeffé\r\n".encode()) == "é\r\n"
