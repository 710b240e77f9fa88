"""Messages from any transport to the gate; lines of stdout are in `test_stdout_reader`."""

from types import SimpleNamespace

import pytest

from tui.host.frames import message_reader
from tui.host.frames.id_gate import Gate
from tui.host.frames.inbox import Inbox
from tui.host.frames.message_reader import SLICE_SECONDS, MessageReader


class Day:
    """A clock that advances only with work and waits, and the pauses that were made."""

    def __init__(self, monkeypatch):
        self.now = self.worked = 0.0
        self.pauses = []
        clocks = SimpleNamespace(thread_time=lambda: self.worked, perf_counter=lambda: self.now)
        monkeypatch.setattr(message_reader, "time", clocks)
        monkeypatch.setattr(message_reader, "asyncio", SimpleNamespace(sleep=self.sleep))

    async def sleep(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds

    async def read(self, messages, seconds):
        messages.begin()
        self.now += seconds
        self.worked += seconds
        await messages.rest()


@pytest.mark.parametrize(
    ("worked", "idle", "paused"), [(1 / 4, 0, 1 / 4), (1 / 10, 1 / 20, 1 / 20), (1 / 50, 1 / 10, 0)]
)
async def test_reading_takes_at_most_half_of_the_time_and_idle_time_replaces_the_pause(
    monkeypatch, worked, idle, paused
):
    day, inbox = Day(monkeypatch), Inbox()
    messages = MessageReader(Gate(inbox, lambda message: None), inbox)
    for _ in range(1000):
        await day.read(messages, SLICE_SECONDS * worked)
        day.now += SLICE_SECONDS * idle
    assert sum(day.pauses) == pytest.approx(1000 * SLICE_SECONDS * paused, rel=0.2)
