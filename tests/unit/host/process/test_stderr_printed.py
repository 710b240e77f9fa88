"""Lines that a server printed to stdout, among those of its stderr."""

import random

import pytest

from tui.host.process.stderr import KEPT, PRINTED_BURST, StderrTail


@pytest.fixture
def tail():
    return StderrTail()


def test_a_printed_line_is_marked_and_is_neither_the_last_line_of_stderr_nor_the_reason(tail):
    tail.feed(b"error: first\n")
    tail.printed(b"\x1b[1mStarting\x1b[0m\r")
    assert tail.lines() == ("error: first", "stdout: Starting")
    assert tail.last == tail.reason == "error: first"


def test_a_printed_line_does_not_break_a_line_of_stderr_that_has_not_ended(tail):
    tail.feed(b"half ")
    tail.printed(b"printed")
    tail.feed(b"a line\n")
    assert tail.lines() == ("stdout: printed", "half a line")


def test_a_line_of_stderr_cannot_pass_for_one_of_stdout(tail):
    tail.feed(b"stdout: fake\n")
    assert tail.lines() == ("stderr: stdout: fake",)


def test_binary_lines_and_long_ones_are_cleaned_and_cut(tail):
    tail.printed(b"\xff\x00 " + b"x " * 5000 + b"\nsecond")
    (line,) = tail.lines()
    assert line.startswith("stdout: \ufffd\u2400 x x") and line.endswith("…") and len(line) < 1100


def test_a_flood_of_printed_lines_neither_displaces_stderr_nor_grows(tail):
    tail.feed(b"error: the reason\n")
    for number in range(100_000):
        tail.printed(b"%d " % number + random.Random(number).randbytes(4))
    lines = tail.lines()
    assert lines[0] == tail.reason == "error: the reason" and sum(map(len, lines)) < KEPT
    assert PRINTED_BURST < len(lines) < 2 * PRINTED_BURST
