"""Lines from the client and to it are recorded as they are."""

import asyncio
import os

import pytest

from tui.addons.agent import wire
from tui.addons.agent.wire import Lines, Output
from tui.core.traffic import Captured, Direction


async def lines_of(raw: bytes, seen: list[Captured]) -> list[str]:
    reading, writing = os.pipe()
    os.write(writing, raw)
    os.close(writing)
    return [line async for line in Lines(reading, seen.append)]


async def test_lines_are_passed_on_and_recorded():
    seen: list[Captured] = []
    assert await lines_of(b'{"a":1}\r\n\n\xff\nend', seen) == ['{"a":1}\r\n', "\ufffd\n", "end"]
    assert [one.raw for one in seen] == [b'{"a":1}', b"\xff", b"end"]
    assert {one.direction for one in seen} == {Direction.OUT}


async def test_a_line_that_is_too_long_is_split(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "LONGEST_LINE", 4)
    assert await lines_of(b"abcdef\n", []) == ["abcd", "ef\n"]


async def test_output_is_written_at_once_and_recorded():
    seen: list[Captured] = []
    reading, writing = os.pipe()
    output = Output(writing, seen.append, lambda: None)
    await output.write('{"ä":1}\n')
    assert os.read(reading, 100).decode() == '{"ä":1}\n'
    assert [(one.direction, one.raw.decode()) for one in seen] == [(Direction.IN, '{"ä":1}')]
    os.close(reading)
    output.close()


async def test_a_client_that_takes_no_more_ends_the_lines():
    reading, writing = os.pipe()
    from_client, to_us = os.pipe()
    lines = Lines(from_client, lambda captured: None)
    output = Output(writing, lambda captured: None, lines.end)
    os.close(reading)
    await output.write("x\n")
    assert [line async for line in lines] == []
    os.close(to_us)
    assert await asyncio.to_thread(lines.join, 10)
    output.close()
