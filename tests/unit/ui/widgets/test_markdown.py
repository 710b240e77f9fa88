"""Markdown of model replies is rendered, and nothing in it can run actions."""

import pytest

from tests.cases import each_case
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


@each_case(
    ("source", "width", "shown"),
    [
        ("one\ntwo", 40, ["one", "two"]),
        ("one\n\n\ntwo", 40, ["one", "", "two"]),
        ("- a\n  - b\n    - c", 40, ["• a", "  ◦ b", "    ▪ c"]),
        ("9. nine\n10. ten", 40, [" 9. nine", "10. ten"]),
        ("- a\n\n- b", 40, ["• a", "", "• b"]),
        ("- [x] done\n- [ ] open", 40, ["✓ done", "☐ open"]),
        ("- one two three four", 13, ["• one two", "  three four"]),
        ("> one\n>\n> two", 40, ["▎ one", "▎", "▎ two"]),
        (
            "| a | n |\n|---|--:|\n| long | 1 |\n| 北京 | 22 |",
            40,
            ["a       n", "─────────", "long    1", "北京   22"],
        ),
        (
            "| a | b |\n|---|---|\n| one | two three four five |\n| x | y |",
            18,
            ["a     b", "─" * 18, "one   two three", "      four five", "", "x     y"],
        ),
        ("```python\ndef f():\n    return 1\n```", 20, ["             python", " def f():", "     return 1"]),
        ("[text](https://example.org)", 60, ["text (https://example.org)"]),
        ("<https://example.org>", 40, ["https://example.org"]),
        ("<b>bold</b>\n\n<script>x</script>", 40, ["<b>bold</b>", "", "<script>x</script>"]),
        ("[/red] [@click=app.quit]x[/] [bold]b", 40, ["[/red] [@click=app.quit]x[/] [bold]b"]),
        ("[a][b]\n\n[b]: https://example.org", 60, ["[a][b]", "", "[b]: https://example.org"]),
    ],
)
def test_markdown_is_laid_out_and_everything_else_is_text(source: str, width: int, shown: list[str]):
    assert lines(source, width) == shown


def test_headings_are_highlighted():
    assert styles("# One\n\n### Three") == {"One": "model bold", "Three": "text bold"}


def test_a_table_with_too_many_columns_has_a_line_for_each_cell():
    head = "|".join(f"name {number}" for number in range(8))
    body = "|".join(str(number) for number in range(8))

    assert lines(f"|{head}|\n|{'-|' * 8}\n|{body}|", 30)[:2] == ["name 0  0", "name 1  1"]


def test_a_code_block_fills_the_width_of_the_pane_with_its_own_background():
    rows = MARKDOWN.rows("```\nx\n```", 20)

    assert [width_of(row) for row in rows] == [20]
    assert all("on panel" in style for _, style in rows[0])


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"]
)
def test_a_link_with_an_unsafe_scheme_is_plain_text(address: str):
    assert lines(f"[click]({address})", 60) == [f"[click]({address})"]


def test_a_link_without_an_address_is_its_label():
    assert lines("[label]()", 60) == ["label"]


def test_deeply_nested_markdown_fits_the_width():
    source = "\n".join("  " * depth + f"- depth {depth}" for depth in range(30))

    assert all(width_of(row) <= 40 for row in MARKDOWN.rows(source, 40))


def test_unclosed_brackets_are_shown_as_written():
    assert "".join(lines("![" * 1000)) == "![" * 1000
