"""How bytes become events."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.openai_api.reply_stream import MAX_EVENT, EventParser, TooLong


def parsed(*blocks: bytes) -> list[str]:
    parser = EventParser()
    return [event for block in blocks for event in parser.feed(block)] + parser.close()


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
        (b"data: a", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n', ['{"a":1}', '{"b":2}', "[DONE]"]),
        (b'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"database: a\n\n", []),
        (b"<html></html>", []),
    ],
)
def test_the_data_of_events_is_extracted(raw: bytes, events: list[str]) -> None:
    assert parsed(raw) == events


@given(
    st.lists(
        st.sampled_from([b"data: ", b"data:", b"{}", b"x", b"\n", b"\r", b"\r\n", b": c", "é".encode()])
    ).map(b"".join),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_splitting_the_bytes_does_not_change_the_events(raw: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    pieces = [raw[start:end] for start, end in itertools.pairwise(edges)]
    assert parsed(raw) == parsed(*pieces) == parsed(*(raw[at : at + 1] for at in range(len(raw))))


@pytest.mark.parametrize("block", [b"x" * (1 << 20), b"data: " + b"x" * (1 << 20) + b"\n"])
def test_an_endless_event_is_rejected(block: bytes) -> None:
    parser = EventParser()
    with pytest.raises(TooLong):
        for _ in range(MAX_EVENT // len(block) + 2):
            parser.feed(block)
