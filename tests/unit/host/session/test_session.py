"""Requests of both sides over one connection."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.conftest import until
from tests.hosts import called, far, running
from tests.http_server import ECHO, STREAM, event, http_server
from tests.unit.host.client import Client
from tests.unit.host.transports.test_streamable_http import remote
from tui.core.jsonrpc.messages import Failure, Notification, Request, Response, write_line
from tui.core.jsonrpc.protocol import LISTEN, SUBSCRIPTION_KEY
from tui.core.questions import Questioner
from tui.core.servers import ServerSpec
from tui.host.frames.id_gate import CONNECTION_CLOSED, random_id
from tui.host.frames.inbox import WITHDRAWN, Inbox
from tui.host.frames.link import Link, RequestError
from tui.host.session.server_requests import ADDRESS_DONE, ServerRequests
from tui.host.session.session import Session

RPC = {"jsonrpc": "2.0"}
SERVER = Path(__file__).parents[3] / "corpus" / "faults" / "crlf.py"


@pytest.fixture
def heard():
    return []


@pytest.fixture
async def wire(heard):
    wire = Wire()
    wire.session = session_over(bool, lambda method, params: heard.append(method))
    return wire


def session_over(send, heard=lambda *_: None, **more):
    requests = ServerRequests(ServerSpec("srv"), Questioner())
    return Session(Link(Inbox(), lambda *sent: bool(send(*sent)), random_id), heard, requests, **more)


def test_every_notification_is_reported(wire, heard):
    wire.session.take(Notification("notifications/tools/list_changed"))
    assert heard == ["notifications/tools/list_changed"]


async def test_a_withdrawal_ends_questions_and_nobody_else_hears_of_it(wire, heard, monkeypatch):
    withdrawn = []
    monkeypatch.setattr(wire.session.requests.questioner, "withdraw", withdrawn.append)
    monkeypatch.setattr(wire.session.requests, "visited", lambda known: heard.append(known))
    wire.session.take(Notification(WITHDRAWN, {"requestId": 7}))
    wire.session.take(Notification(ADDRESS_DONE, {"elicitationId": "e"}))
    assert withdrawn == [7] and heard == [ADDRESS_DONE, "e"]


# ---- our requests ---------------------------------------------------------------------------------------


class Wire:
    """Requests over a connection that keeps the sent messages."""

    def __init__(self, protocol="2025-11-25", takes=True, stamp=None):
        self.sent = []
        self.headers = []
        self.reports = []
        self.takes = takes
        self.session = session_over(self.put, stamp=lambda modern: stamp or {})
        self.session.version = protocol

    def put(self, message, headers):
        self.sent.append(message)
        self.headers.append(headers())
        return self.takes

    async def call(self, progress=True, **meta):
        """Start a call; return its task and its id."""
        params = {"name": "echo", "arguments": {"a": 1}} | ({"_meta": meta} if meta else {})
        report = (lambda *what: self.reports.append(what)) if progress else None
        task = asyncio.create_task(self.session.request("tools/call", params, report))
        await asyncio.sleep(0)
        return task, self.sent[-1]["id"]

    def answer(self, name, result):
        return self.session.take(Response(name, result))

    def fail(self, name, **error):
        return self.session.take(Failure(name, **error))

    def progress(self, **params):
        return self.session.take(Notification("notifications/progress", params))

    async def end(self, task=None):
        """Close the connection, which fails a pending request."""
        await self.session.end()
        if task is not None:
            with pytest.raises(RequestError, match="Connection closed"):
                await task


@pytest.fixture
async def calls():
    return Wire()


async def test_a_modern_request_declares_the_version_and_the_client_and_has_our_own_stamp():
    wire = Wire("2026-07-28", stamp={"level": "info", "trace": "00-1"})
    task, name = await wire.call(level="mine")
    (message,) = wire.sent
    assert (message["jsonrpc"], message["method"]) == ("2.0", "tools/call")
    assert message["params"] == {
        "name": "echo",
        "arguments": {"a": 1},
        "_meta": {
            "trace": "00-1",
            "level": "mine",
            **wire.session.envelope("2026-07-28"),
            "progressToken": name,
        },
    }
    await wire.end(task)


@pytest.mark.parametrize("params", [{}, {"name": "echo", "arguments": {"a": 1}}])
async def test_a_request_without_anything_to_declare_has_no_meta_but_always_params(calls, params):
    task = asyncio.create_task(calls.session.request("m", params | {"_meta": {}}))
    await asyncio.sleep(0)
    assert calls.sent[0]["params"] == params
    await calls.end(task)


async def test_the_answer_may_arrive_while_its_request_is_sent():
    wire = Wire()
    wire.session = session_over(lambda message, headers: wire.answer(message["id"], {"a": 1}) or True)
    assert await wire.session.request("m", {}) == {"a": 1}


async def test_an_error_that_looks_like_a_closed_connection_is_told_from_one(calls):
    task, name = await calls.call()
    calls.fail(name, code=CONNECTION_CLOSED, message="busy")
    with pytest.raises(RequestError, match="busy"):
        await task
    assert not calls.session.closed.is_set()
    task, name = await calls.call()
    calls.fail(name, code=CONNECTION_CLOSED, message="bye")
    await asyncio.sleep(0)
    assert not task.done()
    calls.session.closed.set()
    with pytest.raises(RequestError, match="bye"):
        await task


@pytest.mark.parametrize(
    ("version", "repeated"),
    [("2026-07-28", {"mcp-method": "tools/call", "mcp-name": "echo"}), ("2025-11-25", {})],
)
async def test_a_modern_request_repeats_its_method_and_name_in_headers(version, repeated):
    wire = Wire(version)
    task, _ = await wire.call()
    assert wire.headers == [repeated]
    await wire.end(task)


async def test_an_error_of_the_server_is_raised(calls):
    task, name = await calls.call()
    calls.fail(name, code=-32602, message="no such tool", data={"name": "echo"})
    with pytest.raises(RequestError) as raised:
        await task
    error = raised.value
    assert (error.code, error.message, error.data) == (-32602, "no such tool", {"name": "echo"})


async def test_cancelling_a_request_also_cancels_it_on_the_server(calls):
    task, name = await calls.call()
    task.cancel()
    calls.answer(name, {"content": []})  # meanwhile, which is harmless
    calls.fail(name, code=1, message="x")
    await calls.end()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls.sent[-1]["method"] == "notifications/cancelled"
    assert calls.sent[-1]["params"]["requestId"] == name


async def test_valid_progress_is_reported_until_the_response_arrives(calls):
    task, name = await calls.call()
    calls.progress(progressToken=name, progress=1, total=4, message="half")
    calls.progress(progressToken=name, progress=-0.5, total="many", message=7)
    for value in (True, "NaN", float("nan"), float("inf"), 10**400, [], {}, None):
        calls.progress(progressToken=name, progress=value)
    calls.answer(name, {})
    await task
    calls.progress(progressToken=name, progress=3)
    assert calls.reports == [(1.0, 4.0, "half"), (-0.5, None, "")]


async def test_a_failing_progress_callback_is_only_logged(caplog, calls):
    calls.reports = None
    task, name = await calls.call()
    calls.progress(progressToken=name, progress=1)
    calls.answer(name, {})
    await task
    assert "a progress callback failed" in caplog.text


async def test_the_end_of_the_connection_fails_pending_and_later_requests(calls):
    task, _ = await calls.call()
    await calls.end(task)
    later, _ = await calls.call()
    await calls.end(later)
    assert len(calls.sent) == 1


async def test_a_request_that_cannot_be_written_fails_at_once():
    task, _ = await Wire(takes=False).call()
    with pytest.raises(RequestError, match="Connection closed"):
        await task


@pytest.mark.parametrize("end", ["result", "error", "cancelled by the server"])
async def test_a_change_stream_is_open_from_its_acknowledgement_to_its_end(end):
    wire, seen = Wire("2026-07-28"), []
    asked = {"notifications": {"toolsListChanged": True}}
    stream = asyncio.create_task(wire.session.request(LISTEN, asked, heard=lambda *said: seen.append(said)))
    await until(lambda: wire.sent)
    name = wire.sent[0]["id"]
    method, own = "notifications/subscriptions/acknowledged", {SUBSCRIPTION_KEY: name}
    for meta in (own, {}, [], None):
        wire.session.take(Notification(method, {"_meta": meta, "notifications": {"a": 1}}))
    assert seen == [(method, {"_meta": own, "notifications": {"a": 1}})] and not stream.done()
    if end == "result":
        wire.answer(name, {})
    elif end == "error":
        wire.fail(name, code=-32601, message="no")
    else:
        wire.session.take(Notification("notifications/cancelled", {"requestId": name}))
    await asyncio.wait({stream}, timeout=5)
    assert (stream.exception() is None) is (end == "result")


async def test_messages_of_a_stream_are_all_heard_in_order_whatever_else_waits():
    wire, seen = Wire("2026-07-28"), []
    stream = asyncio.create_task(
        wire.session.request("events/stream", {}, heard=lambda method, params: seen.append(params["n"]))
    )
    await until(lambda: wire.sent)
    inbox, meta = wire.session._link.inbox, {SUBSCRIPTION_KEY: wire.sent[0]["id"]}
    for number in range(10_000):
        inbox.put(Notification("notifications/message"))
        inbox.put(Notification("notifications/events/event", {"_meta": meta, "n": number}))
    assert seen == [*range(10_000)]
    stream.cancel()


async def test_a_listener_that_fails_ends_neither_its_stream_nor_the_session(caplog):
    wire = Wire("2026-07-28")
    stream = asyncio.create_task(wire.session.request("events/stream", {}, heard=lambda *_: 1 / 0))
    await until(lambda: wire.sent)
    name = wire.sent[0]["id"]
    wire.session.take(Notification("notifications/events/event", {"_meta": {SUBSCRIPTION_KEY: name}}))
    wire.answer(name, {"resultType": "complete"})
    assert await stream == {"resultType": "complete"}
    assert "a listener of a stream failed" in caplog.text


@pytest.mark.parametrize("end", ["cancelled", "closed"])
async def test_a_request_that_the_server_cancels_or_leaves_is_not_answered(calls, monkeypatch, end):
    asked = asyncio.Event()

    async def never(*_, **__):
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(calls.session.requests, "answer", never)
    calls.session.take(Request(7, "roots/list"))
    await asked.wait()
    if end == "cancelled":
        calls.session.take(Notification("notifications/cancelled", {"requestId": 7}))
        await until(lambda: not calls.session._replying)
    await calls.end()
    assert calls.sent == [] and calls.session._replying == {}


@pytest.mark.parametrize("written", [str, float])
async def test_a_server_may_return_ids_as_another_type(written, monkeypatch):
    begun, cancelled, reports = asyncio.Event(), asyncio.Event(), []

    async def never(*_, **__):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def call(asked, writer):
        token = {"progressToken": written(asked.message["id"]), "progress": 1}
        writer.write(STREAM + b"\r\n" + event({**RPC, "id": 7, "method": "roots/list"}))
        await begun.wait()
        for method, params in (("cancelled", {"requestId": written(7)}), ("progress", token)):
            writer.write(event({**RPC, "method": f"notifications/{method}", "params": params}))
        await cancelled.wait()
        writer.write(event({**RPC, "id": written(asked.message["id"]), "result": {"content": []}}))
        await writer.drain()
        writer.close()

    async with http_server(modern=False, answers={"tools/call": call}) as server:
        async with Client(remote(server)) as client:
            monkeypatch.setattr(client.session.requests, "answer", never)
            await client.session.request("tools/call", {"name": "echo"}, lambda *done: reports.append(done))
        assert reports == [(1.0, None, "")]
        assert not [one for one in server.asked if one.message.get("id") == 7]


async def test_a_number_and_its_text_are_two_requests_of_the_server(calls, monkeypatch):
    cancelled = []

    async def never(*_, asked):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(asked)

    monkeypatch.setattr(calls.session.requests, "answer", never)
    for known in (1, "1"):
        calls.session.take(Request(known, "roots/list"))
    await asyncio.sleep(0)
    for known in (1, "1"):
        calls.session.take(Notification("notifications/cancelled", {"requestId": known}))
        await asyncio.sleep(0)
    assert cancelled == [1, "1"]
    await calls.end()


async def test_two_requests_with_one_id_are_both_ended(calls, monkeypatch):
    ended = []

    async def never(method, *_, **__):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(method)

    monkeypatch.setattr(calls.session.requests, "answer", never)
    for method in ("roots/list", "sampling/createMessage"):
        calls.session.take(Request(7, method))
    await asyncio.sleep(0)
    await calls.end()
    assert ended == ["roots/list", "sampling/createMessage"]


async def test_a_ping_is_answered_at_once(calls):
    calls.session.take(Request("p", "ping"))
    assert calls.sent == [{"jsonrpc": "2.0", "id": "p", "result": {}}]


async def test_an_internal_error_is_an_answer_too(calls, monkeypatch, caplog):
    monkeypatch.setattr(calls.session.requests, "answer", None)
    calls.session.take(Request(7, "roots/list"))
    await until(lambda: calls.sent)
    assert calls.sent[0]["error"]["code"] == -32603 and "internal error" in caplog.text


def schema(**properties):
    return {"type": "object", "properties": properties}


async def result_of(spec, arguments, **more):
    """Call the only tool of a server; return its result."""
    async with running(spec, **more) as host:
        return await called(host, **arguments)


def local(path):
    return ServerSpec("srv", sys.executable, (str(path),))


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "\ud800"])
async def test_arguments_that_are_not_json_are_refused_and_leave_nothing_pending(value):
    wire = Wire()
    wire.session = session_over(lambda message, headers: write_line(message))
    with pytest.raises(RequestError, match="not sent: "):
        await wire.session.request("tools/call", {"arguments": {"x": value}})
    assert wire.session._waiting == {}


async def test_a_call_with_arguments_that_are_not_json_is_not_sent_and_the_next_one_is():
    async with running(local(SERVER)) as host:
        refused = await called(host, x=float("nan"))
        assert refused.is_error and "Not sent: the values cannot be encoded as JSON" in str(refused.content)
        assert not (await called(host, x=1)).is_error


async def test_a_tool_with_an_invalid_header_annotation_is_omitted_with_the_reason():
    tools = [ECHO, ECHO | {"name": "bad", "inputSchema": schema(a={"type": "string", "x-mcp-header": ""})}]
    async with http_server(tools=tools) as server, running(far(server)) as host:
        assert [tool.name for tool in host.toolbox.tools()] == ["echo"]
        ((name, why),) = host.status("far").quarantined
        assert name == "bad" and why.startswith("its headers are invalid: ")


async def test_for_an_older_server_header_annotations_are_ignored():
    tools = [ECHO | {"inputSchema": schema(a={"type": "string", "x-mcp-header": ""})}]
    async with http_server(modern=False, tools=tools) as server, running(far(server)) as host:
        assert [tool.name for tool in host.toolbox.tools()] == ["echo"]


@pytest.mark.parametrize("ends_itself", [True, False])
async def test_only_a_connection_that_the_server_ends_counts_as_closed(ends_itself):
    wire, inbox = Wire(), Inbox()
    wire.session = Session(Link(inbox, wire.put, random_id), lambda *_: None, wire.session.requests)
    reading = asyncio.create_task(wire.session.run())
    await asyncio.sleep(0)
    if ends_itself:
        inbox.close()
    else:
        await wire.session.end()
    await reading
    assert wire.session.closed.is_set() is ends_itself
    await wire.session.end()
