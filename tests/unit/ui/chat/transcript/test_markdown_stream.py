"""The text of a reply gives the same blocks for any chunking."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tui.core.text import clean
from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.chat.transcript.markdown_stream import MAX_BLOCK, MarkdownStream
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import text_of

MARKDOWN = Markdown()

PROSE = """# Title

A paragraph with **bold**, `code` and a [link](https://example.org/a?b=1).
Second line of it.

Setext heading
==============

2. two looks like a paragraph
3. until its space

- item
- [x] done

  loose
    - nested

> quote
lazy continuation

* * *

    indented code

last words"""

CODE = """Before:
```python
def f():
    '''text
    over lines'''
    return 1
```
between

~~~
```
not closed by the other mark
~~~

   ```sh
   indented fence
     two more
   ```
1. item
   ```
   nested fence
   ```
after

```json
{"open": true,
"""

TABLE = """| City | Temp |
|:-----|-----:|
| Beijing 北京 | 25 °C |
| a \\| b | *x* |
no longer a table

| one | two |
| --- | --- |
"""

HOSTILE = (
    "a\x1b[31mred\x1b[0m\r\nb\x85c\u2028d\u202eevil\u202c\x00\n\n<script>alert(1)</script>\n"
    "[x]: late\n[x] [y](javascript:alert)\n👨\u200d👩\u200d👧 a\u200db ❤\ufe0f\n\ud800\n\n- a\x0b- b\x0c\n"
)

LARGE = (
    "- item of a long list with some words\n" * 300
    + "\n"
    + "word " * 3000
    + "\n\n```\n"
    + "line of code\n" * 200
    + "x" * 20000
    + "\n```\n\n| a | b |\n|---|---|\n"
    + "| cell | other cell |\n" * 500
    + "\nend\n"
    + "y" * 20000
)

DOCUMENTS = {"prose": PROSE, "code": CODE, "table": TABLE, "hostile": HOSTILE, "large": LARGE}


def rows_of(parts: Iterator[str] | list[str], width: int = 60, ended: bool = True) -> list[tuple[int, tuple]]:
    flow = Flow(width)
    stream = MarkdownStream(MARKDOWN, flow.append)
    for part in parts:
        stream.feed(part)
    if ended:
        stream.end()
        assert stream.tail is None
    elif stream.tail is not None:
        flow.append(stream.tail)
    flow.settle(range(len(flow.blocks)))
    return [flow.row(index) for index in range(flow.height)]


def cut_at(text: str, sizes: list[int]) -> Iterator[str]:
    position = 0
    turn = 0
    while position < len(text):
        size = sizes[turn % len(sizes)]
        yield text[position : position + size]
        position += size
        turn += 1


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "large"])
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_any_chunking_of_a_document_gives_the_same_rows(name: str, sizes: list[int]):
    document = DOCUMENTS[name]

    assert rows_of(cut_at(document, sizes)) == rows_of([document])


@pytest.mark.parametrize("size", [997, 4096, 10007])
def test_any_chunking_of_a_document_beyond_the_limits_gives_the_same_rows(size: int):
    assert rows_of(cut_at(LARGE, [size])) == rows_of([LARGE])


MARKUP = ["#", "-", "*", "`", "```", "~~~", "\n", "\n\n", "    ", "> ", "1. "]
MARKUP += ["|", "|-|-|", "a", " b", "[x]", "==", "\t", "\r"]


@given(st.lists(st.sampled_from(MARKUP), max_size=60))
@example(["```|#\n", "|-|-|\n"]).via("an opening of a fence that the next line makes the head of a table")
@example(["~~~|#\n", "x" * 9000, "\n~~~\n", "a"]).via("a long line in a fence with a pipe in its opening")
@settings(max_examples=40, deadline=None)
def test_any_markup_arriving_piece_by_piece_gives_the_same_rows(parts: list[str]):
    assert rows_of(parts) == rows_of(["".join(parts)])


def test_the_last_words_of_a_growing_reply_are_shown():
    assert [text_of(row) for row in rows_of(["Hel", "lo wor"], ended=False)] == ["", "Hello wor"]


def test_ambiguous_markup_at_the_end_is_not_shown_yet():
    shown = [text_of(row) for row in rows_of(["A line\n", "-"], ended=False)]

    assert shown == ["", "A line"]


def test_an_open_fence_is_shown_as_code():
    shown = [text_of(row).strip() for row in rows_of(["```python\nx = 1\ny ="], ended=False)]

    assert shown == ["", "python", "x = 1", "y ="]


@pytest.mark.parametrize("ended", [False, True])
def test_an_open_fence_with_a_pipe_is_code_unless_a_table_follows(ended: bool):
    opening, code, table = (
        [text_of(row).strip() for row in rows_of(parts, ended=ended)]
        for parts in (["```a|b\n"], ["```a|b\n", "x\n"], ["```a|b\n", "-|-\n"])
    )

    assert opening[1] == code[1] == "a|b"
    assert code[2] == "x"
    assert table[1].split() == ["```a", "b"]


def test_a_large_list_is_split_between_items_without_a_gap():
    rows = [text_of(row) for row in rows_of(["- item number one\n" * (MAX_BLOCK // 10)])]

    assert rows[0] == ""
    assert set(rows[1:]) == {"• item number one"}


def test_a_large_table_shows_its_header_once():
    rows = [text_of(row) for row in rows_of(["| name | n |\n|---|--:|\n" + "| value | 1 |\n" * 2000])]

    assert sum("name" in row for row in rows) == 1
    assert sum("value" in row for row in rows) == 2000


def test_a_line_of_several_megabytes_is_plain_text_in_pieces():
    blocks: list[Block] = []
    MarkdownStream(MARKDOWN, blocks.append).feed("x" * 3_000_000)
    assert len(blocks) == 3_000_000 // 8192


@pytest.mark.parametrize("name", ["prose", "code", "table", "hostile"])
def test_rendering_block_by_block_gives_the_rows_of_the_whole_document(name: str):
    document = clean(DOCUMENTS[name])

    assert rows_of([document])[1:] == MARKDOWN.rows(document, 60)
