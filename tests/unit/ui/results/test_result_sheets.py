"""Results as rows: every type of content, limited in size; two of them side by side."""

import base64
import json
from threading import Event
from typing import Any

import pytest

from tests.cases import each_case
from tests.media import png
from tui.core.comparison.values import LinePair, parts_that_differ
from tui.core.tools import (
    Annotations,
    BinaryContent,
    CallFailure,
    LinkContent,
    ResourceContent,
    TextContent,
    ToolResult,
)
from tui.ui.results.result_sheets import (
    AROUND,
    SideBySide,
    Stack,
    file_name,
    sheet_of_result,
    side_by_side_rows,
)
from tui.ui.widgets.rows import text_of, width_of


def lines(result: ToolResult, promised: Any = None) -> list[str]:
    return rows_of(sheet_of_result(result, promised))


def rows_of(stack: Stack) -> list[str]:
    stack.fit(80)
    return [text_of(stack.row(index, 80)).rstrip() for index in range(stack.count())]


def test_json_text_is_shown_as_a_tree() -> None:
    assert [line.strip() for line in lines(ToolResult((TextContent('{"a": [1, 2]}'),)))] == [
        "▾ a",
        "0  1",
        "1  2",
    ]


@pytest.mark.parametrize("text", ["{}", "[]", " { } "])
def test_empty_json_is_shown(text: str) -> None:
    assert "".join(lines(ToolResult((TextContent(text),)))).replace(" ", "") == text.replace(" ", "")
    assert "{}" in lines(ToolResult((), structured={}))


def test_a_server_error_is_shown_only_in_the_words_of_the_server() -> None:
    said = "The server answered with error -32602: no such resource"
    found = lines(ToolResult((TextContent(said),), is_error=True, failure=CallFailure.PROTOCOL))
    assert found == [said]


def test_long_text_is_truncated_and_says_how_much_is_missing() -> None:
    found = lines(ToolResult((TextContent("x\n" * 5_000_000),)))
    assert len(found) < 2_100
    assert "more characters. Save the text to get all of it" in found[-1]


def test_only_the_beginning_of_text_without_line_breaks_is_laid_out() -> None:
    short, long = (lines(ToolResult((TextContent("A" * (size << 20)),))) for size in (1, 4))
    assert sum(map(len, long)) == sum(map(len, short)) < 1 << 17
    assert short[:-1] == long[:-1]


def test_a_line_shows_whether_structured_content_matches_its_schema() -> None:
    good = ToolResult((), structured={"a": 1})
    assert "✓ matches its output schema" in lines(good, {"type": "object"})[0]
    assert "no output schema" in lines(good)[0]
    bad = ToolResult((), structured={"a": 1}, warning="does not match outputSchema: a")
    assert "! does not match outputSchema: a" in lines(bad, {"type": "object"})[0]
    assert (
        "missing, although the tool has an output schema"
        in lines(ToolResult((TextContent("x"),)), {"type": "object"})[0]
    )


def test_a_failure_says_what_happened() -> None:
    found = lines(ToolResult((TextContent("after 60 s"),), is_error=True, failure=CallFailure.TIMEOUT))
    assert found == ["Timed out.", "after 60 s"]


def test_invalid_base64_is_described_and_not_decoded() -> None:
    sheet = sheet_of_result(ToolResult((BinaryContent("image", "image/png", 3, "%%%"),)))
    assert "image, 3 B" in text_of(sheet.row(0, 80))
    assert sheet.saved(0) == (b"%%%", "txt")


@pytest.mark.parametrize("start", ["", "DATA:image/png;base64,"])
def test_an_image_is_recognized_and_saved_however_its_base64_is_written(start: str) -> None:
    data = png() + b"\xfb\xef\xff"
    written = start + base64.encodebytes(data).decode().translate(str.maketrans("+/", "-_", "="))
    sheet = sheet_of_result(ToolResult((BinaryContent("image", "image/x", 76, written),)))
    assert "PNG image, 3 × 2, 76 B" in text_of(sheet.row(0, 80))
    assert sheet.saved(0) == (data, "png")


def test_the_value_of_a_row_is_the_whole_text_or_the_link() -> None:
    sheet = sheet_of_result(ToolResult((TextContent("a\nb"), LinkContent("x://y", "n"))))
    values = [sheet.value(index) for index in range(sheet.count())]
    assert "a\nb" in values
    assert "x://y" in values


# ---- resources ----


def read(uri: str, mime: str, text: str) -> ToolResult:
    return ToolResult((ResourceContent(uri, mime, text),))


@pytest.mark.parametrize(("uri", "mime"), [("a://b", "text/markdown; charset=utf-8"), ("a://b.md", "")])
def test_markdown_is_rendered_and_enter_shows_its_source(uri: str, mime: str) -> None:
    stack = sheet_of_result(read(uri, mime, "# Title\n\n- one"))
    assert rows_of(stack)[1:] == ["Title", "", "• one"]
    stack.toggle(1, 80)
    assert rows_of(stack)[1:] == ["# Title", "", "- one"]
    assert stack.value(1) == "# Title\n\n- one"


def test_very_long_markdown_and_other_texts_are_shown_as_source() -> None:
    assert rows_of(sheet_of_result(read("a://b", "text/markdown", "# x\n" * 20_000)))[1] == "# x"
    assert rows_of(sheet_of_result(read("a://b", "text/plain", "# x")))[1] == "# x"


def test_an_mcp_app_is_shown_as_source_with_a_note() -> None:
    shown = rows_of(sheet_of_result(read("ui://x/y", "text/html;profile=mcp-app", "<b>hi</b>")))
    assert "its source (mcptui does not run apps)" in shown[0]
    assert shown[1] == "<b>hi</b>"


def test_html_is_highlighted_without_a_background_and_long_html_is_plain() -> None:
    def styles(text: str) -> set[str]:
        stack = sheet_of_result(read("ui://x/y", "text/html;profile=mcp-app", text))
        stack.fit(80)
        return {style for _, style in stack.row(1, 80)}

    found = styles("<b class='a'>hi</b>")
    assert "accent" in found and not any("on panel" in style for style in found)
    assert styles("<b>hi</b>\n" * 6_000) == {"text"}


@each_case(
    ("uri", "name"),
    [
        ("file:///a/b.md", "b.md"),
        ("notes://all", "all.md"),
        ("a://x/%2e%2e%2fetc%2Fpasswd?q=1", "etc-passwd.md"),
        ("a://x/.bashrc", "bashrc.md"),
        ("a://x/..", ""),
        ("", ""),
    ],
)
def test_a_file_is_named_after_the_resource(uri: str, name: str) -> None:
    assert file_name(uri, "md") == name


def test_the_suffix_of_a_saved_text_follows_its_type_and_is_never_executable() -> None:
    for mime, ending in (("text/markdown", "md"), ("application/json", "json"), ("text/html", "txt")):
        stack = sheet_of_result(read("a://b", mime, "{}"))
        found = stack.saved(1)
        assert found is not None
        assert found[1] == ending


def test_an_item_shows_its_audience_and_priority():
    one = TextContent("x", Annotations(("user",), 0.25))
    assert lines(ToolResult((one,)))[0] == "1  text, 1 character   for the user only   priority 0.25"


def test_a_search_finds_every_part_of_a_result_and_unfolds_it() -> None:
    hidden = {"list": [{"deep": [0] * 3_000 + ["needle"]}]}
    stack = sheet_of_result(ToolResult((TextContent("a needle"), TextContent(json.dumps(hidden)))))
    stack.fit(80)
    places = stack.places("needle", Event())
    assert len(places) == 2
    for place in places:
        row = stack.reveal(place)
        assert "needle" in text_of(stack.row(row, 80))
        assert stack.place(row)[0] == place[0]


def test_only_the_differing_part_is_highlighted():
    assert parts_that_differ('"a": 25 °C', '"a": 31 °C') == ((5, 7), (5, 7))
    assert parts_that_differ("aa", "aaa") == ((2, 2), (2, 3))
    (row,) = side_by_side_rows([LinePair("x 25 y", "x 31 y")], 60)
    assert ("25", "bad bold") in row and ("31", "ok bold") in row


def test_equal_lines_far_from_a_difference_are_counted():
    pairs = [LinePair("same", "same", True)] * 20 + [LinePair("old", "new")]
    rows = [text_of(row) for row in side_by_side_rows(pairs, 60)]
    assert len(rows) == 1 + AROUND + 1
    assert f"{20 - AROUND} equal lines" in rows[0]


def test_rows_fit_every_width():
    pairs = [LinePair("wide 中文 " * 20, None), LinePair("a " * 90, "b " * 10)]
    for width in (30, 76, 196):
        sheet = SideBySide(pairs)
        sheet.fit(width)
        assert sheet.count() > 2
        assert all(width_of(sheet.row(index, width)) <= width for index in range(sheet.count()))
