import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.jsonrpc.framing import MAX_ID, Event, EventCutter

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


@pytest.mark.parametrize(
    ("said", "used"),
    [
        (b"0", 500),
        (b"1", 500),
        (b"2000", 2000),
        (b"999999999", 60_000),
        (b"9" * 5000, 60_000),
        (b"-1", None),
        (b"1.5", None),
        (b"soon", None),
        (b"", None),
        ("\u0663".encode(), None),
    ],
)
def test_the_delay_that_a_server_asks_for_is_bounded(said: bytes, used: int | None):
    cutter = EventCutter(1000)
    list(cutter.feed(b"retry: " + said + b"\n\n"))
    assert cutter.retry_ms == used


@given(
    st.lists(st.binary(max_size=8).filter(lambda line: not set(line) & set(b"\r\n")), max_size=9),
    st.integers(0, 30),
)
def test_data_of_several_lines_is_joined_and_kept_up_to_the_limit(lines: list[bytes], kept: int):
    (*found,) = cut([b"".join(b"data: " + line + b"\n" for line in lines) + b"\n"], kept)
    whole = b"\n".join(lines)
    assert found == ([Event("", "", whole[:kept], len(whole))] if lines else [])


def test_many_empty_lines_of_data_take_no_more_memory_than_their_bytes():
    cutter = EventCutter(16 * 2**20)
    tracemalloc.start()
    for _ in range(10):
        list(cutter.feed(b"data:\n" * 2000))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 100_000  # 160,000 as a list


def last_id(stream: bytes) -> bytes | None:
    cutter = EventCutter(1000)
    for _ in cutter.feed(stream):
        pass
    return cutter.last_id


@pytest.mark.parametrize("ident", ["caf\u00e9", "\u7b2c1", "\u202e" + "z" * 900, 'a "b" c'])
def test_the_id_of_the_last_event_is_kept_in_its_own_bytes(ident: str) -> None:
    assert last_id(f"id: {ident}\ndata: x\n\n".encode()) == ident.encode()


def test_an_id_that_is_not_utf_8_is_kept_in_its_own_bytes() -> None:
    assert last_id(b"id: caf\xe9\xff\n\n") == b"caf\xe9\xff"


def test_an_id_is_trimmed_as_a_header_is() -> None:
    assert last_id(b"id: \t x y \t\n\n") == b"x y"


@pytest.mark.parametrize(
    "ident", [b"a\x00b", b"\x0bc", b"\x1b[2J", b"\x7f", b"x" * (MAX_ID + 1)], ids=lambda one: repr(one[:5])
)
def test_an_id_that_no_header_can_carry_is_ignored(ident: bytes) -> None:
    assert last_id(b"id: " + ident + b"\n\n") is None
    assert last_id(b"id: 1\n\nid: " + ident + b"\n\n") == b"1"


def test_an_empty_id_resets_the_last_one_and_an_event_without_an_id_keeps_it() -> None:
    assert last_id(b"id: 1\n\ndata: x\n\n") == b"1"
    assert last_id(b"id: 1\n\nid\n\n") == b""


def test_an_id_of_an_unfinished_event_does_not_count() -> None:
    assert last_id(b"id: 1\n\nid: 2\ndata: x\n") == b"1"


def test_a_line_that_begins_an_object_begins_an_event_where_no_empty_lines_are_sent() -> None:
    cutter = EventCutter(1000, json_lines=True)
    stream = b'data: {"a":1}\ndata: {"b":\ndata: 2}\ndata: [DONE]\n'
    assert [event.data for event in cutter.feed(stream)] == [b'{"a":1}', b'{"b":\n2}']
    assert [event.data for event in cutter.close()] == [b"[DONE]"]


def test_a_last_event_without_its_empty_line_is_taken_when_asked_for() -> None:
    cutter = EventCutter(1000)
    assert list(cutter.feed(b"data: one\n\ndata: tw")) == [Event("", "", b"one", 3)]
    assert list(cutter.close()) == [Event("", "", b"tw", 2)]


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data:a\r\n\r\ndata:b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b": comment\n\ndata: a\n\n", ["a"]),
        (b"event: message\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"database: a\n\n", []),
        (b"<html></html>", []),
    ],
)
def test_the_data_of_events_is_extracted(raw: bytes, events: list[str]) -> None:
    assert [event.data.decode("utf-8", "replace") for event in cut([raw])] == events
