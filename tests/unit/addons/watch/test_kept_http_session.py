"""The sessions of hosts over HTTP live on while their server is replaced."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.conftest import until
from tui.addons.watch.kept_http import KeptHttp

URL = "http://127.0.0.1:9/mcp"
WHY = "restarted"


class Server(httpx2.AsyncBaseTransport):
    """Answers what it is asked; `got` are method and session of each request. It never answers `slow`.

    With `is_slow`, it does not begin a stream either. With `streams`, it answers the handshake with one.
    """

    def __init__(self) -> None:
        self.name, self.is_slow, self.streams = "one", False, False
        self.got: list[tuple[str, str]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(await request.aread() or b'{"id": 0, "method": "GET"}')
        method, session = asked.get("method", "answer"), request.headers.get("mcp-session-id", "")
        self.got.append((method, session))
        headers = {"content-type": "application/json"}
        if method == "slow" or (method == "GET" and self.is_slow):
            await asyncio.Event().wait()
        if method == "initialize":
            headers["mcp-session-id"] = self.name
        elif session not in ("", self.name):
            return httpx2.Response(404)
        if "id" not in asked or "method" not in asked:
            return httpx2.Response(202)
        if method in ("ask", "GET"):
            headers["content-type"] = "text/event-stream"
            question = {"jsonrpc": "2.0", "id": 5, "method": "roots/list"}
            return httpx2.Response(200, headers=headers, stream=_Endless(question))
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"server": self.name}}
        if method == "initialize":
            answer["result"] = {"capabilities": {"tools": {"listChanged": False}}}
            if self.streams:
                headers["content-type"] = "text/event-stream"
                return httpx2.Response(200, headers=headers, stream=_Endless(answer))
        return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(json.dumps(answer).encode()))


class _Endless(httpx2.AsyncByteStream):
    """A stream that brings half of an event after a message, and then no more."""

    def __init__(self, message: Any) -> None:
        self._message = message

    async def __aiter__(self):
        yield b"data: " + json.dumps(self._message).encode() + b"\n\ndata: hal"
        await asyncio.Event().wait()


class Host:
    def __init__(self) -> None:
        self.server = Server()
        self.kept = KeptHttp(self.server)
        self.kept.resume()
        self.session: str | None = None

    async def send(self, **message: Any) -> httpx2.Response:
        headers = {"mcp-session-id": self.session} if self.session else {}
        request = httpx2.Request("POST", URL, json={"jsonrpc": "2.0", **message}, headers=headers)
        response = await self.kept.handle_async_request(request)
        self.session = response.headers.get("mcp-session-id", self.session)
        return response

    async def ask(self, method: str, **params: Any) -> Any:
        response = await self.send(id=1, method=method, params=params)
        found = json.loads(await response.aread())
        return found.get("result") or found["error"]["message"]

    async def begins(self) -> None:
        await self.ask("initialize", protocolVersion="2025-11-25")
        await self.send(method="notifications/initialized")

    async def stream(self) -> AsyncIterator[bytes]:
        """Open a stream with a GET; return its blocks."""
        request = httpx2.Request("GET", URL, headers={"mcp-session-id": self.session or ""})
        response = await self.kept.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return aiter(response.stream)

    def replaced(self) -> int:
        self.kept.hold()
        failed = self.kept.lose(WHY)
        self.server.name = "two"
        self.server.got.clear()
        self.kept.resume()
        return failed


@pytest.fixture
async def host() -> Host:
    return Host()


async def test_a_host_keeps_its_session_id_and_a_new_server_gets_the_handshake(host: Host):
    await host.begins()
    await host.ask("logging/setLevel", level="debug")
    host.replaced()
    assert await host.ask("ping") == {"server": "two"}
    assert host.session == "one"
    handshake = [("initialize", ""), ("notifications/initialized", "two"), ("logging/setLevel", "two")]
    assert host.server.got == [*handshake, ("ping", "two")]


@pytest.mark.parametrize("streams", [False, True])
async def test_a_server_is_said_to_tell_of_changed_lists_as_the_tap_does(host: Host, streams: bool):
    host.server.streams = streams
    response = await host.send(id=1, method="initialize", params={})
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    assert b'"listChanged": true' in await anext(aiter(response.stream))


async def test_what_is_under_way_gets_one_error(host: Host):
    await host.begins()
    asking = asyncio.create_task(host.ask("slow"))
    await until(lambda: ("slow", "one") in host.server.got)
    assert host.replaced() == 1
    assert await asking == WHY


async def test_a_stream_is_cut_between_events_and_a_question_is_taken_back(host: Host):
    await host.begins()
    response = await host.send(id=7, method="ask")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    blocks = aiter(response.stream)
    said = [await anext(blocks)]
    host.replaced()
    said += [block async for block in blocks]
    messages = [json.loads(block.split(b"data: ")[1]) for block in said]
    assert [one.get("method") for one in messages] == ["roots/list", "notifications/cancelled", None]
    assert messages[2]["error"]["message"] == WHY
    await host.send(id=5, result={"roots": []})
    assert host.server.got == []
    await host.ask("ping")


async def test_a_question_that_was_answered_is_not_taken_back(host: Host):
    await host.begins()
    blocks = await host.stream()
    assert b"roots/list" in await anext(blocks)
    await host.send(id=5, result={"roots": []})
    host.replaced()
    assert b"roots/list" in await anext(blocks)


async def test_a_call_that_the_host_has_cancelled_does_not_fail(host: Host):
    await host.begins()
    asking = asyncio.create_task(host.ask("slow"))
    await until(lambda: ("slow", "one") in host.server.got)
    await host.send(method="notifications/cancelled", params={"requestId": 1})
    assert host.replaced() == 0
    asking.cancel()


async def test_a_stream_that_no_server_has_begun_is_begun_by_the_next_one(host: Host):
    await host.begins()
    host.server.is_slow = True
    opening = asyncio.create_task(host.stream())
    await until(lambda: ("GET", "one") in host.server.got)
    host.server.is_slow = False
    host.replaced()
    assert b"roots/list" in await anext(await opening)


async def test_requests_wait_for_a_server_and_fail_when_there_is_none(host: Host):
    host.kept.hold()
    asking = asyncio.create_task(host.ask("ping"))
    await asyncio.sleep(0)
    host.kept.fail("it exited")
    assert await asking == "it exited"
    assert await host.ask("ping") == "it exited"
    host.kept.hold()
    waiting = asyncio.create_task(host.ask("ping"))
    await asyncio.sleep(0)
    host.kept.resume()
    assert await waiting == {"server": "one"}


async def test_a_stream_goes_on_after_a_server_that_did_not_start(host: Host):
    await host.begins()
    blocks = await host.stream()
    assert b"roots/list" in await anext(blocks)
    host.kept.hold()
    host.kept.lose(WHY)
    assert b"cancelled" in await anext(blocks)
    host.kept.lose("it did not start")
    host.kept.fail("it did not start")
    host.replaced()
    assert b"roots/list" in await anext(blocks)
    assert host.server.got == [("initialize", ""), ("notifications/initialized", "two"), ("GET", "two")]
    assert await host.ask("ping") == {"server": "two"}


async def test_without_sessions_nothing_is_repeated(host: Host):
    await host.ask("server/discover")
    host.replaced()
    await host.ask("tools/list")
    assert host.server.got == [("tools/list", "")]
