import itertools
import time
import tracemalloc
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.jsonrpc.framing import EDGE, MAX_ID, Event, EventCutter, Framer, Oversize, is_event_stream


def frames(chunks: list[bytes], limit: int = 16) -> list[bytes | Oversize]:
    framer = Framer(limit)
    lines = [line for chunk in chunks for line in framer.feed(chunk)]
    last = framer.finish()
    return lines if last is None else [*lines, last]


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


streams = st.lists(
    st.sampled_from([b"a", b"{}", b"\n", b"\r", b"\r\n", b"0123456789abcdef", b"\xff\x00"])
).map(b"".join)


@given(streams, st.lists(st.integers(0, 10_000)))
def test_any_split_of_the_bytes_gives_the_same_lines(data, cuts):
    assert frames(pieces(data, cuts)) == frames([data])


@given(st.lists(st.binary(max_size=16).filter(lambda line: b"\n" not in line and b"\r" not in line)))
def test_every_line_within_the_limit_is_unchanged(lines):
    assert frames([b"".join(line + b"\n" for line in lines)]) == lines


def test_a_line_is_returned_byte_for_byte_including_the_carriage_return_of_a_crlf():
    assert frames([b"one\r", b"\ntwo\r\n"]) == [b"one\r", b"two\r"]
    assert frames([b"x" * 16 + b"\n" + b"y" * 15 + b"\r\n"]) == [b"x" * 16, b"y" * 15 + b"\r"]


def test_a_longer_line_is_reported_with_both_ends_and_the_next_line_is_read():
    lines = frames([b"0123456789" * 5, b"\nnext\n"])
    whole = sha256(b"0123456789" * 5).hexdigest()
    assert lines == [Oversize(b"0123456789012345", b"4567890123456789", 50, whole), b"next"]


def test_an_unfinished_line_is_returned_at_the_end_of_the_stream():
    framer = Framer()
    assert framer.feed(b'{"a":') == []
    assert (framer.partial, framer.opening) == (5, b'{"a":')
    assert framer.finish() == b'{"a":'
    assert framer.finish() is None


def test_only_the_ends_of_an_oversize_line_are_kept():
    framer = Framer(limit=1 << 20)
    for _ in range(64):
        framer.feed(b"x" * (1 << 16))
    assert framer.partial == 64 << 16 and len(framer.opening) == EDGE


@pytest.mark.parametrize("chunk", [1 << 16, 64])
def test_reading_a_long_line_takes_linear_time(chunk):
    def seconds(size: int) -> float:
        framer, piece = Framer(), b"x" * chunk
        started = time.process_time()
        for _ in range(size // chunk):
            framer.feed(piece)
        return time.process_time() - started

    small = max(seconds(1 << 20), 0.001)
    assert seconds(8 << 20) < 40 * small


STREAM = (
    b'\xef\xbb\xbfevent: message\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    b": comment\n\ndata:two\rretry: 5\r\r"
)
EVENTS = [Event("message", "7", b'{"a":\n1}', 8), Event("", "", b"two", 3)]


def cut(blocks: list[bytes], kept: int = 1000) -> list[Event]:
    cutter = EventCutter(kept)
    return [event for block in blocks for event in cutter.feed(block)]


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


RETRIES = [(b"0", 500), (b"1", 500), (b"2000", 2000), (b"999999999", 60_000), (b"9" * 5000, 60_000)]
RETRIES += [(said, None) for said in (b"-1", b"1.5", b"soon", b"", "\u0663".encode())]


@each_case(("said", "used"), RETRIES)
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
    for _ in range(5):
        list(cutter.feed(b"data:\n" * 2000))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 50_000  # 80,000 as a list


def last_id(stream: bytes) -> bytes | None:
    cutter = EventCutter(1000)
    list(cutter.feed(stream))
    return cutter.last_id


@each_case(
    "ident", ["caf\u00e9".encode(), "\u202e".encode() + b"z" * 900, b'a "b" c', b"caf\xe9\xff", b"\t x y \t"]
)
def test_the_id_of_the_last_event_is_kept_in_its_own_bytes_and_trimmed(ident: bytes) -> None:
    assert last_id(b"id: " + ident + b"\ndata: x\n\n") == ident.strip()


@each_case("ident", [b"a\x00b", b"\x0bc", b"\x1b[2J", b"\x7f", b"x" * (MAX_ID + 1)])
def test_an_id_that_no_header_can_carry_is_ignored(ident: bytes) -> None:
    assert last_id(b"id: " + ident + b"\n\n") is None
    assert last_id(b"id: 1\n\nid: " + ident + b"\n\n") == b"1"


def test_an_empty_id_resets_the_last_one_and_an_event_without_an_id_keeps_it() -> None:
    assert last_id(b"id: 1\n\ndata: x\n\n") == b"1"
    assert last_id(b"id: 1\n\nid\n\n") == b""
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


@each_case(
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
        (b"data: half", []),
    ],
)
def test_the_data_of_events_is_extracted(raw: bytes, events: list[str]) -> None:
    assert [event.data.decode("utf-8", "replace") for event in cut([raw])] == events


def test_other_bodies_are_not_event_streams() -> None:
    assert is_event_stream(b": ping\n\ndata: {}\n\n")
    assert not is_event_stream(b'{"choices": []}') and not is_event_stream(b"")
