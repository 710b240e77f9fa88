"""What the SDK sees, and what is hidden from it."""

import asyncio
import sys
from pathlib import Path

import pytest
from mcp import ClientSession, MCPError
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from tests.conftest import until
from tests.hosts import called, far, running
from tests.http_server import ECHO, http_server
from tui.core.jsonrpc.messages import Failure, Notification, Request, Response
from tui.core.servers import ServerSpec
from tui.core.tools import TextContent
from tui.host.frames.inbox import Inbox
from tui.host.sdk.sdk_bridge import LISTEN, SdkBridge, header_map, parameter_headers
from tui.host.transports.streams import ReadStream, WriteStream

SERVER = Path(__file__).parents[3] / "corpus" / "faults" / "crlf.py"
DECLARED = {PROTOCOL_VERSION_META_KEY: "2026-07-28", CLIENT_CAPABILITIES_META_KEY: {"roots": {}}}


@pytest.fixture
def heard():
    return []


@pytest.fixture
def wire(heard):
    return bridge_over(bool, lambda method, params: heard.append(method))


def bridge_over(put, heard=lambda *_: None, **more):
    return SdkBridge(ReadStream(Inbox()), WriteStream(put), heard, **more)


def asked_by_session(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.parametrize(
    ("said", "versions"),
    [
        ({"protocolVersion": "2099-01-01"}, ("2099-01-01",)),
        ({"supportedVersions": ["2026-07-28", 5]}, ("2026-07-28",)),
        ({"protocolVersion": 5}, ()),
        ({}, ()),
    ],
)
def test_the_protocol_versions_named_by_a_server_are_noted(wire, said, versions):
    wire.outgoing(asked_by_session("initialize"))
    wire.incoming(Response(1, said))
    assert wire.server_versions == versions


def test_the_protocol_versions_named_in_a_rejection_are_noted(wire):
    wire.outgoing(asked_by_session("server/discover"))
    wire.incoming(Failure(1, -32022, "no", {"supported": ["2031-01-01"]}))
    assert wire.server_versions == ("2031-01-01",)


def test_every_notification_is_reported_and_none_reaches_the_session(wire, heard):
    assert wire.incoming(Notification("notifications/tools/list_changed")) is None
    assert heard == ["notifications/tools/list_changed"]


# ---- our requests ---------------------------------------------------------------------------------------


class Wire:
    """Requests over a connection that keeps the sent messages."""

    def __init__(self, protocol="2025-11-25", takes=True, stamp=None):
        self.sent = []
        self.headers = []
        self.reports = []
        self.takes = takes
        self.bridge = bridge_over(self.put, stamp=lambda modern: stamp or {})
        self.bridge.outgoing(asked_by_session("server/discover", _meta=DECLARED))
        self.bridge.protocol = protocol

    def put(self, message, headers):
        self.sent.append(message)
        self.headers.append(headers)
        return self.takes

    async def call(self, progress=True, **meta):
        """Start a call; return its task and its id."""
        params = {"name": "echo", "arguments": {"a": 1}} | ({"_meta": meta} if meta else {})
        report = (lambda *what: self.reports.append(what)) if progress else None
        task = asyncio.create_task(self.bridge.request("tools/call", params, report))
        await asyncio.sleep(0)
        return task, self.sent[-1]["id"]

    def answer(self, name, result):
        return self.bridge.incoming(Response(name, result))

    def fail(self, name, **error):
        return self.bridge.incoming(Failure(name, **error))

    def progress(self, **params):
        return self.bridge.incoming(Notification("notifications/progress", params))

    async def end(self, task=None):
        """Close the connection, which fails a pending request."""
        await self.bridge.__aexit__()
        if task is not None:
            with pytest.raises(MCPError, match="Connection closed"):
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
        "_meta": {"trace": "00-1", "level": "mine", **DECLARED, "progressToken": name},
    }
    await wire.end(task)


async def test_a_request_without_anything_to_declare_has_no_meta(calls):
    task, _ = await calls.call(progress=False)
    assert calls.sent[0]["params"] == {"name": "echo", "arguments": {"a": 1}}
    await calls.end(task)


@pytest.mark.parametrize(
    ("version", "repeated"),
    [("2026-07-28", {"mcp-method": "tools/call", "mcp-name": "echo"}), ("2025-11-25", {})],
)
async def test_a_modern_request_repeats_its_method_and_name_in_headers(version, repeated):
    wire = Wire(version)
    task, _ = await wire.call()
    assert wire.headers == [{"mcp-protocol-version": version, **repeated}]
    await wire.end(task)


async def test_an_error_of_the_server_is_raised_as_the_session_raises_it(calls):
    task, name = await calls.call()
    assert calls.fail(name, code=-32602, message="no such tool", data={"name": "echo"}) is None
    with pytest.raises(MCPError) as raised:
        await task
    error = raised.value
    assert (error.code, error.message, error.data) == (-32602, "no such tool", {"name": "echo"})


async def test_responses_to_requests_of_the_session_are_left_to_it(calls):
    assert calls.answer(7, {"x": 1}) == Response(7, {"x": 1})
    assert calls.fail(7, code=1, message="x") is not None


async def test_cancelling_a_request_also_cancels_it_on_the_server(calls):
    task, name = await calls.call()
    task.cancel()
    assert calls.answer(name, {"content": []}) is None  # meanwhile, which is harmless
    assert calls.fail(name, code=1, message="x") is None
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
    with pytest.raises(MCPError, match="Connection closed"):
        await task


@pytest.mark.parametrize("end", ["result", "error", "cancelled by the server"])
async def test_a_change_stream_is_open_from_its_acknowledgement_to_its_end(end):
    wire, seen = Wire("2026-07-28"), []
    asked = {"notifications": {"toolsListChanged": True}}
    stream = asyncio.create_task(wire.bridge.request(LISTEN, asked, opened=seen.append))
    await until(lambda: wire.sent)
    name = wire.sent[0]["id"]
    for meta in ({"io.modelcontextprotocol/subscriptionId": name}, {}, [], None):
        wire.bridge.incoming(
            Notification(
                "notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": {"a": 1}}
            )
        )
    assert seen == [{"a": 1}] and not stream.done()
    if end == "result":
        wire.answer(name, {})
    elif end == "error":
        wire.fail(name, code=-32601, message="no")
    else:
        wire.bridge.incoming(Notification("notifications/cancelled", {"requestId": name}))
    await asyncio.wait({stream}, timeout=5)
    assert (stream.exception() is None) is (end == "result")


@pytest.mark.parametrize("end", ["cancelled", "closed"])
async def test_a_request_that_the_server_cancels_or_leaves_is_not_answered(calls, monkeypatch, end):
    asked = asyncio.Event()

    async def never(*_, **__):
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(calls.bridge.requests, "answer", never)
    calls.bridge.incoming(Request(7, "roots/list"))
    await asked.wait()
    if end == "cancelled":
        calls.bridge.incoming(Notification("notifications/cancelled", {"requestId": "7"}))
    await calls.end()
    assert calls.sent == [] and calls.bridge._replying == {}


async def test_a_number_and_its_text_are_two_requests_of_the_server(calls, monkeypatch):
    cancelled = []

    async def never(*_, asked):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(asked)

    monkeypatch.setattr(calls.bridge.requests, "answer", never)
    for known in (1, "1"):
        calls.bridge.incoming(Request(known, "roots/list"))
    await asyncio.sleep(0)
    for known in (1, "1"):
        calls.bridge.incoming(Notification("notifications/cancelled", {"requestId": known}))
        await asyncio.sleep(0)
    assert cancelled == [1, "1"]
    await calls.end()


async def test_an_internal_error_is_an_answer_too(calls, monkeypatch, caplog):
    monkeypatch.setattr(calls.bridge.requests, "answer", None)
    calls.bridge.incoming(Request(7, "roots/list"))
    await until(lambda: calls.sent)
    assert calls.sent[0]["error"]["code"] == -32603 and "internal error" in caplog.text


async def result_of(spec, arguments, **more):
    """Call the only tool of a server; return its result."""
    async with running(spec, **more) as host:
        return await called(host, **arguments)


def local(path):
    return ServerSpec("srv", sys.executable, (str(path),))


@pytest.mark.parametrize("name", ["echo", " écho "])
@pytest.mark.parametrize("modern", [True, False])
async def test_a_request_over_http_sends_what_the_session_would(modern, name, monkeypatch):
    """Seen with mcp 2.3: another version may add something else to its requests."""
    meta, headers = {}, {}

    def by_session(client, *args, **more):
        data = {"method": "tools/call", "params": {"name": name, "arguments": {"text": "ä"}}}
        client._stamp(data, options := {})
        meta.update(data["params"].get("_meta", {}))
        headers.update(options["headers"])

    adopt = ClientSession.adopt

    def adopted(client, result):
        adopt(client, result)
        by_session(client)

    monkeypatch.setattr(ClientSession, "adopt", adopted)
    tool = ECHO | {"name": name, "inputSchema": schema(text={"type": "string", "x-mcp-header": "Text"})}
    async with http_server(modern=modern, tools=[tool]) as server:
        spec = far(server)
        assert not (await result_of(spec, {"text": "ä"})).is_error
        assert (await result_of(spec, {"text": float("nan")})).content == (TextContent('{"text": null}'),)
    call = next(one for one in server.asked if one.method == "tools/call")
    sent = call.message["params"].get("_meta", {})
    assert sent.pop("progressToken") == call.message["id"]
    assert sent == meta and headers.items() <= call.headers.items()
    assert ("mcp-param-text" in call.headers) is modern


async def test_arguments_that_are_not_json_are_sent_as_null():
    result = await result_of(local(SERVER), {"x": float("nan")})
    assert result.content == (TextContent('{"x": null}'),)


# ---- arguments in headers -------------------------------------------------------------------------------


def schema(**properties):
    return {"type": "object", "properties": properties}


REGION = {"type": "string", "x-mcp-header": "Region"}


def test_annotated_arguments_are_sent_as_headers():
    wanted = header_map(schema(region=REGION, at=schema(day={"type": "integer", "x-mcp-header": "Day"})))
    assert parameter_headers(wanted, {"region": "eu", "at": {"day": 7}}) == {
        "Mcp-Param-Region": "eu",
        "Mcp-Param-Day": "7",
    }
    assert parameter_headers(wanted, {"region": "Zürich\n"}) == {
        "Mcp-Param-Region": "=?base64?WsO8cmljaAo=?="
    }
    assert parameter_headers(wanted, [1]) == parameter_headers(wanted, None) == {}


def test_an_invalid_header_annotation_is_rejected_with_the_reason():
    assert "not an RFC 9110 token" in header_map(schema(a={"type": "string", "x-mcp-header": "no good"}))
    assert "integer/string/boolean" in header_map(schema(a={"type": "number", "x-mcp-header": "X"}))


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


def test_an_argument_that_no_header_can_carry_is_refused_with_a_reason():
    wanted = header_map(schema(region=REGION))
    with pytest.raises(MCPError, match="not sent: an argument contains an invalid character"):
        parameter_headers(wanted, {"region": "\ud800"})
