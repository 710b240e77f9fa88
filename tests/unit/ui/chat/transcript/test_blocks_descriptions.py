"""Descriptions of the content of a result other than text."""

import pytest

from tests.media import base64_of, png
from tui.core.conversation.conversation import Attachment, ToolMessage
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult
from tui.ui.chat.transcript.blocks import attachment_words, pieces_of, result_of

PNG = base64_of(png(640, 480))


def pieces(result: ToolResult) -> tuple[str, ...]:
    return tuple(pieces_of(result))


def test_a_result_with_text_only_has_no_pieces():
    assert pieces(ToolResult((TextContent("hello"),))) == ()


def test_an_image_is_described_by_the_format_in_its_bytes_and_its_size():
    told = pieces(ToolResult((BinaryContent("image", "image/x-other", 34_000, PNG),)))
    assert told == ("PNG image, 640 × 480, 34 kB",)


def test_bytes_of_an_unknown_format_are_described_by_their_mime_type():
    told = pieces(ToolResult((BinaryContent("blob", "application/x-odd", 12, "AAAA", "file:///a"),)))
    assert told == ("blob, application/x-odd, 12 B   file:///a",)


def test_broken_base64_is_described_without_an_error():
    told = pieces(ToolResult((BinaryContent("image", "image/png", 5, "###" * 10_000),)))
    assert told == ("image, image/png, 5 B",)


def test_links_and_resources_show_their_uris():
    result = ToolResult(
        (
            LinkContent("https://example.org/a", "report"),
            ResourceContent("file:///notes", "text/plain", "milk"),
        )
    )
    assert pieces(result) == (
        "link   report  https://example.org/a",
        "resource   file:///notes  text/plain, 4 B",
    )


def test_names_from_servers_are_cleaned():
    (told,) = pieces(ToolResult((LinkContent("u\x1b[2J", "n\n\n"),)))
    assert "\x1b" not in told and "\n" not in told


def test_an_attachment_is_described_by_name_format_and_size():
    assert attachment_words(Attachment("text", "text/markdown", "README.md", 2048)) == (
        "README.md   text/markdown, 2.0 kB"
    )
    assert attachment_words(Attachment("image", "image/png", "a.png", 9, PNG)) == (
        "a.png   PNG image, 640 × 480, 9 B"
    )


def test_a_result_is_rebuilt_from_its_message_with_the_full_text_if_it_was_kept():
    picture = Attachment("image", "image/png", "a.png", 9, PNG)
    told = ToolMessage("c", "s__t", "head … tail", attachments=(picture,), kept="result-1")
    assert result_of(told, "all of it") == ToolResult(
        (TextContent("all of it"), BinaryContent("image", "image/png", 9, PNG, "a.png"))
    )
    assert result_of(told).content[0] == TextContent("head … tail")


@pytest.mark.parametrize(
    ("why", "is_error"), [("", True), ("timeout", True), ("cancelled", False), ("not run", False)]
)
def test_a_message_of_mcptui_about_a_call_is_not_an_error_of_its_tool(why: str, is_error: bool):
    assert result_of(ToolMessage("c", "t", "cancelled by the user", True, why=why)).is_error is is_error
