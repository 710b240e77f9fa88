"""Rows are cropped, padded and wrapped by cells, and copied as they were before."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cases import each_case
from tui.core.text import fold
from tui.ui.widgets import code
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import (
    Row,
    breaks,
    copied,
    crop,
    cut,
    highlighted,
    joined,
    marked,
    pad,
    spread,
    text_of,
    width_of,
    wrap,
)

TEXT = st.text(st.sampled_from("ab -.,，。（）「北京é👩\u200d🚀❤\ufe0f\u0301🇫🇷"), max_size=60)


def lines(text: str, cells: int) -> list[str]:
    return [text_of(row) for row in wrap(((text, "text"),), cells)]


@each_case(
    ("text", "cells", "wrapped"),
    [
        ("the quick brown fox", 10, ["the quick", "brown fox"]),
        ("a incomprehensibilities", 8, ["a", "incompre", "hensibil", "ities"]),
        ("    indented   words", 12, ["    indented", "words"]),
        ("北京今天天气晴朗，适合", 16, ["北京今天天气晴", "朗，适合"]),  # none begins with punctuation
        ("今天天气（晴）", 10, ["今天天气", "（晴）"]),  # none ends with an opening bracket
    ],
)
def test_lines_break_between_words_and_wide_characters(text: str, cells: int, wrapped: list[str]):
    assert lines(text, cells) == wrapped


def test_joined_parts_are_dropped_as_a_whole_and_only_the_first_is_truncated():
    parts = [(("read-only", "ok"),), (("~69 tokens", "dim"),), (("idempotent", "dim"),)]
    assert text_of(joined(parts, ((" · ", "dim"),), 35)) == "read-only · ~69 tokens · idempotent"
    assert text_of(joined(parts, ((" · ", "dim"),), 34)) == "read-only · ~69 tokens"
    assert text_of(joined(parts, ((" · ", "dim"),), 21)) == "read-only"
    assert text_of(joined(parts, ((" · ", "dim"),), 5)) == "read…"
    assert joined([], ((" · ", "dim"),), 5) == ()


def test_a_prefix_is_before_the_first_line_and_the_others_are_indented_by_its_width():
    rows = wrap((("one two three", "text"),), 9, first=(("• ", "dim"),))

    assert [text_of(row) for row in rows] == ["• one two", "  three"]


@given(TEXT, st.integers(2, 20))
@example("❤\ufe0f❤\ufe0f❤\ufe0f", 2)
@example("。 ", 2)
def test_no_line_exceeds_the_width(text: str, cells: int):
    assert all(width_of(row) <= cells for row in wrap(((text, "text"),), cells))


@given(TEXT, st.integers(-3, 20))
def test_wrapping_loses_nothing_but_spaces(text: str, cells: int):
    assert "".join(lines(text, cells)).replace(" ", "") == text.replace(" ", "")


@given(TEXT, st.integers(2, 20))
def test_breaks_are_in_order_and_never_empty(text: str, cells: int):
    found = breaks(text, cells)

    assert found[0][0] == 0
    assert all(start < end for start, end in found) or not text
    assert all(one[1] <= other[0] for one, other in pairwise(found))


@given(TEXT, TEXT, st.integers(1, 60))
def test_a_spread_row_has_exactly_its_width(left: str, right: str, cells: int):
    assert width_of(spread(((left, "text"), (right, "dim")), ((right, "dim"),), cells)) == cells


def test_the_left_part_of_a_spread_row_is_truncated_first():
    assert text_of(spread((("a long name", "text"),), (("4 ms", "dim"),), 12)) == "a long… 4 ms"


def test_padding_fills_with_its_own_style():
    assert pad((("ab", "text"),), 4, "on panel") == (("ab", "text"), ("  ", "on panel"))


def test_cropping_and_highlighting_count_characters_across_spans():
    row = (("abc", "text"), ("def", "dim"))

    assert cut(row, 2, 5) == (("c", "text"), ("de", "dim"))
    assert marked(row, 2, 4, "selected") == (
        ("ab", "text"),
        ("c", "text selected"),
        ("d", "dim selected"),
        ("ef", "dim"),
    )


def test_matches_are_highlighted_as_the_search_compares_them() -> None:
    row = highlighted((("Cafe\u0301 and ", "text"), ("CAFÉ", "dim")), fold("café"))
    assert [text for text, style in row if "selected" in style] == ["Cafe\u0301", "CAFÉ"]
    assert text_of(row) == "Cafe\u0301 and CAFÉ"


@pytest.mark.parametrize("sign", ["👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣", "e\u0301", "🏳️‍🌈"])
@pytest.mark.parametrize("cells", range(2, 9))
def test_no_truncation_or_wrapping_cuts_a_sign(sign: str, cells: int):
    text = sign * 20
    assert text_of(crop(((text, "text"),), cells)).removesuffix("…").replace(sign, "") == ""
    for start, end in breaks(text, cells):
        assert text[start:end].replace(sign, "") == ""
        assert cell_len(text[start:end]) <= cells


def whole(rows: list[Row]) -> str:
    return copied((row, 0, -1) for row in rows)


CODE = ["def f():", "    return 'a value that is long enough to be wrapped'"]


@each_case(
    ("rows", "text"),
    [
        (wrap((("incomprehensibilities", "text"),), 8), "incomprehensibilities"),
        (wrap((("one two three", "text"),), 9, first=(("• ", "dim"),)), "• one two three"),
        ([(("one", "text"),), (("two", "text"),)], "one\ntwo"),
        (code.panel(code.highlighted(CODE, "python"), 24), "\n".join(CODE)),
        (Markdown().rows("> one two three four five six seven", 20), "one two three four five six seven"),
    ],
)
def test_neither_breaks_nor_ornaments_are_copied(rows: list[Row], text: str):
    assert whole(rows) == text


def test_a_selection_can_start_and_end_within_rows():
    rows = wrap((("the quick brown fox", "text"),), 10)

    assert copied([(rows[0], 4, -1), (rows[1], 0, 5)]) == "quick brown"


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=12), st.integers(2, 20))
def test_copying_restores_any_wrapped_words(words: list[str], cells: int):
    text = " ".join(words)

    assert whole(wrap(((text, "text"),), cells)) == text
