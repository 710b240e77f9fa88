"""One direction of a tap."""

import fcntl
import os
import select
import sys

import pytest

from tui.commands.tap.passthrough import CHUNK, LARGE_CHUNK, Outlet, Relay

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has pipes of any size")


@pytest.fixture
def ends():
    """A relay between two pipes: the end to write to, the relay, the end to read from."""
    (source, into), (out, sink) = os.pipe(), os.pipe()
    relay = Relay(1, source, Outlet(sink, ours=True), select.poll())
    yield into, relay, out
    relay.close()
    os.close(into)
    os.close(out)


def room(descriptor):
    return fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)


def test_small_messages_do_not_change_the_pipe_sizes(ends):
    into, relay, out = ends
    sizes = room(into), room(out)
    seen = []
    os.write(into, b"x" * (CHUNK - 1))
    relay.pump(lambda stream, at, data: seen.append(data))
    assert os.read(out, CHUNK) == seen[0] == b"x" * (CHUNK - 1)
    assert (room(into), room(out)) == sizes


def test_a_full_chunk_enlarges_both_pipes(ends):
    into, relay, out = ends
    seen = []
    os.write(into, b"x" * CHUNK)
    relay.pump(lambda stream, at, data: seen.append(data))
    assert (room(into), room(out)) == (LARGE_CHUNK, LARGE_CHUNK)
    assert os.read(out, LARGE_CHUNK) == b"x" * CHUNK
    os.write(into, b"y" * LARGE_CHUNK)
    relay.pump(lambda stream, at, data: seen.append(data))
    assert os.read(out, LARGE_CHUNK) == b"y" * LARGE_CHUNK
    assert [len(data) for data in seen] == [CHUNK, LARGE_CHUNK]


def test_pipes_are_never_shrunk(ends):
    into, relay, _ = ends
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 2 * LARGE_CHUNK)
    os.write(into, b"x" * CHUNK)
    relay.pump(lambda stream, at, data: None)
    assert room(into) == 2 * LARGE_CHUNK


def test_bytes_that_do_not_fit_wait_until_there_is_room(ends):
    into, relay, out = ends
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 2 * LARGE_CHUNK)
    data = os.urandom(CHUNK + LARGE_CHUNK)
    os.write(into, data)
    for _ in range(2):
        relay.pump(lambda stream, at, data: None)
    assert relay.waiting
    got = os.read(out, LARGE_CHUNK)
    relay.push()
    assert not relay.waiting
    assert got + os.read(out, LARGE_CHUNK) == data
