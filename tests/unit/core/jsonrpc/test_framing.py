import itertools
import time
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.jsonrpc.framing import EDGE, Framer, Oversize


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


def test_a_line_of_exactly_the_limit_is_kept():
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
    assert framer.partial == 64 << 16
    assert len(framer.opening) == EDGE


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
