"""Sessions over Streamable HTTP, and the stream on which a server sends its own messages."""

import asyncio

import pytest

from tests.conftest import until
from tests.http_server import STREAM, event, http_server, reply, says
from tests.unit.host.client import Client
from tests.unit.host.transports.test_streamable_http import Sink, remote
from tui.core.background import set_within
from tui.core.jsonrpc import framing
from tui.host.frames import reconnection
from tui.host.frames.link import RequestError
from tui.host.frames.reconnection import Reconnection
from tui.host.transports import http_session, streamable_http

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(reconnection, "LONGEST_SECONDS", 0.04)


class Streams:
    """Opens streams that end after `body`; `asked` are the ids of the last events."""

    def __init__(self, body=b": hi\n\n"):
        self.body = body
        self.asked = []
        self.refusals = []

    async def __call__(self, asked, writer):
        self.asked.append(asked.headers.get("last-event-id", ""))
        if self.refusals:
            writer.write(self.refusals.pop(0))
            return
        writer.write(STREAM + b"\r\n" + self.body)
        await writer.drain()
        writer.close()


async def hang(asked, writer):
    """Never answer."""


def refusal(status):
    return reply(b"no", status, "text/plain")


@pytest.mark.parametrize("body", [b": hi\n\n", event(CHANGED), event(CHANGED, id="e1")])
async def test_a_stream_is_reopened_however_often_it_is_closed(body):
    streams = Streams(body)
    async with http_server(modern=False, answers={"GET": streams}) as server, Client(remote(server)):
        await until(lambda: len(streams.asked) > 12)


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Service Unavailable", "429 Too Many"])
async def test_a_stream_is_opened_although_the_server_was_busy_first(status):
    streams = Streams()
    streams.refusals = [refusal(status)] * 7
    async with http_server(modern=False, answers={"GET": streams}) as server, Client(remote(server)):
        await until(lambda: len(streams.asked) > 8)


async def test_a_first_call_waits_until_the_stream_is_open_on_which_the_server_may_ask(monkeypatch):
    monkeypatch.setattr(http_session, "STREAM_SECONDS", 20.0)
    called = asyncio.Event()
    early = []

    async def open_late(asked, writer):
        await set_within(called, 0.2)
        early.append(called.is_set())
        await Streams()(asked, writer)

    async def note(asked, writer):
        called.set()
        writer.write(server.usual(asked))

    answers = {"GET": open_late, "tools/call": note}
    async with http_server(modern=False, answers=answers) as server, Client(remote(server)) as client:
        assert not (await client.call_tool("echo", {})).is_error
    assert called.is_set() and early[0] is False


@pytest.mark.parametrize("status", ["405 Method Not Allowed", "403 Forbidden", "200 OK"])
async def test_a_server_without_such_a_stream_is_asked_once(status):
    refuse = says(refusal(status))
    async with http_server(modern=False, answers={"GET": refuse}) as server:
        async with Client(transport := remote(server)) as client:
            await until(lambda: "GET" in server.methods())
            await until(lambda: transport._wire._session._listening.done())
            await client.list_tools()
    assert server.methods().count("GET") == 1


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "502 Bad Gateway"])
async def test_a_stream_that_was_open_before_is_opened_again_after_a_refusal(status):
    streams = Streams()
    async with http_server(modern=False, answers={"GET": streams}) as server, Client(remote(server)):
        await until(lambda: streams.asked)
        streams.refusals = [refusal(status)] * 7
        await until(lambda: not streams.refusals)
        seen = len(streams.asked)
        await until(lambda: len(streams.asked) > seen + 1)


async def test_a_stream_that_cannot_be_resumed_is_opened_anew_and_its_messages_count_as_missed():
    sink, streams = Sink(), Streams(event(CHANGED, id="e1"))
    async with http_server(modern=False, answers={"GET": streams}) as server, Client(remote(server, sink)):
        await until(lambda: "e1" in streams.asked)
        assert not sink.events("stream opened again")
        streams.refusals = [refusal("400 Bad Request")]
        await until(lambda: sink.events("stream opened again"))


async def test_messages_before_a_stream_opens_late_count_as_missed():
    sink, streams = Sink(), Streams()
    streams.refusals = [refusal("503 Service Unavailable")]
    async with http_server(modern=False, answers={"GET": streams}) as server, Client(remote(server, sink)):
        await until(lambda: sink.events("stream opened again"))
        assert len(streams.asked) == 2


async def test_streams_that_end_without_a_message_are_reopened_less_and_less_often(monkeypatch):
    delays = []
    seconds = Reconnection.seconds

    def noted(self):
        delays.append(round(seconds(self), 3))
        return delays[-1]

    monkeypatch.setattr(Reconnection, "seconds", noted)
    monkeypatch.setattr(Reconnection, "opened", lambda self: None)  # as if each had ended at once
    monkeypatch.setattr(framing, "SHORTEST_RETRY", 10)
    streams = Streams()
    async with http_server(modern=False, answers={"GET": streams}) as server, Client(remote(server)):
        await until(lambda: len(delays) == 5)
        assert delays == [0.01, 0.02, 0.04, 0.04, 0.04]
        streams.body = event(CHANGED)
        await until(lambda: delays[-1] == 0.01)
        streams.body = b": hi\n\n"
        await until(lambda: delays[-1] == 0.04)
        streams.body = b"retry: 20\n\n"
        await until(lambda: delays[-2:] == [0.02, 0.02])


async def test_a_stream_whose_request_is_never_answered_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(reconnection, "HANDSHAKE_SECONDS", 0.1)
    sink, streams = Sink(), Streams()
    async with (
        http_server(modern=False, answers={"GET": streams}, once={"GET": hang}) as server,
        Client(remote(server, sink)),
    ):
        await until(lambda: sink.events("stream opened again"))
        assert server.methods().count("initialize") == 1


# ---- sessions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "handshakes"), [("initialize", 3), ("notifications/initialized", 2)])
async def test_a_session_is_reopened_although_a_step_of_the_handshake_is_not_answered(
    monkeypatch, step, handshakes
):
    monkeypatch.setattr(reconnection, "HANDSHAKE_SECONDS", 1.0)
    monkeypatch.setattr(streamable_http, "INITIALIZED_SECONDS", 0.1)
    async with http_server(modern=False) as server, Client(remote(server)) as client:
        await client.list_tools()
        server.sessions.clear()
        server.once[step] = hang
        assert not (await client.call_tool("echo", {})).is_error
        assert server.methods().count("initialize") == handshakes


async def test_a_session_lost_while_idle_is_reopened_although_no_handshake_is_answered_at_first(monkeypatch):
    monkeypatch.setattr(reconnection, "HANDSHAKE_SECONDS", 0.05)
    sink, streams = Sink(), Streams()

    async def stream(asked, writer):
        known = asked.headers.get("mcp-session-id") in server.sessions
        await (streams if known else says(refusal("404 Not Found")))(asked, writer)

    async with http_server(modern=False, answers={"GET": stream}) as server, Client(remote(server, sink)):
        await until(lambda: streams.asked)
        server.answers["initialize"] = hang
        server.sessions.clear()
        await until(lambda: server.methods().count("initialize") > 5)
        del server.answers["initialize"]
        await until(lambda: sink.events("session opened again"))
        seen = len(streams.asked)
        await until(lambda: len(streams.asked) > seen)


async def test_a_server_that_lost_its_session_and_now_speaks_another_version_ends_the_connection():
    async with http_server(modern=False) as server:
        async with Client(transport := remote(server)) as client:
            await client.list_tools()

            async def older(asked, writer):
                result = server.result(asked) | {"protocolVersion": "2025-06-18"}
                writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}))

            server.answers["initialize"] = older
            server.sessions.clear()
            with pytest.raises(RequestError):
                await client.call_tool("echo", {})
            await until(transport.exited.is_set)
    assert transport.fatal == "the server lost the session and now speaks another protocol version."
