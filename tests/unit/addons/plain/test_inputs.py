"""Lines from a pipe and from a terminal."""

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from tui.addons.plain.inputs import MAX_BYTES, Inputs
from tui.addons.plain.transcript import Transcript


def written(pipe: int, data: bytes) -> None:
    with os.fdopen(pipe, "wb") as file:
        file.write(data)


@contextmanager
def piped(data: bytes) -> Iterator[tuple[Inputs, io.StringIO]]:
    """Yield the inputs of a pipe with this data, and what is written."""
    read, write = os.pipe()
    writer = threading.Thread(target=written, args=(write, data))
    writer.start()
    with os.fdopen(read) as stdin, patch.object(sys, "stdin", stdin):
        out = io.StringIO()
        inputs = Inputs(Transcript(out))
        inputs.begin()
        try:
            yield inputs, out
        finally:
            inputs.close()
            writer.join()


async def test_lines_go_to_who_asks_first_and_the_last_needs_no_end():
    with piped(b"a message\r\n1\n\xffend") as (inputs, out):
        taken = [await inputs.message(), await inputs.answer(), await inputs.message()]
        assert taken == ["a message", "1", "\ufffdend"]
        assert [await inputs.message(), await inputs.answer()] == [None, None]
    assert out.getvalue() == "you: a message\nyou: 1\nyou: \ufffdend\n"


async def test_a_long_line_is_several():
    with piped(b"x" * (MAX_BYTES + 5) + b"\n") as (inputs, _):
        first, second = await inputs.message(), await inputs.message()
    assert first is not None and len(first) == MAX_BYTES and second == "x" * 5


async def test_a_line_is_only_read_when_it_is_wanted():
    with piped(b"one\ntwo\n") as (inputs, out):
        assert await inputs.message() == "one"
        assert out.getvalue() == "you: one\n"


async def test_a_line_that_quits_ends_the_input_also_at_a_question():
    with piped(b"exit\n/quit\nhello\n") as (inputs, _):
        assert [await inputs.answer(), await inputs.answer()] == ["exit", None]
        assert inputs.quits and await inputs.message() is None


class Screen(io.StringIO):
    """A terminal to write to."""

    def isatty(self) -> bool:
        return True


async def test_the_end_of_a_terminal_ends_the_line_of_its_prompt():
    terminal, line = os.openpty()
    out = Screen()
    with os.fdopen(line) as stdin, patch.object(sys, "stdin", stdin), patch.dict(os.environ, TERM="dumb"):
        inputs = Inputs(Transcript(out))
        inputs.begin()
        try:
            inputs.expect()
            os.write(terminal, b"\x04")
            assert await inputs.message() is None
        finally:
            inputs.close()
            os.close(terminal)
    assert out.getvalue() == "you: \n"
