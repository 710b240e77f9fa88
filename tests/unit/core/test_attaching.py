"""What can go with a message is told by its bytes, and what cannot is refused with a sentence."""

import base64

import pytest

from tui.core.attaching import MAX_BYTES, MAX_TEXT, attachment_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (7).to_bytes(4, "big") + (5).to_bytes(4, "big")


def test_a_text_is_told_as_text_whatever_it_is_called():
    found = attachment_of("notes.bin", "grüße\r\n".encode())
    assert (found.kind, found.mime, found.data, found.size) == ("text", "text/plain", "grüße\r\n", 9)


def test_a_byte_order_mark_is_no_part_of_a_text():
    assert attachment_of("a", b"\xef\xbb\xbfhi").data == "hi"
    assert attachment_of("a", "hi".encode("utf-16")).data == "hi"


def test_a_picture_is_sent_as_base64():
    found = attachment_of("chart", PNG)
    assert (found.kind, found.mime) == ("image", "image/png")
    assert base64.b64decode(found.data) == PNG


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\x7fELF\0\1\2", "neither text nor"),
        (b"a" * (MAX_TEXT + 1), "larger than 256 KiB"),
        (PNG + b"\0" * MAX_BYTES, "larger than 10 MiB"),
        (b"\xff\xfe\xff", "neither"),
    ],
)
def test_what_cannot_be_attached_is_refused_with_the_reason(data, words):
    with pytest.raises(ValueError, match=words):
        attachment_of("x", data)
