"""When a lost stream is opened again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.host.frames import reconnection
from tui.host.frames.reconnection import LONGEST_SECONDS, REOPENS, Reconnection


class Stream:
    """A stream with a clock of its own."""

    def __init__(self, **how):
        self.now = 0.0
        self.again = Reconnection(now=lambda: self.now, **how)

    def ends(self, lived=None, *, delivers=False):
        """Return the delay after it ended; `lived` is None if it could not be opened."""
        if lived is not None:
            self.again.opened()
            self.now += lived
        if delivers:
            self.again.delivered()
        return self.again.seconds()


def test_the_delays_grow_up_to_a_minute():
    stream = Stream()
    assert [stream.ends() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize("worked", [{"lived": 5}, {"lived": 0, "delivers": True}])
def test_they_start_over_once_a_stream_lived_longer_than_the_last_delay_or_delivered(worked):
    stream = Stream()
    assert [stream.ends(), stream.ends(), stream.ends()] == [1, 2, 4]
    assert not stream.again.is_ordinary
    assert stream.ends(**worked) == 1 and stream.again.is_ordinary


def test_a_stream_that_ends_at_once_does_not_count_as_one_that_worked():
    stream = Stream()
    assert [stream.ends(0.5) for _ in range(3)] == [1, 2, 4]


def test_the_server_can_ask_for_the_first_delay():
    stream = Stream()
    stream.again.asked_for(200)
    assert [stream.ends(), stream.ends()] == [0.2, 0.4]
    stream.again.asked_for(None)
    assert stream.ends(10) == 1


def test_a_longer_delay_that_the_server_asks_for_counts_while_it_fails():
    stream = Stream()
    assert stream.ends() == 1
    stream.again.asked_for(10_000)
    assert [stream.ends(), stream.ends()] == [10, 20]


def test_a_connection_is_given_up_after_tries_in_vain():
    stream = Stream(gives_up=True)
    assert stream.ends(100) == 1
    assert None not in [stream.ends() for _ in range(REOPENS)]
    assert stream.ends() is None


async def test_a_stream_is_opened_until_it_is_over_or_too_many_tries_were_in_vain(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.0)
    opened = []

    async def twice():
        opened.append("twice")
        return len(opened) < 2

    async def in_vain():
        opened.append("in vain")
        return True

    await Reconnection().keep_open(twice)
    await Reconnection(gives_up=True).keep_open(in_vain)
    assert opened == ["twice"] * 2 + ["in vain"] * (REOPENS + 1)


@given(st.lists(st.tuples(st.none() | st.floats(0, 1000), st.booleans())))
def test_a_delay_is_never_longer_than_a_minute_and_never_none_without_giving_up(lives):
    stream = Stream()
    for lived, delivers in lives:
        assert 1 <= stream.ends(lived, delivers=delivers) <= LONGEST_SECONDS
