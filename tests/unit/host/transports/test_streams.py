import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from tui.core.jsonrpc.messages import Failure, Notification, Request, Response
from tui.host.frames.inbox import Inbox
from tui.host.transports.streams import ReadStream, WriteStream


async def test_responses_errors_and_requests_become_types_of_the_sdk():
    inbox = Inbox()
    for frame in (
        Response(1, {"a": 1}),
        Failure(2, -5, "no", [1]),
        Request("s", "ping"),
        Notification("m", {"p": 1}),
    ):
        inbox.put(frame)
    inbox.close()
    found = [item.message async for item in ReadStream(inbox)]
    assert [type(message) for message in found] == [JSONRPCResponse, JSONRPCError, JSONRPCRequest]
    assert found[0].result == {"a": 1}
    assert (found[1].error.code, found[1].error.message, found[1].error.data) == (-5, "no", [1])


async def test_a_long_queue_does_not_starve_other_tasks():
    inbox, turns = Inbox(), 0
    for number in range(200):
        inbox.put(Response(number, {}))
    inbox.close()

    async def turn():
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        assert len([item async for item in ReadStream(inbox)]) == 200
        group.cancel_scope.cancel()
    assert turns > 5


async def test_a_closed_stream_neither_receives_nor_sends():
    inbox, sent = Inbox(), []
    message = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="m"))
    async with (
        ReadStream(inbox) as reading,
        WriteStream(lambda it, headers: bool(sent.append(it)) or True) as writing,
    ):
        await writing.send(message)
    inbox.put(Response(1, {}))
    with pytest.raises(anyio.ClosedResourceError):
        await reading.receive()
    with pytest.raises(anyio.ClosedResourceError):
        await writing.send(message)
    assert sent == [{"jsonrpc": "2.0", "method": "m"}]


async def test_values_that_json_cannot_express_fail_only_their_caller():
    sent = []
    deep = {}
    for _ in range(2000):
        deep = {"x": deep}
    writing = WriteStream(lambda message, headers: bool(sent.append(message)) or True)
    for value in (deep, object()):
        with pytest.raises(ValueError, match=r"erializ|ircular"):
            await writing.send(
                SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="m", params={"x": value}))
            )
    assert sent == []
