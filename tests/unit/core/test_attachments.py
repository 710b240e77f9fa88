"""The bytes decide whether content can be attached; rejections have a reason."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.media import base64_of, image, png, wav
from tui.core.attachments import (
    MAX_BYTES,
    MAX_TEXT,
    as_sent,
    as_shown,
    attachment_of,
    attachment_of_binary,
    attachments_of,
    fenced,
    word,
)
from tui.core.context.tool_results import observation
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult

PNG = png()


@each_case(
    ("name", "raw", "mime", "text"),
    [
        ("notes.bin", "grüße\r\n".encode(), "text/plain", "grüße\r\n"),
        ("a", b"\xef\xbb\xbfhi", "text/plain", "hi"),
        ("a", "hi".encode("utf-16"), "text/plain", "hi"),
        ("a", "grüße".encode("cp1252"), "text/plain", "grüße"),
        ("a.MD", b"# hi", "text/markdown", "# hi"),
        ("a.py", b"x = 1", "text/plain", "x = 1"),
    ],
)
def test_text_in_any_encoding_is_attached_with_the_type_of_its_name(name, raw, mime, text):
    found = attachment_of(name, raw)
    assert (found.kind, found.mime, found.data, found.size) == ("text", mime, text, len(text.encode()))


def test_images_and_audio_are_sent_as_base64():
    found = attachment_of("chart", PNG)
    assert (found.kind, found.mime) == ("image", "image/png")
    assert base64.b64decode(found.data) == PNG
    assert attachment_of("a", wav()).kind == "audio"


@each_case(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\x7fELF\0\1\2", "unsupported type application/x-executable: only text, images and audio"),
        (b"%PDF-1.7 text", "unsupported type application/pdf"),
        (b"OggS\0\1\2", "unsupported type audio/ogg$"),
        (b"\0\1\2", "^unsupported type: only text"),
        (PNG[:20], "the image is damaged"),
        (PNG[:-8], "the image is damaged"),
        (png(9000, 1), "wider or higher than 8,000 pixels"),
        (b"a" * (MAX_TEXT + 1), "larger than 256 KiB"),
        (PNG + b"\0" * MAX_BYTES, "larger than 10 MiB"),
        (b"\xff\xfe\xff", "^unsupported type: only text"),
    ],
)
def test_content_that_cannot_be_attached_is_rejected_with_the_reason(data, words):
    with pytest.raises(ValueError, match=words):
        attachment_of("x", data)


# ---- content from servers


def test_each_content_of_a_resource_becomes_an_attachment():
    found = attachments_of(
        [
            ResourceContent("a://1", "text/html", "<p>"),
            TextContent("plain"),
            BinaryContent("blob", "image/png", 9, base64_of(png())),
            BinaryContent("blob", "text/csv", 3, base64_of(b"a,b")),
            LinkContent("a://2"),
        ],
        "page",
    )
    assert [(one.kind, one.mime, one.name) for one in found] == [
        ("text", "text/html", "page"),
        ("text", "text/plain", "page"),
        ("image", "image/png", "page"),
        ("text", "text/plain", "page"),
    ]


def test_the_type_of_an_image_from_a_server_is_detected_from_its_bytes():
    found = attachment_of_binary("shot", image(mime="image/x-evil"))
    assert (found.kind, found.mime, found.name) == ("image", "image/png", "shot")


def test_invisible_characters_are_not_sent_to_the_model():
    assert attachments_of([ResourceContent("", "", "hi\U000e0041\ud800")], "x")[0].data == "hi?"


@given(st.binary(max_size=200), st.text(max_size=10))
def test_any_bytes_are_attached_or_rejected(data, name):
    try:
        found = attachment_of(name, data)
    except ValueError as error:
        assert str(error)
    else:
        assert found.name == name and found.data


def test_the_displayed_text_omits_that_an_image_is_attached_below():
    told = "Here:\n[image 1: image/png 20x20, attached below]\nattached below] is left alone"
    assert as_shown(told) == "Here:\n[image 1: image/png 20x20]\nattached below] is left alone"


@given(st.text(alphabet="`a\n", max_size=40))
def test_no_text_closes_its_fence(text):
    fence, *body = fenced(text).split("\n")
    assert body[-1] == fence and all(fence not in line for line in body[:-1])


def test_the_text_has_a_note_if_an_image_is_not_sent():
    seen = observation(ToolResult((image(), image())), lambda text: 1000)
    text = as_sent(seen.text, seen.attachments, ["not sent", ""])
    assert text == "[image 1: image/png 3x2, not sent]\n[image 2: image/png 3x2, attached below]"


@given(st.text(st.characters(codec=None), max_size=80))
def test_a_word_cannot_close_the_brackets_around_it(text):
    assert not set(word(text, 40)) & set("[]\n\r\x1b") and len(word(text, 40)) <= 40
