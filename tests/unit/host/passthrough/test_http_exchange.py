from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tui.host.passthrough.http_exchange import Event, EventCutter

STREAM = (
    b'\xef\xbb\xbfevent: message\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    b": comment\n\ndata:two\rretry: 5\r\r"
)
EVENTS = [Event("message", "7", b'{"a":\n1}', 8), Event("", "", b"two", 3)]


def cut(blocks: list[bytes], kept: int = 1000) -> list[Event]:
    cutter = EventCutter(kept)
    return [event for block in blocks for event in cutter.feed(block)]


def test_a_stream_is_split_into_events():
    assert cut([STREAM]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_events(cuts: list[int]):
    places = [0, *sorted(cuts), len(STREAM)]
    assert cut([STREAM[a:b] for a, b in pairwise(places)]) == EVENTS


def test_only_line_feeds_and_carriage_returns_end_a_line():
    data = "a\x0b\x0c\x1c\x1e\x85\u2028b".encode()
    assert cut([b"data: " + data + b"\n\n"]) == [Event("", "", data, len(data))]


@given(st.lists(st.binary(max_size=50), max_size=10))
def test_garbage_is_ignored(blocks: list[bytes]):
    cut(blocks)


def test_only_the_head_and_the_size_of_large_data_are_kept():
    (event,) = cut([b"data: " + b"x" * 300_000 + b"\n\n"], kept=10)
    assert (event.data, event.size) == (b"x" * 10, 300_000)


def test_an_unfinished_event_is_dropped():
    assert cut([b"data: half"]) == []
