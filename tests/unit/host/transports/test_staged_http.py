"""HTTP whose messages pass stages."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.conftest import until
from tui.core.traffic import Direction
from tui.host.frames.stage import PassOn
from tui.host.frames.tap import WireTap
from tui.host.transports.staged_http import StagedHttp

URL = "http://127.0.0.1/mcp"
MISMATCH = {"code": -32001, "message": "m"}
BOTH = "application/json, text/event-stream"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}
PROGRESS = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}'


class Holding:
    """A stage that holds the messages of a direction, and changes those of the other."""

    def __init__(self, direction: Direction = Direction.NONE) -> None:
        self.is_idle, self.direction = False, direction
        self.change: Callable[[bytes], bytes] = lambda raw: raw
        self.held: list[tuple[bytes, PassOn]] = []

    def begin(self) -> None: ...

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        if direction is self.direction:
            self.held.append((raw, pass_on))
        else:
            pass_on(direction, self.change(raw) if direction is Direction.OUT else raw)

    def release(self, direction: Direction) -> None: ...


class Server(httpx2.AsyncBaseTransport):
    """Answers every request, and remembers it."""

    def __init__(self, answer: Callable[[], httpx2.Response] | None = None) -> None:
        self.asked: list[httpx2.Request] = []
        self._answer = answer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        if self._answer is not None:
            return self._answer()
        message = json.loads(request.content)
        result = {"tools": [{"name": "weather", "inputSchema": SCHEMA}]} if message["id"] == 1 else {}
        return json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})


def json_response(message: dict[str, Any], status: int = 200) -> httpx2.Response:
    raw = json.dumps(message).encode()
    headers = {"content-type": "application/json", "content-length": str(len(raw))}
    return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(raw))


def client_of(server: Server, stage: Holding, **more: Any) -> httpx2.AsyncClient:
    staged = StagedHttp(server, "s", [stage], WireTap("s", lambda captured: None), **more)
    return httpx2.AsyncClient(transport=staged)


def call(**params: Any) -> bytes:
    asked = {"_meta": {"progressToken": 7}, "name": "weather", **params}
    return json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}).encode()


async def test_the_headers_of_a_request_follow_what_was_changed_in_it() -> None:
    stage, server = Holding(), Server()
    stage.is_idle = True  # a breakpoint may be set after the tools were listed
    headers = {"mcp-protocol-version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "weather"}
    async with client_of(server, stage) as client:
        listed = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        await client.post(URL, content=listed, headers={**headers, "Mcp-Method": "tools/list"})
        stage.is_idle = False
        stage.change = lambda raw: raw.replace(b"Oslo", b"Bergen")
        more = {**headers, "Mcp-Param-City": "Oslo", "x-other": "1"}
        await client.post(URL, content=call(arguments={"city": "Oslo"}), headers=more)
        stage.change = lambda raw: raw.replace(b"weather", b"other")
        await client.post(URL, content=call(arguments={"city": "Oslo"}), headers=more)
    _, moved, renamed = (one.headers for one in server.asked)
    names = ("mcp-method", "mcp-name", "mcp-param-city", "x-other")
    assert [moved.get(name) for name in names] == ["tools/call", "weather", "Bergen", "1"]
    assert [renamed.get(name) for name in names] == ["tools/call", "other", None, "1"]


async def test_while_a_response_is_held_its_client_gets_progress_in_an_event_stream() -> None:
    stage = Holding(Direction.IN)
    async with client_of(Server(), stage) as client:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(client.post(URL, content=call(), headers={"accept": BOTH}))
            await until(lambda: bool(stage.held))
            raw, pass_on = stage.held[0]
            assert (pass_on.hears(Direction.IN), pass_on.hears(Direction.OUT)) == (True, False)
            pass_on(Direction.IN, PROGRESS)
            await asyncio.sleep(0)
            pass_on(Direction.IN, raw)
    response = asking.result()
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream")
    assert response.content == b"event: message\ndata: %b\n\nevent: message\ndata: %b\n\n" % (PROGRESS, raw)


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        (lambda: httpx2.Response(401), {"code": -32603, "message": "The server answered with HTTP 401"}),
        (
            lambda: json_response(
                {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "m"}}, 400
            ),
            {"code": -32001, "message": "m"},
        ),
    ],
)
async def test_a_refusal_after_progress_is_an_error_of_the_request(
    refused: Any, told: dict[str, Any]
) -> None:
    stage = Holding(Direction.OUT)
    async with client_of(Server(refused), stage) as client, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.post(URL, content=call(), headers={"accept": BOTH}))
        await until(lambda: bool(stage.held))
        raw, pass_on = stage.held[0]
        pass_on(Direction.IN, PROGRESS)
        await asyncio.sleep(0)
        pass_on(Direction.OUT, raw)
    last = asking.result().text.split("data: ")[-1]
    assert json.loads(last) == {"jsonrpc": "2.0", "id": 2, "error": told}


@pytest.mark.parametrize(("accept", "method"), [("application/json", "tools/call"), (BOTH, "initialize")])
async def test_a_response_that_cannot_be_a_stream_has_no_progress(accept: str, method: str) -> None:
    stage = Holding(Direction.IN)
    async with client_of(Server(), stage) as client, asyncio.TaskGroup() as tasks:
        body = call().replace(b"tools/call", method.encode())
        asking = tasks.create_task(client.post(URL, content=body, headers={"accept": accept}))
        await until(lambda: bool(stage.held))
        raw, pass_on = stage.held[0]
        assert not pass_on.hears(Direction.IN)
        pass_on(Direction.IN, raw)
    assert asking.result().content == raw


@pytest.mark.parametrize("direction", [Direction.OUT, Direction.IN])
async def test_our_own_session_is_told_progress_beside_the_response(direction: Direction) -> None:
    stage, heard = Holding(direction), list[bytes]()

    async def told(raw: bytes) -> None:
        heard.append(raw)

    async with client_of(Server(), stage, told=told) as client, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.post(URL, content=call(), headers={"accept": BOTH}))
        await until(lambda: bool(stage.held))
        raw, pass_on = stage.held[0]
        assert pass_on.hears(Direction.IN)
        pass_on(Direction.IN, PROGRESS)
        await until(lambda: bool(heard))
        pass_on(direction, raw)
    assert heard == [PROGRESS]
    assert asking.result().headers["content-type"] == "application/json"


async def test_progress_while_an_event_is_held_has_no_id_and_the_event_follows() -> None:
    stage = Holding(Direction.IN)
    said = b'id: 4\ndata: {"jsonrpc":"2.0","id":2,"result":{}}\n\n'
    kind = {"content-type": "text/event-stream"}
    server = Server(lambda: httpx2.Response(200, headers=kind, stream=httpx2.ByteStream(said)))
    async with client_of(server, stage) as client, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.post(URL, content=call(), headers={"accept": BOTH}))
        await until(lambda: bool(stage.held))
        raw, pass_on = stage.held[0]
        pass_on(Direction.IN, PROGRESS)
        pass_on(Direction.IN, raw)
    assert asking.result().content == b"event: message\ndata: " + PROGRESS + b"\n\n" + said


async def test_a_message_that_is_sent_beside_the_request_has_nothing_to_do_with_its_client() -> None:
    stage, server = Holding(Direction.OUT), Server()
    async with client_of(server, stage) as client, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.post(URL, content=call(), extensions={"known": 1}))
        await until(lambda: bool(stage.held))
        raw, pass_on = stage.held[0]
        pass_on(Direction.OUT, raw)
        pass_on(Direction.OUT, raw)
        await asking
        await until(lambda: len(server.asked) == 2)
    assert sorted("known" in one.extensions for one in server.asked) == [False, True]


async def test_the_request_of_a_client_that_leaves_after_progress_is_over() -> None:
    stage = Holding(Direction.OUT)
    async with client_of(Server(), stage) as client:
        request = client.build_request("POST", URL, content=call(), headers={"accept": BOTH})
        sending = asyncio.create_task(client.send(request, stream=True))
        await until(lambda: bool(stage.held))
        _, pass_on = stage.held[0]
        pass_on(Direction.IN, PROGRESS)
        response = await sending
        assert not pass_on.is_gone
        await response.aclose()
        assert pass_on.is_gone


async def test_a_notification_that_is_accepted_while_it_waits_is_sent_later() -> None:
    stage, server = Holding(Direction.OUT), Server(lambda: httpx2.Response(202))
    notice = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}'
    async with client_of(server, stage) as client:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(client.post(URL, content=notice))
            await until(lambda: bool(stage.held))
            stage.held[0][1].refuse(202, {})
        assert (asking.result().status_code, server.asked) == (202, [])
        stage.held[0][1](Direction.OUT, notice)
        await until(lambda: [one.content for one in server.asked] == [notice])
