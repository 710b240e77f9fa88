import hashlib

from hypothesis import given
from hypothesis import strategies as st

from tui.commands.tap.passthrough import ERRORS, FROM_SERVER, TO_SERVER
from tui.commands.tap.passthrough_lines import PassthroughLines
from tui.core.traffic import Captured, Direction, Kind


def all_of(lines: PassthroughLines, chunks: list[bytes], stream: int = FROM_SERVER) -> list[Captured]:
    found = [one for at, chunk in enumerate(chunks, 1) for one in lines.feed(stream, at, chunk)]
    return [*found, *lines.feed(stream, len(chunks) + 1, b"")]


def bytes_of(found: list[Captured]) -> list[bytes]:
    return [one.raw for one in found if one.kind is not Kind.EVENT]


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\r", b"\n")), max_size=8))
def test_any_split_of_the_bytes_gives_the_same_lines(chunks: list[bytes]):
    chunks = [chunk for chunk in chunks if chunk]
    whole = b"".join(chunks)
    expected = whole.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert bytes_of(all_of(PassthroughLines("s", 0), chunks)) == expected


@given(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=6), st.integers(1, 50))
def test_a_long_line_is_kept_as_its_head_size_and_digest(chunks: list[bytes], kept: int):
    chunks = [chunk.replace(b"\n", b"x") for chunk in chunks]
    whole = b"".join(chunks)
    line = all_of(PassthroughLines("s", 0, kept), chunks)[0]
    assert line.raw == whole[:kept]
    if len(whole) > kept:
        assert line.size == len(whole)
        assert line.detail["sha256"] == hashlib.sha256(whole).hexdigest()
    else:
        assert line.size == -1
        assert "sha256" not in line.detail


def test_streams_are_separated_and_directions_named_from_the_host():
    lines = PassthroughLines("s", 0)
    assert not list(lines.feed(TO_SERVER, 1, b"half"))
    (log,) = lines.feed(ERRORS, 2, b"log\n")
    (out,) = lines.feed(FROM_SERVER, 3, b"answer\n")
    (request,) = lines.feed(TO_SERVER, 4, b" a line\n")
    assert (log.direction, log.kind, log.raw) == (Direction.NONE, Kind.STDERR, b"log")
    assert (out.direction, out.kind, out.raw) == (Direction.IN, None, b"answer")
    assert (request.direction, request.raw) == (Direction.OUT, b"half a line")


def test_a_line_has_the_time_at_which_it_was_complete():
    lines = PassthroughLines("s", 1000)
    list(lines.feed(FROM_SERVER, 5, b"a"))
    first, second = lines.feed(FROM_SERVER, 9, b"b\nc\n")
    assert (first.mono_ns, first.wall_ns) == (9, 1009)
    assert (second.mono_ns, second.wall_ns) == (9, 1009)


def test_the_end_of_a_stream_is_reported_once_with_the_unfinished_line():
    lines = PassthroughLines("s", 0)
    *_, last, end = all_of(lines, [b"no newline"])
    assert (last.raw, last.detail) == (b"no newline", {"newline": False})
    assert end.detail == {"event": "end", "stream": "stdout"}
    assert [event.detail["stream"] for event in lines.finish(9)] == ["stdin", "stderr"]
