import asyncio
import fcntl
import os
import sys

import pytest

from tests.conftest import until
from tui.host.process import pipes
from tui.host.process.pipes import CHUNK, LARGE_CHUNK, PipeReader, PipeWriter


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    ends = os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0)
    yield ends
    for end in ends:
        end.close()


@pytest.fixture
def reading_end(pipe):
    """Makes a reader of the pipe, which is closed in the end."""
    readers = []

    def make(*size, **more):
        readers.append(PipeReader(pipe[0], *size, **more))
        return readers[-1]

    yield make
    for reader in readers:
        reader.close()


async def waiting(reader):
    """Begin to read; return the task that waits for bytes."""
    reading = asyncio.ensure_future(reader.read())
    await asyncio.sleep(0)
    return reading


async def test_a_reader_waits_for_bytes_and_detects_the_end(pipe, reading_end):
    reader = reading_end()
    reading = await waiting(reader)
    pipe[1].write(b"hello")
    assert await reading == b"hello"
    pipe[1].close()
    assert await reader.read() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a pipe be enlarged")
async def test_a_pipe_is_enlarged_to_the_size_of_a_large_chunk(pipe, reading_end):
    reader = reading_end(256 * 1024)
    pipe[1].write(b"x" * 256 * 1024)
    assert len(await reader.read()) == 256 * 1024


async def test_closing_a_reader_ends_a_pending_read(reading_end):
    reader = reading_end()
    reading = await waiting(reader)
    reader.close()
    assert await reading == b""


async def test_after_expect_no_more_a_reader_returns_the_remaining_bytes_and_ends(pipe, reading_end):
    reader = reading_end()
    reading = await waiting(reader)
    pipe[1].write(b"last words")
    reader.expect_no_more(1000)
    assert await reading == b"last words"
    assert await reader.read() == b""


async def test_a_reader_that_waits_is_woken_once_for_some_bytes(pipe, reading_end, monkeypatch):
    attempts, read = [], os.read
    monkeypatch.setattr(pipes.os, "read", lambda *what: attempts.append(what) or read(*what))
    reader, words = reading_end(), []

    async def follow():
        while word := await reader.read():
            words.append(word)

    following = asyncio.ensure_future(follow())
    for number in range(1, 4):
        pipe[1].write(b"word")
        await until(lambda number=number: len(words) == number)
    reader.close()
    await following
    assert len(attempts) == 3


async def test_after_expect_no_more_a_reader_that_waits_gets_the_last_bytes(pipe, reading_end):
    reader = reading_end(chunk=10)
    reading = await waiting(reader)
    pipe[1].write(b"x" * 30)
    reader.expect_no_more(10)
    assert await reading == b"x" * 10 and await reader.read() == b""


async def test_after_expect_no_more_a_reader_reads_a_bounded_number_of_bytes(pipe, reading_end):
    reader = reading_end(chunk=10)
    pipe[1].write(b"x" * 100)
    reader.expect_no_more(30)
    chunks = [await reader.read() for _ in range(4)]
    assert chunks == [b"x" * 10] * 3 + [b""]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has pipes of any size")
async def test_a_full_chunk_enlarges_the_pipe(pipe, reading_end):
    reader = reading_end()
    size = fcntl.fcntl(pipe[0], fcntl.F_GETPIPE_SZ)
    pipe[1].write(b"x" * (CHUNK - 1))
    await reader.read()
    assert fcntl.fcntl(pipe[0], fcntl.F_GETPIPE_SZ) == size
    pipe[1].write(b"x" * CHUNK)
    await reader.read()
    assert fcntl.fcntl(pipe[0], fcntl.F_GETPIPE_SZ) == LARGE_CHUNK
    pipe[1].write(b"y" * LARGE_CHUNK)
    assert await reader.read() == b"y" * LARGE_CHUNK


async def test_a_cancelled_read_leaves_the_pipe_usable(pipe, reading_end):
    reader = reading_end()
    reading = await waiting(reader)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    pipe[1].write(b"still here")
    assert await reader.read() == b"still here"


async def test_a_writer_never_blocks_and_eventually_sends_everything(pipe, reading_end):
    writer = PipeWriter(pipe[1], broken=pytest.fail)
    data = os.urandom(3_000_000)
    assert writer.write(data[:2_000_000])
    assert writer.write(data[2_000_000:])
    reader = reading_end()
    got = b""
    while len(got) < len(data):
        got += await reader.read()
    assert got == data
    await writer.flushed()
    writer.close()
    assert await reader.read() == b""


async def test_a_writer_reports_once_that_its_reader_does_not_read(pipe, monkeypatch):
    monkeypatch.setattr(pipes, "STUCK_SECONDS", 0.05)
    said = []
    writer = PipeWriter(pipe[1], broken=said.append)
    writer.write(b"x" * 1_000_000)
    await until(lambda: said)
    assert said == ["it has not read its stdin for 0.05 s"]
    assert writer.closed
    assert not writer.write(b"more")
    await writer.flushed()


async def test_a_writer_reports_that_the_other_end_is_closed(pipe):
    said = []
    pipe[0].close()
    writer = PipeWriter(pipe[1], broken=said.append)
    assert not writer.write(b"x")
    assert said == ["it closed its stdin"]


async def test_a_writer_detects_a_closed_reader_without_writing(pipe):
    said = []
    writer = PipeWriter(pipe[1], broken=said.append)
    pipe[0].close()
    await until(lambda: said)
    assert (said, writer.closed) == (["it closed its stdin"], True)


async def test_the_write_buffer_is_bounded(pipe, monkeypatch):
    monkeypatch.setattr(pipes, "WAITING_LIMIT", 1_000_000)
    writer = PipeWriter(pipe[1], broken=pytest.fail)
    assert writer.write(b"x" * 500_000)
    assert not writer.write(b"x" * 900_000)
    writer.close()


async def read_all(reader: PipeReader, size: int) -> bytes:
    got = b""
    while len(got) < size:
        got += await reader.read()
    return got


async def test_what_waits_for_the_reader_can_be_withdrawn_and_the_rest_keeps_its_order(pipe, reading_end):
    writer = PipeWriter(pipe[1], broken=pytest.fail)
    large = b"1" * 300_000
    for key, data in enumerate((large, b"2", b"3" * 100_000, b"4")):
        assert writer.write(data, key)
    assert [writer.withdraw(key) for key in (1, 2, 2, "unknown")] == [True, True, False, False]
    reader = reading_end()
    assert await read_all(reader, len(large) + 1) == large + b"4"
    await writer.flushed()
    writer.close()


async def test_what_has_begun_to_be_written_cannot_be_withdrawn(pipe, reading_end):
    writer = PipeWriter(pipe[1], broken=pytest.fail)
    assert writer.write(b"x" * 300_000, "begun")
    assert not writer.withdraw("begun")
    reader = reading_end()
    assert await read_all(reader, 300_000) == b"x" * 300_000
    writer.close()


async def test_a_writer_is_flushed_once_the_only_bytes_that_wait_are_withdrawn(pipe):
    writer = PipeWriter(pipe[1], broken=pytest.fail)
    os.write(pipe[1].fileno(), b"x" * 65536)  # as much as the pipe takes
    assert writer.write(b"y", "y") and writer.withdraw("y")
    await writer.flushed()
    writer.close()


async def test_withdrawn_bytes_do_not_count_for_the_limit(pipe, monkeypatch):
    monkeypatch.setattr(pipes, "WAITING_LIMIT", 1_000_000)
    writer = PipeWriter(pipe[1], broken=pytest.fail)
    assert writer.write(b"x" * 300_000)
    assert writer.write(b"y" * 600_000, "y") and not writer.write(b"z" * 600_000)
    assert writer.withdraw("y") and writer.write(b"z" * 600_000)
    writer.close()
