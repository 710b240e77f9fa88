import os
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.host.process.pipes import PipeReader
from tui.host.process.stderr import (
    KEPT,
    LINE_LIMIT,
    NOTED_BURST,
    PRINTED_BURST,
    REST,
    STDERR_CHUNK,
    StderrSample,
    StderrTail,
    drain,
)


def tail_of(*chunks):
    tail = StderrTail()
    for chunk in chunks:
        tail.feed(chunk)
    return tail


def test_lines_are_returned_in_order_without_empty_ones():
    tail = tail_of(b"one\n\ntw", b"o\r\nthr", b"ee")
    assert tail.lines() == ("one", "two", "three")
    assert tail.last == "three"


def test_a_progress_bar_counts_as_its_last_version():
    assert tail_of(b"10 %\r20 %\r30 %\r\nnext\rnow").lines() == ("30 %", "now")


def test_colors_are_removed_and_other_control_characters_made_visible():
    assert tail_of(b"\x1b[31mred\x1b[0m \x1b]0;title\x07\n").lines() == ("red ␛]0;title␇",)


def test_a_long_line_is_truncated():
    (line,) = tail_of(b"x" * 10_000 + b"\n").lines()
    assert line == "x" * LINE_LIMIT + "…"


def test_only_the_newest_output_is_kept():
    tail = StderrTail()
    for number in range(100_000):
        tail.feed(b"line %d\n" % number)
    lines = tail.lines()
    assert lines[-1] == tail.last == "line 99999"
    assert KEPT // 20 < len(lines) < KEPT // 5
    assert all(line.startswith("line ") for line in lines)


def test_only_the_end_of_an_endless_line_is_shown():
    tail = tail_of(b"x" * 1_000_000, b"y" * 50_000, b" z" * 10_000)
    assert tail.last.startswith("… 1.1 MB without a line break omitted … z z")


@pytest.mark.parametrize("size", [1, 1000, 65_536, 700_000])
def test_only_the_middle_of_a_long_line_is_omitted(size: int):
    data = b"before\n" + b"start " + b"y" * 600_000 + b" end\n\nafter"
    lines = tail_of(*(data[at : at + size] for at in range(0, len(data), size))).lines()
    assert lines == ("before", "start … 600 kB without a line break omitted … end", "after")


@given(st.lists(st.sampled_from([b"a b ", b"x" * 9000, b"\n", b" c\n"]), max_size=60), st.integers(1, 9999))
def test_any_split_of_long_lines_gives_the_same_lines(parts: list[bytes], size: int):
    data = b"".join(parts)
    pieces = tail_of(*(data[at : at + size] for at in range(0, len(data), size)))
    count = min(len(pieces.lines()), len(tail_of(data).lines()))
    assert count == 0 or pieces.lines()[-count:] == tail_of(data).lines()[-count:]
    assert pieces.last == (pieces.lines() or ("",))[-1]


def test_a_flood_takes_little_cpu_time():
    tail, chunk = StderrTail(), b"WARN something happened\n" * 10_000
    started = time.process_time()
    for _ in range(1000):
        tail.feed(chunk)
    assert time.process_time() - started < 2


@given(st.lists(st.binary(max_size=50)))
def test_any_split_gives_the_same_lines(chunks):
    assert tail_of(*chunks).lines() == tail_of(b"".join(chunks)).lines()


def test_the_last_line_changes_with_new_output():
    tail = StderrTail()
    assert tail.last == ""
    tail.feed(b"x")
    assert tail.last == "x"


def test_what_is_written_after_a_signal_of_ours_is_neither_the_last_line_nor_the_reason():
    tail = tail_of(b"serving\n")
    tail.cut()
    tail.feed(b"Error: terminated\n")
    assert (tail.last, tail.reason, tail.own_lines) == ("serving", "serving", ("serving",))
    assert tail.lines() == ("serving", "Error: terminated")


def test_the_sample_contains_all_lines_while_there_are_few():
    sample = StderrSample()
    assert sample.lines(b"one\ntw", 1.0) + sample.lines(b"o\n", 2.0) == [b"one", b"two"]
    assert sample.omitted == 0


def test_the_sample_omits_a_flood_and_counts_it():
    sample, chunk = StderrSample(), b"x" * 1023 + b"\n"
    noted = sum(len(sample.lines(chunk, 1.0)) for _ in range(1000))
    assert noted == NOTED_BURST // len(chunk)
    assert sample.omitted == (1000 - noted) * len(chunk)
    assert sample.lines(b"later\n", 100.0) == [b"later"]


@pytest.mark.parametrize(("line", "lines"), [(b"x" * 39 + b"\n", 50_000), (b"x" * 66_000, 300)])
async def test_a_flood_is_read_in_few_large_chunks(line: bytes, lines: int):
    reading, writing = os.pipe()

    def flood() -> None:
        with os.fdopen(writing, "wb", 0) as pipe:
            for _ in range(lines):
                pipe.write(line)

    heard: list[int] = []
    reader = PipeReader(os.fdopen(reading, "rb", 0), STDERR_CHUNK)
    server, began = threading.Thread(target=flood), time.monotonic()
    server.start()
    await drain(reader, lambda chunk: heard.append(len(chunk)))
    reads_at_most = (time.monotonic() - began) / REST + 1
    server.join()
    reader.close()
    assert sum(heard) == len(line) * lines
    assert len(heard) <= reads_at_most


def test_a_line_truncated_for_the_recording_ends_with_a_complete_word():
    sample = StderrSample()
    (line,) = sample.lines(b"x" * (LINE_LIMIT - 10) + b" configured-value\n", 0.0)
    assert line.startswith(b"x" * (LINE_LIMIT - 10) + b" ") and b"config" not in line


def test_the_kept_parts_of_a_long_line_begin_and_end_with_complete_words():
    for at in range(-20, 20):
        for place in (LINE_LIMIT // 3 + at, KEPT - LINE_LIMIT // 3 + at):
            line = bytearray(b"x " * (KEPT // 2))
            line[place : place + 18] = b" configured-value "
            (shown,) = tail_of(bytes(line)).lines()
            assert "config" not in shown.replace("configured-value", "")
            assert "value" not in shown.replace("configured-value", "")


def test_a_truncated_line_without_word_boundaries_is_omitted():
    assert tail_of(b"configured-value" * KEPT).lines() == ("… 1.0 MB without a line break omitted",)
    (line,) = StderrSample().lines(b"configured-value" * LINE_LIMIT + b"\n", 0.0)
    assert line.decode() == " … (a line of 66 kB)"


# ---- lines of stdout ------------------------------------------------------------------------------------


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
    for number in range(10_000):
        tail.printed(b"%d " % number + random.Random(number).randbytes(4))
    lines = tail.lines()
    assert lines[0] == tail.reason == "error: the reason" and sum(map(len, lines)) < KEPT
    assert PRINTED_BURST < len(lines) < 2 * PRINTED_BURST
