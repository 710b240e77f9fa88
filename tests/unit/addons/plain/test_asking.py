"""Choices by number."""

import asyncio

import pytest

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.transcript import PAGE


async def test_a_choice_is_made_by_its_number():
    stage = Stage("yes", "3", "2")
    assert await stage.asking.choice(["one", "two"]) == 1
    assert stage.lines[:3] == [
        "question: 1. one",
        "question: 2. two",
        "question: Answer with a number, 1 to 2.",
    ]
    assert (
        stage.lines[-1] == "question: “3” is not an answer. Type a number, 1 to 2. An empty line repeats all."
    )


async def test_an_empty_line_repeats_the_question():
    stage = Stage("", "1")
    stage.asking.show(["Really?"])
    assert await stage.asking.choice(["yes", "no"]) == 0
    assert stage.lines.count("question: Really?") == stage.lines.count("question: 2. no") == 2


async def test_the_end_of_input_is_no_choice():
    assert await Stage().asking.choice(["one"]) is None


async def test_a_question_that_was_not_read_to_its_end_can_be_denied_but_not_accepted():
    stage = Stage("1", "/more", "1")
    stage.asking.show(map(str, range(PAGE * 2)))
    assert await stage.asking.choice(["yes", "no"], unread=[1]) == 0
    assert "question: Not all of it was shown yet. Type /more to read on, then answer." in stage.lines
    stage = Stage("2")
    stage.asking.show(map(str, range(PAGE * 2)))
    assert await stage.asking.choice(["yes", "no"], unread=[1]) == 1


async def test_a_long_result_that_arrives_meanwhile_does_not_count_as_reading_the_question():
    stage = Stage("1", "2")
    stage.asking.show(map(str, range(PAGE * 2)))
    stage.transcript.say_long("result", "short")
    assert stage.lines[-1] == "result: short"
    assert await stage.asking.choice(["yes", "no"], unread=[1]) == 1


async def test_a_line_that_was_typed_for_a_withdrawn_question_does_not_answer_the_next():
    stage = Stage("1", "2")
    stage.transcript.is_terminal, stage.transcript.rings = True, False
    with pytest.raises(asyncio.CancelledError):
        async with stage.asking.turn():
            raise asyncio.CancelledError
    assert await stage.asking.choice(["yes", "no"]) == 1
    assert "question: This question is withdrawn. It needs no answer." in stage.lines
