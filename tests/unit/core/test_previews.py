"""A person can look at, open and save everything in a result that is no plain text."""

from tests.media import image, png
from tui.core.previews import previews
from tui.core.tools import BinaryContent, ResourceContent, TextContent, ToolResult


def test_each_has_a_kind_a_name_for_a_file_and_a_size():
    result = ToolResult(
        (
            TextContent("x"),
            image(),
            BinaryContent("blob", "application/pdf", 3, "AAAA", "file:///docs/a%20b.pdf"),
            ResourceContent("notes://1/milk.md", "text/markdown", "# Milk"),
        )
    )
    assert [(one.kind, one.name, one.size) for one in previews(result)] == [
        ("image", "image 1.png", len(png())),
        ("blob", "a b.pdf", 3),
        ("text", "milk.md", 6),
    ]


def test_a_name_leads_to_no_other_folder():
    result = ToolResult((BinaryContent("blob", "", 3, "AAAA", "x:///a/..%2f..%2f.bashrc"),))
    assert previews(result)[0].name == "bashrc"


def test_bytes_of_no_known_type_can_be_saved_too():
    (seen,) = previews(ToolResult((BinaryContent("blob", "", 3, "not base64!"),)))
    assert (seen.mime, seen.name, seen.data) == ("application/octet-stream", "blob 1", "not base64!")
