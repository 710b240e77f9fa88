"""What a result holds besides its text, in words."""

import base64
import struct

import pytest

from tui.core.conversation.conversation import Attachment, ToolMessage
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult
from tui.ui.chat.transcript.result_parts import attachment_words, pieces_of, result_of

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + bytes(40)
).decode()


def test_text_alone_has_no_pieces():
    assert pieces_of(ToolResult((TextContent("hello"),))) == ()


def test_a_picture_says_what_it_is_by_its_own_bytes_and_how_large():
    told = pieces_of(ToolResult((BinaryContent("image", "image/x-other", 34_000, PNG),)))
    assert told == ("PNG image, 640 × 480, 34 kB",)


def test_bytes_that_nobody_knows_say_what_was_said_of_them():
    told = pieces_of(ToolResult((BinaryContent("blob", "application/x-odd", 12, "AAAA", "file:///a"),)))
    assert told == ("blob, application/x-odd, 12 B   file:///a",)


def test_broken_base64_of_any_size_is_no_matter():
    told = pieces_of(ToolResult((BinaryContent("image", "image/png", 5, "###" * 10_000),)))
    assert told == ("PNG image, image/png, 5 B",)


def test_links_and_resources_name_where_they_are():
    result = ToolResult(
        (
            LinkContent("https://example.org/a", "report"),
            ResourceContent("file:///notes", "text/plain", "milk"),
        )
    )
    assert pieces_of(result) == (
        "link   report  https://example.org/a",
        "resource   file:///notes  text/plain, 4 B",
    )


def test_names_from_servers_are_cleaned():
    (told,) = pieces_of(ToolResult((LinkContent("u\x1b[2J", "n\n\n"),)))
    assert "\x1b" not in told and "\n" not in told


def test_an_attachment_is_its_name_and_what_it_is():
    assert attachment_words(Attachment("text", "text/markdown", "README.md", 2048)) == (
        "README.md   text/markdown, 2.0 kB"
    )
    assert attachment_words(Attachment("image", "image/png", "a.png", 9, PNG)) == (
        "a.png   PNG image, 640 × 480, 9 B"
    )


def test_what_was_told_of_a_call_becomes_its_result_again_the_whole_text_if_it_is_kept():
    picture = Attachment("image", "image/png", "a.png", 9, PNG)
    told = ToolMessage("c", "s__t", "head … tail", attachments=(picture,), kept="result-1")
    assert result_of(told, "all of it") == ToolResult(
        (TextContent("all of it"), BinaryContent("image", "image/png", 9, PNG, "a.png"))
    )
    assert result_of(told).content[0] == TextContent("head … tail")


@pytest.mark.parametrize(
    ("why", "is_error"), [("", True), ("timeout", True), ("cancelled", False), ("not run", False)]
)
def test_what_mcptui_says_of_a_call_is_no_error_of_its_tool(why: str, is_error: bool):
    assert result_of(ToolMessage("c", "t", "cancelled by the user", True, why=why)).is_error is is_error
