"""Faults between mcptui and a server over HTTP+SSE: one call fails with one sentence, nothing else.

The faults are those of Streamable HTTP that can occur here: on the request that carries a message, and
on the stream that carries the responses.
"""

import asyncio
import contextlib
import json
import re
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.http_server import ECHO, event, http_server
from tests.protocol.test_http_faults import CHECK, FAULTS, MIB, SLOW, Sink, call, text
from tests.unit.host.transports.test_http_sse import SseServer
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, ServerState, Transport
from tui.host.host import Host

ON_THE_REQUEST = [
    "cut-at-once",
    "cut-in-the-head",
    "cut-in-the-body",
    "redirect",
    "400",
    "401",
    "403",
    "404",
    "429",
    "429-for-long",
    "503",
    "500",
    "48-mb-body",
]


class Held(SseServer):
    """Answers calls of `slow` once `release` is set, and those of `echo` with `fault`, if set."""

    def __init__(self, server):
        super().__init__(server)
        self.release = asyncio.Event()
        self.fault = None

    async def answer(self, asked, writer):
        if asked.method != "tools/call" or self.fault is None:
            await super().answer(asked, writer)
        elif asked.message["params"]["name"] == "slow":
            await self.accept(asked, writer)
            await writer.drain()
            await self.release.wait()
            await self.say(result_of(asked))
        else:
            await self.fault(asked, writer)

    async def say(self, message):
        self.streams[-1].write(event(message))
        await self.streams[-1].drain()


def result_of(asked):
    said = [{"type": "text", "text": json.dumps(asked.message["params"].get("arguments"))}]
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": said}}


@asynccontextmanager
async def stage():
    async with http_server(modern=False, tools=[ECHO, SLOW]) as server:
        stream, sink = Held(server), Sink()
        spec = ServerSpec("far", transport=Transport.SSE, url=server.url)
        host = Host([spec], sink=sink, clock=MonotonicClock())
        await host.start("far")
        try:
            yield server, stream, host, sink
        finally:
            await host.shutdown()


async def goes_on(stream, host, other):
    """Check that the other call and the next one are answered, and that the server was not restarted."""
    stream.release.set()
    assert text(await other) == '{"n": 1}'
    stream.fault = None
    assert text(await call(host, n=2)) == '{"n": 2}'
    status = host.status("far")
    assert (status.state, status.restarts, len(stream.streams)) == (ServerState.RUNNING, 0, 1)


@pytest.mark.parametrize("name", ON_THE_REQUEST)
async def test_a_fault_of_the_request_fails_one_call_with_one_sentence(name):
    fault, sentence = FAULTS[name]
    async with stage() as (server, stream, host, sink):
        stream.fault = fault
        other = asyncio.create_task(call(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        said = text(await call(host))
        assert re.search(sentence, said), said
        assert len(sink.given_up()) == 1
        assert server.methods().count("tools/call") == 2
        await goes_on(stream, host, other)


async def garbage(stream, asked):
    stream.streams[-1].write(b"data: \xff\xfe{]\n\n")
    await stream.say(result_of(asked))


async def other_id(stream, asked):
    await stream.say({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}})
    await stream.say(result_of(asked))


async def twice(stream, asked):
    await stream.say(result_of(asked))
    await stream.say(result_of(asked))


@pytest.mark.parametrize("fault", [garbage, other_id, twice])
async def test_invalid_events_on_the_stream_are_ignored(fault):
    async with stage() as (server, stream, host, _):

        async def broken(asked, writer):
            await stream.accept(asked, writer)
            await fault(stream, asked)

        stream.fault = broken
        other = asyncio.create_task(call(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        assert text(await call(host, n=3)) == '{"n": 3}'
        await goes_on(stream, host, other)


async def test_a_request_echoed_on_the_stream_fails_its_call():
    async with stage() as (server, stream, host, _):

        async def echoed(asked, writer):
            await stream.accept(asked, writer)
            await stream.say(asked.message)

        stream.fault = echoed
        other = asyncio.create_task(call(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        said = text(await call(host, seconds=20))
        assert re.search(FAULTS["echo"][1], said), said
        await goes_on(stream, host, other)


async def test_an_event_of_64_mib_fails_its_call():
    async with stage() as (server, stream, host, _):

        async def large(asked, writer):
            await stream.accept(asked, writer)
            await writer.drain()
            head = json.dumps(result_of(asked))[:-2] + ',"_meta":{"x":"'
            with contextlib.suppress(ConnectionError):
                stream.streams[-1].write(b"data: " + head.encode())
                for _ in range(64):
                    stream.streams[-1].write(b"x" * MIB)
                    await stream.streams[-1].drain()
                stream.streams[-1].write(b'"}}}\n\n')
                await stream.streams[-1].drain()

        stream.fault = large
        other = asyncio.create_task(call(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        said = text(await call(host))
        assert re.search(r"^result too large: HTTP 20\d .* with 67 MB \(limit: 17 MB\)\. Request", said), said
        await goes_on(stream, host, other)


async def test_a_stream_that_ends_fails_pending_calls_and_is_reopened():
    async with stage() as (_, stream, host, _):

        async def ended(asked, writer):
            await stream.accept(asked, writer)
            await writer.drain()
            stream.drop()

        stream.fault = ended
        said = text(await call(host))
        assert re.search(rf"^HTTP 200: the event stream ended without a response\. {CHECK}$", said), said
        stream.fault = None
        await until(lambda: len(stream.streams) == 2)
        assert text(await call(host, n=2)) == '{"n": 2}'
        status = host.status("far")
        assert (status.state, status.restarts) == (ServerState.RUNNING, 0)


async def test_an_answer_after_twenty_thousand_notifications_arrives_and_all_are_recorded():
    async with stage() as (_, stream, host, sink):

        async def flood(asked, writer):
            await stream.accept(asked, writer)
            note = {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": "x"},
            }
            for _ in range(200):
                stream.streams[-1].write(event(note) * 100)
                await stream.streams[-1].drain()
            await stream.say(result_of(asked))

        stream.fault = flood
        assert text(await call(host, n=4)) == '{"n": 4}'
        assert sum(b'"notifications/message"' in one.raw for one in sink) == 20_000
