"""Markdown of model replies is rendered, and nothing in it can run actions."""

import pytest

from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import text_of, width_of

MARKDOWN = Markdown()


def lines(source: str, width: int = 40) -> list[str]:
    return [text_of(row).rstrip() for row in MARKDOWN.rows(source, width)]


def styles(source: str) -> dict[str, str]:
    return {text: style for row in MARKDOWN.rows(source, 60) for text, style in row if text.strip()}


def test_emphasis_is_shown_as_a_style():
    assert styles("**b** *i* ~~s~~ `c` plain") == {
        "b": "text bold",
        "i": "text italic",
        "s": "text strike",
        "c": "tool",
        " plain": "text",
    }


def test_a_line_break_is_kept():
    assert lines("one\ntwo") == ["one", "two"]


def test_paragraphs_are_separated_by_an_empty_line():
    assert lines("one\n\n\ntwo") == ["one", "", "two"]


def test_headings_are_highlighted():
    assert styles("# One\n\n### Three") == {"One": "model bold", "Three": "text bold"}


def test_each_list_level_has_its_own_bullet():
    assert lines("- a\n  - b\n    - c") == ["• a", "  ◦ b", "    ▪ c"]


def test_list_numbers_are_kept_and_aligned():
    assert lines("9. nine\n10. ten") == [" 9. nine", "10. ten"]


def test_items_separated_by_an_empty_line_stay_separated():
    assert lines("- a\n\n- b") == ["• a", "", "• b"]


def test_tasks_show_whether_they_are_done():
    assert lines("- [x] done\n- [ ] open") == ["✓ done", "☐ open"]


def test_wrapped_lines_of_an_item_are_indented_under_its_text():
    assert lines("- one two three four", 13) == ["• one two", "  three four"]


def test_a_quote_has_a_bar_on_every_line():
    assert lines("> one\n>\n> two") == ["▎ one", "▎", "▎ two"]


def test_the_columns_of_a_table_are_aligned():
    assert lines("| a | n |\n|---|--:|\n| long | 1 |\n| 北京 | 22 |") == [
        "a       n",
        "─────────",
        "long    1",
        "北京   22",
    ]


def test_a_table_wider_than_the_pane_wraps_in_its_cells():
    assert lines("| a | b |\n|---|---|\n| one | two three four five |\n| x | y |", 18) == [
        "a     b",
        "──────────────────",
        "one   two three",
        "      four five",
        "",
        "x     y",
    ]


def test_a_table_with_too_many_columns_has_a_line_for_each_cell():
    head = "|".join(f"name {number}" for number in range(8))
    body = "|".join(str(number) for number in range(8))

    assert lines(f"|{head}|\n|{'-|' * 8}\n|{body}|", 30)[:2] == ["name 0  0", "name 1  1"]


def test_code_keeps_its_spaces_and_names_its_language():
    assert lines("```python\ndef f():\n    return 1\n```", 20) == [
        "             python",
        " def f():",
        "     return 1",
    ]


def test_a_code_block_fills_the_width_of_the_pane_with_its_own_background():
    rows = MARKDOWN.rows("```\nx\n```", 20)

    assert [width_of(row) for row in rows] == [20]
    assert all("on panel" in style for _, style in rows[0])


def test_a_link_shows_its_address():
    assert lines("[text](https://example.org)", 60) == ["text (https://example.org)"]


def test_an_address_that_is_also_the_link_text_is_shown_once():
    assert lines("<https://example.org>") == ["https://example.org"]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"]
)
def test_a_link_with_an_unsafe_scheme_is_plain_text(address: str):
    assert lines(f"[click]({address})", 60) == [f"[click]({address})"]


def test_html_is_shown_as_plain_text():
    assert lines("<b>bold</b>\n\n<script>x</script>") == ["<b>bold</b>", "", "<script>x</script>"]


def test_textual_markup_is_shown_as_plain_text():
    assert lines("[/red] [@click=app.quit]x[/] [bold]b") == ["[/red] [@click=app.quit]x[/] [bold]b"]


def test_a_link_definition_after_its_use_has_no_effect():
    assert lines("[a][b]\n\n[b]: https://example.org", 60) == ["[a][b]", "", "[b]: https://example.org"]


def test_deeply_nested_markdown_fits_the_width():
    source = "\n".join("  " * depth + f"- depth {depth}" for depth in range(30))

    assert all(width_of(row) <= 40 for row in MARKDOWN.rows(source, 40))


def test_unclosed_brackets_are_shown_as_written():
    assert "".join(lines("![" * 1000)) == "![" * 1000
