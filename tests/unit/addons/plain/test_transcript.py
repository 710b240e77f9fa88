"""The lines of plain mode."""

import asyncio
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain import transcript as module
from tui.addons.plain.transcript import (
    MAX_LINE,
    OWN,
    PAGE,
    PAGE_CHARACTERS,
    QUESTION,
    RESULT,
    SERVER,
    SPARE,
    Stream,
    Transcript,
    json_lines,
)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


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
    stream = Stream(stage.transcript)
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


def answer(number: int, out: StringIO) -> Transcript:
    """Return a transcript on which an answer of so many lines has arrived."""
    transcript = Transcript(out)
    transcript.begin_turn()
    stream = Stream(transcript)
    for line in range(number):
        stream.feed(f"line {line}\n")
    stream.end()
    return transcript


def test_an_answer_stops_after_a_page_and_waits_for_more():
    transcript = answer(PAGE * 2 + 5, out := Terminal())
    assert out.getvalue().splitlines()[PAGE - 1 :] == [
        f"model: line {PAGE - 1}",
        "mcptui: The answer goes on. /more shows the next page.",
        f"mcptui: {PAGE + 5} more lines. /more shows the next page.",
    ]
    assert transcript.more() and transcript.waiting == 5
    assert transcript.more() and out.getvalue().endswith(f"model: line {PAGE * 2 + 4}\n")


@pytest.mark.parametrize("out", [Terminal(), StringIO()])
def test_an_answer_is_whole_in_a_pipe_and_if_little_is_left_of_it(out: StringIO):
    number = PAGE + SPARE if out.isatty() else PAGE * 9
    assert answer(number, out).waiting == 0
    assert len(out.getvalue().splitlines()) == number


def test_more_during_an_answer_makes_room_for_a_page_and_the_newest_text_comes_first():
    transcript = Transcript(out := Terminal())
    transcript.begin_turn()
    for line in range(PAGE + 10):
        transcript.add(str(line))
    assert transcript.more() and transcript.waiting == 0
    for line in range(PAGE):
        transcript.add(f"again {line}")
    assert transcript.waiting == 10
    transcript.say_long(RESULT, "\n".join(["x"] * (PAGE + 20)))
    transcript.more()
    assert transcript.waiting == 10
    transcript.begin_turn()
    assert transcript.more() and out.getvalue().endswith("model: again 29\n")


def test_a_json_value_is_lines_that_name_their_place():
    value = {"a": [{"b": "one\ntwo"}, 3], "c": {}, "d": None}
    assert [*json_lines(value)] == ["a[0].b: one", "a[0].b: two", "a[1]: 3", "c: {}", "d: null"]


async def test_a_prompt_that_lines_interrupt_is_shown_once_more_when_they_have_ended(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "PROMPT_SECONDS", 0.0)
    out = Terminal()
    transcript = Transcript(out)
    transcript.typed = lambda: "hel"
    transcript.prompt()
    for number in range(3):
        transcript.say(SERVER, f"line {number}")
    assert out.getvalue() == "you: hel\nserver: line 0\nserver: line 1\nserver: line 2\n"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert out.getvalue().endswith("line 2\nyou: hel")


async def test_a_line_that_was_typed_brings_no_prompt_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PROMPT_SECONDS", 0.0)
    out = Terminal()
    transcript = Transcript(out)
    transcript.prompt()
    transcript.say(SERVER, "one")
    transcript.answered()
    await asyncio.sleep(0)
    assert out.getvalue() == "you: \nserver: one\n"


def test_a_page_of_long_lines_ends_early():
    out = StringIO()
    transcript = Transcript(out)
    transcript.say_long(OWN, "\n".join(["a" * 900] * PAGE))
    assert len(out.getvalue()) < PAGE_CHARACTERS + 1_200
    assert "/more" in out.getvalue()


def test_a_text_that_is_read_at_a_question_does_not_replace_its_unread_lines():
    transcript = Transcript(StringIO())
    transcript.say_pages(((QUESTION, str(number)) for number in range(PAGE + 10)), QUESTION)
    transcript.say_long(OWN, "\n".join(map(str, range(PAGE + 20))))
    assert (transcript.unread, transcript.waiting) == (10, 30)
    assert transcript.more()
    assert transcript.unread == 10
    assert transcript.more()
    assert (transcript.unread, transcript.more()) == (0, False)


def test_the_next_part_of_a_question_leaves_what_was_not_read_before():
    transcript = Transcript(StringIO())
    transcript.say_pages(((QUESTION, str(number)) for number in range(PAGE + 10)), QUESTION)
    transcript.say_pages([(QUESTION, "Field 1")], QUESTION)
    assert transcript.unread == 10
