"""The lines of plain mode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.transcript import MAX_LINE, MODEL, PAGE, RESULT, Stream, json_lines


@given(st.text())
def test_each_line_begins_with_its_word_and_has_no_control_character(text: str):
    stage = Stage()
    stage.transcript.say(RESULT, text)
    written = stage.out.getvalue()
    assert all(line.startswith("result: ") for line in written.split("\n")[:-1])
    assert all(char == "\n" or char >= " " for char in written) and "\x7f" not in written


def test_a_long_text_is_a_page_at_a_time():
    stage = Stage()
    stage.transcript.say_long(RESULT, "\n".join(map(str, range(PAGE * 2))))
    assert stage.lines[-2:] == [
        f"result: {PAGE - 1}",
        f"mcptui: {PAGE} more lines. /more shows the next page.",
    ]
    assert stage.transcript.more() and stage.lines[-1] == f"result: {PAGE * 2 - 1}"
    assert not stage.transcript.more()


def test_a_long_line_is_continued_at_a_word():
    stage = Stage()
    stage.transcript.say(RESULT, "word " * MAX_LINE)
    assert {line[-4:] for line in stage.lines} == {"word"}
    assert max(map(len, stage.lines)) <= MAX_LINE + len("result: ")


TEXT = (
    "Hello. I am here now, and I answer at some length. So it is.\nA second line\n```\na. b. c. d. "
    + "x. " * 20
    + "\n```\nend"
)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_an_arriving_text_is_written_by_sentence_and_line_however_it_is_cut(size: int):
    stage = Stage()
    stream = Stream(stage.transcript, MODEL)
    for start in range(0, len(TEXT), size):
        stream.feed(TEXT[start : start + size])
    stream.end()
    assert stage.lines == [
        "model: Hello. I am here now, and I answer at some length.",
        "model: So it is.",
        "model: A second line",
        "model: ```",
        "model: a. b. c. d. " + ("x. " * 20).rstrip(),
        "model: ```",
        "model: end",
    ]


def test_a_json_value_is_lines_that_name_their_place():
    value = {"a": [{"b": "one\ntwo"}, 3], "c": {}, "d": None}
    assert [*json_lines(value)] == ["a[0].b: one", "a[0].b: two", "a[1]: 3", "c: {}", "d: null"]
