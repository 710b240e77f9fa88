"""What models write is read as Markdown, and nothing of it can act."""

import pytest

from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import text_of, width_of

MARKDOWN = Markdown()


def lines(source: str, width: int = 40) -> list[str]:
    return [text_of(row).rstrip() for row in MARKDOWN.rows(source, width)]


def styles(source: str) -> dict[str, str]:
    return {text: style for row in MARKDOWN.rows(source, 60) for text, style in row if text.strip()}


def test_emphasis_becomes_style():
    assert styles("**b** *i* ~~s~~ `c` plain") == {
        "b": "text bold",
        "i": "text italic",
        "s": "text strike",
        "c": "tool",
        " plain": "text",
    }


def test_a_line_break_is_kept():
    assert lines("one\ntwo") == ["one", "two"]


def test_paragraphs_have_a_gap():
    assert lines("one\n\n\ntwo") == ["one", "", "two"]


def test_headings_stand_out():
    assert styles("# One\n\n### Three") == {"One": "model bold", "Three": "text bold"}


def test_lists_nest_with_their_own_bullets():
    assert lines("- a\n  - b\n    - c") == ["• a", "  ◦ b", "    ▪ c"]


def test_numbers_of_a_list_are_kept_and_aligned():
    assert lines("9. nine\n10. ten") == [" 9. nine", "10. ten"]


def test_items_that_stand_apart_stay_apart():
    assert lines("- a\n\n- b") == ["• a", "", "• b"]


def test_tasks_show_whether_they_are_done():
    assert lines("- [x] done\n- [ ] open") == ["✓ done", "☐ open"]


def test_an_item_hangs_under_its_bullet():
    assert lines("- one two three four", 13) == ["• one two", "  three four"]


def test_a_quote_has_a_bar_on_every_line():
    assert lines("> one\n>\n> two") == ["▎ one", "▎", "▎ two"]


def test_columns_of_a_table_align():
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


def test_a_table_of_too_many_columns_is_told_line_by_line():
    head = "|".join(f"name {number}" for number in range(8))
    body = "|".join(str(number) for number in range(8))

    assert lines(f"|{head}|\n|{'-|' * 8}\n|{body}|", 30)[:2] == ["name 0  0", "name 1  1"]


def test_code_keeps_its_spaces_and_names_its_language():
    assert lines("```python\ndef f():\n    return 1\n```", 20) == [
        "             python",
        " def f():",
        "     return 1",
    ]


def test_code_is_as_wide_as_the_pane_on_its_own_ground():
    rows = MARKDOWN.rows("```\nx\n```", 20)

    assert [width_of(row) for row in rows] == [20]
    assert all("on panel" in style for _, style in rows[0])


def test_a_link_shows_where_it_leads():
    assert lines("[text](https://example.org)", 60) == ["text (https://example.org)"]


def test_an_address_is_shown_once():
    assert lines("<https://example.org>") == ["https://example.org"]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"]
)
def test_a_link_that_could_act_is_text(address: str):
    assert lines(f"[click]({address})", 60) == [f"[click]({address})"]


def test_html_is_text():
    assert lines("<b>bold</b>\n\n<script>x</script>") == ["<b>bold</b>", "", "<script>x</script>"]


def test_markup_is_text():
    assert lines("[/red] [@click=app.quit]x[/] [bold]b") == ["[/red] [@click=app.quit]x[/] [bold]b"]


def test_a_definition_that_comes_late_changes_nothing():
    assert lines("[a][b]\n\n[b]: https://example.org", 60) == ["[a][b]", "", "[b]: https://example.org"]


def test_deep_nesting_stays_readable():
    source = "\n".join("  " * depth + f"- depth {depth}" for depth in range(30))

    assert all(width_of(row) <= 40 for row in MARKDOWN.rows(source, 40))


def test_brackets_without_end_are_shown_as_written():
    assert "".join(lines("![" * 1000)) == "![" * 1000
