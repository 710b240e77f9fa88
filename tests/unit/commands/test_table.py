"""Tables on the command line are aligned by the cells of the terminal, fit its width, and lose no text."""

from hypothesis import given
from hypothesis import strategies as st

from tui.commands.table import Columns, broken_at, lines_at, painted, table
from tui.core.text import cells_of

WORDS = st.text("abcdefghij-_/天气服務한글é", min_size=1, max_size=30)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)
NUMBERS = st.integers(0, 99_999).map(str)
ROWS = st.integers(1, 5).flatmap(
    lambda columns: st.lists(st.tuples(NUMBERS, *[CELLS] * columns), min_size=1, max_size=5)
)


def letters(text: str) -> list[str]:
    return sorted("".join(text.split()))


def test_columns_after_wide_characters_and_emoji_are_aligned():
    rows = [("天气服务", "1", "f"), ("👩‍👩‍👧", "12", "g")]
    lines = ["server    calls  tool", "天气服务      1  f", "👩‍👩‍👧           12  g"]
    assert table(rows, {0, 2}, head=("server", "calls", "tool")).splitlines() == lines


@given(ROWS, st.integers(2, 120))
def test_no_line_is_wider_than_the_terminal_and_no_text_is_lost(rows: list[tuple[str, ...]], width: int):
    lines = table(rows, range(1, len(rows[0])), width).splitlines()
    assert all(cells_of(line) <= width for line in lines)
    assert letters("".join(lines)) == letters("".join(cell for row in rows for cell in row))


@given(ROWS)
def test_without_a_width_each_row_is_one_line_with_its_whole_text(rows: list[tuple[str, ...]]):
    lines = table(rows, range(1, len(rows[0]))).splitlines()
    assert len(lines) == len(rows)
    assert all(cell in line for row, line in zip(rows, lines, strict=True) for cell in row)


@given(CELLS, st.integers(2, 60))
def test_a_text_is_broken_between_words_and_only_longer_words_within(text: str, width: int):
    lines = broken_at(text, width)
    assert letters("".join(lines)) == letters(text) and all(cells_of(line) <= width for line in lines)
    whole = [word for word in text.split() if cells_of(word) <= width]
    assert {*whole} <= {word for line in lines for word in line.split()}


def test_the_widest_column_is_narrowed_first_and_numbers_are_not_broken():
    rows = [("weather", "12,345", "one two three four five")]
    head = ("server", "bytes", "about")
    assert table(rows, {0, 2}, 32, head=head).splitlines() == [
        "server    bytes  about",
        "weather  12,345  one two three",
        "                 four five",
    ]


def test_columns_without_content_are_left_out_where_space_is_short():
    head, rows = ("name", "errors", "lost", "about"), [("weather", "·", "2", "one two three")]
    assert "errors" in table(rows, {0, 3}, 40, head=head)
    assert table(rows, {0, 3}, 28, head=head).splitlines()[0].split() == ["name", "lost", "about"]


def test_a_terminal_too_narrow_for_columns_has_a_cell_in_each_line():
    head, rows = ("name", "errors", "about"), [("weather", "12", "one two")]
    assert table(rows, {0, 2}, 16, head=head).splitlines() == ["weather", "  errors: 12", "  about: one two"]


def test_rows_can_be_printed_before_the_others_are_known():
    columns = Columns((4, 200), (0, 1), 20, head=("name", "about"), indent="  ")
    assert columns.heading() == ["  name  about"]
    assert columns.lines(("a", "one two three four")) == ["  a     one two", "        three four"]


def test_a_color_does_not_move_the_columns():
    (line,) = Columns((4, 5), (0, 1)).lines(("a", "b"), {0: "31"})
    assert line == f"{painted('a   ', '31')}  b"


def test_a_text_beside_a_table_is_broken_after_its_indent():
    assert lines_at("one two three", 9, "  ") == ["  one two", "  three"]
    assert lines_at("one two three", 0, "  ") == ["  one two three"]
