"""Tool calls that bypass the SDK's session."""

import asyncio
import json
import selectors
import statistics
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PROTOCOL_VERSION_META_KEY, ErrorData

from tests.http_server import ECHO, http_server
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, Transport
from tui.core.tools import CallFailure, TextContent
from tui.core.traffic import Direction
from tui.host.host import Host
from tui.host.sdk.direct_calls import BY_SDK, DirectCalls
from tui.host.sdk.sdk_bridge import RawReply

SERVER = Path(__file__).parents[3] / "corpus" / "faults" / "crlf.py"
MODERN = {PROTOCOL_VERSION_META_KEY: "2026-07-28"}


class Wire:
    """Calls over a connection that keeps the sent messages."""

    def __init__(self, meta=None, takes=True, headers=None):
        self.sent = []
        self.headers = []
        self.reports = []
        self.takes = takes
        self.calls = DirectCalls(self.put)
        self.calls.learn(meta or {}, headers or {})

    def put(self, message, headers):
        self.sent.append(message)
        self.headers.append(headers)
        return self.takes

    async def call(self, **stamp):
        """Start a call; return its task, its ticket and its id."""
        ticket = RawReply(hollow=dict, may_be_task=True, modern=self.calls.modern)

        def report(*what):
            self.reports.append(what)

        params = {"name": "echo", "arguments": {"a": 1}}
        task = asyncio.create_task(self.calls.call(params, ticket.take, report, stamp))
        await asyncio.sleep(0)
        return task, ticket, self.sent[-1]["id"]

    async def end(self, task):
        """Close the connection, which fails a pending call."""
        self.calls.close()
        with pytest.raises(MCPError):
            await task


@pytest.fixture
async def wire():
    return Wire()


async def test_a_call_has_the_same_meta_as_a_session_request_and_our_own_stamp():
    wire = Wire(MODERN | {"mcptui/ticket": "1", "progressToken": 3})
    task, _, name = await wire.call(level="info")
    (message,) = wire.sent
    assert (message["jsonrpc"], message["method"]) == ("2.0", "tools/call")
    assert message["params"] == {
        "name": "echo",
        "arguments": {"a": 1},
        "_meta": {"level": "info", **MODERN, "progressToken": name},
    }
    await wire.end(task)


async def test_a_call_has_the_headers_of_a_session_request():
    known = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list", "mcp-name": "other"}
    wire = Wire(MODERN, headers=known)
    task, _, _ = await wire.call()
    assert wire.headers == [
        {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
    ]
    await wire.end(task)


async def test_a_call_of_the_older_era_repeats_only_the_version_in_headers():
    wire = Wire(headers={"mcp-protocol-version": "2025-11-25"})
    task, _, _ = await wire.call()
    assert wire.headers == [{"mcp-protocol-version": "2025-11-25"}]
    await wire.end(task)


async def test_the_raw_response_is_kept(wire):
    task, ticket, name = await wire.call()
    assert wire.calls.answered(name, {"content": [{"type": "hologram"}]})
    await task
    assert ticket.raw == {"content": [{"type": "hologram"}]}


async def test_a_response_that_requires_input_is_recognized():
    wire = Wire(MODERN)
    task, ticket, name = await wire.call()
    wire.calls.answered(name, {"resultType": "input_required", "inputRequests": {}})
    await task
    assert ticket.raw is None and ticket.wanted is not None


async def test_a_response_with_an_unknown_result_type_is_an_error():
    wire = Wire(MODERN)
    task, _, name = await wire.call()
    wire.calls.answered(name, {"resultType": "dream"})
    with pytest.raises(MCPError, match="unknown resultType “dream”"):
        await task


async def test_an_error_of_the_server_is_raised_as_the_session_raises_it(wire):
    task, _, name = await wire.call()
    assert wire.calls.failed(name, ErrorData(code=-32602, message="no such tool", data={"name": "echo"}))
    with pytest.raises(MCPError) as raised:
        await task
    error = raised.value
    assert (error.code, error.message, error.data) == (-32602, "no such tool", {"name": "echo"})


async def test_responses_to_requests_of_the_session_are_left_to_it(wire):
    assert not wire.calls.answered(1, {})
    assert not wire.calls.failed(None, ErrorData(code=1, message="x"))
    assert not wire.calls.progressed({"progressToken": 1, "progress": 1})


async def test_responses_are_matched_to_their_calls(wire):
    first, first_ticket, first_name = await wire.call()
    second, second_ticket, second_name = await wire.call()
    wire.calls.answered(second_name, {"n": 2})
    wire.calls.answered(first_name, {"n": 1})
    await asyncio.gather(first, second)
    assert (first_ticket.raw, second_ticket.raw) == ({"n": 1}, {"n": 2})


async def test_cancelling_a_call_also_cancels_it_on_the_server(wire):
    task, ticket, name = await wire.call()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert wire.sent[-1]["method"] == "notifications/cancelled"
    assert wire.sent[-1]["params"]["requestId"] == name
    assert not wire.calls.answered(name, {"content": []})
    assert ticket.raw is None


async def test_a_response_that_arrives_during_cancellation_is_harmless(wire):
    task, _, name = await wire.call()
    task.cancel()
    assert wire.calls.answered(name, {"content": []})
    assert wire.calls.failed(name, ErrorData(code=1, message="x"))
    wire.calls.close()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_progress_is_reported_until_the_response_arrives(wire):
    task, _, name = await wire.call()
    assert wire.calls.progressed({"progressToken": name, "progress": 1, "total": 4, "message": "half"})
    assert wire.calls.progressed({"progressToken": name, "progress": 2, "total": "many", "message": 7})
    assert wire.calls.progressed({"progressToken": name, "progress": True})
    wire.calls.answered(name, {})
    await task
    assert wire.reports == [(1.0, 4.0, "half"), (2.0, None, "")]
    assert not wire.calls.progressed({"progressToken": name, "progress": 3})


async def test_a_failing_progress_callback_is_only_logged(caplog, wire):
    wire.reports = None
    task, _, name = await wire.call()
    assert wire.calls.progressed({"progressToken": name, "progress": 1})
    wire.calls.answered(name, {})
    await task
    assert "a progress callback failed" in caplog.text


async def test_the_end_of_the_connection_fails_pending_and_later_calls(wire):
    task, _, _ = await wire.call()
    wire.calls.close()
    with pytest.raises(MCPError, match="Connection closed"):
        await task
    later, _, _ = await wire.call()
    with pytest.raises(MCPError, match="Connection closed"):
        await later
    assert len(wire.sent) == 1


async def test_a_call_that_cannot_be_written_fails_at_once():
    wire = Wire(takes=False)
    task, _, _ = await wire.call()
    with pytest.raises(MCPError, match="Connection closed"):
        await task


def test_direct_calls_are_possible_after_the_first_request_of_the_session():
    calls = DirectCalls(lambda message, headers: True)
    assert not calls.possible
    calls.learn({}, {})
    assert calls.possible


def test_a_transport_without_a_put_function_has_no_direct_calls():
    calls = DirectCalls(None)
    calls.learn({}, {})
    assert not calls.possible


def test_direct_calls_can_be_turned_off(monkeypatch):
    monkeypatch.setenv(BY_SDK, "1")
    calls = DirectCalls(lambda message, headers: True)
    calls.learn({}, {})
    assert not calls.possible


async def result_of(spec, arguments, sink=lambda *_: None):
    """Call the only tool of a server; return its result."""
    host = Host([spec], sink=sink, clock=MonotonicClock())
    await host.start_all()
    (tool,) = host.toolbox.tools()
    result = await host.toolbox.call(tool, arguments, seconds=5, progress=lambda *_: None)
    await host.shutdown()
    return result


def local(path, **env):
    return ServerSpec("srv", sys.executable, (str(path),), env=env)


def remote(server):
    return ServerSpec("srv", transport=Transport.HTTP, url=server.url)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_direct_call_sends_the_same_message_as_the_session(era, monkeypatch):
    """Seen with mcp 2.3: another version may add something else to its requests."""

    async def called():
        seen = []
        result = await result_of(local(SERVER, FAULT_ERA=era), {"text": "x"}, seen.append)
        assert result.content == (TextContent('{"text": "x"}'),)
        lines = [json.loads(one.raw) for one in seen if one.direction is Direction.OUT]
        (call,) = (line for line in lines if line["method"] == "tools/call")
        assert call.pop("id") == call["params"]["_meta"].pop("progressToken")
        return call

    direct = await called()
    monkeypatch.setenv(BY_SDK, "1")
    assert direct == await called()


@pytest.mark.parametrize("name", ["echo", " écho "])
@pytest.mark.parametrize("modern", [True, False])
async def test_a_direct_call_over_http_sends_the_same_request_as_the_session(modern, name, monkeypatch):
    properties = {"text": {"type": "string", "x-mcp-header": "Text"}}
    tool = ECHO | {"name": name, "inputSchema": {"type": "object", "properties": properties}}

    async def called():
        async with http_server(modern=modern, tools=[tool]) as server:
            result = await result_of(remote(server), {"text": "ä"})
        assert not result.is_error
        (call,) = (one for one in server.asked if one.method == "tools/call")
        assert call.message.pop("id") == call.message["params"]["_meta"].pop("progressToken")
        return call.message, {
            name: value
            for name, value in call.headers.items()
            if name not in ("host", "content-length", "mcp-session-id")
        }

    direct = await called()
    assert ("mcp-param-text" in direct[1]) is modern
    monkeypatch.setenv(BY_SDK, "1")
    assert direct == await called()


@pytest.mark.parametrize("modern", [True, False])
async def test_a_call_over_http_bypasses_the_session(modern, monkeypatch):
    monkeypatch.setattr(Client, "call_tool", None)
    async with http_server(modern=modern) as server:
        result = await result_of(remote(server), {"text": "x"})
    assert result.content == (TextContent('{"text": "x"}'),)


@pytest.mark.parametrize("modern", [True, False])
async def test_arguments_that_are_not_json_are_left_to_the_session_over_http(modern):
    async with http_server(modern=modern) as server:
        result = await result_of(remote(server), {"x": float("nan")})
    assert result.content == (TextContent('{"x": null}'),)


async def test_a_call_without_a_response_fails_when_the_server_exits():
    result = await result_of(local(SERVER.with_name("exit_mid_call.py")), {})
    assert result.failure is CallFailure.SERVER_DIED


async def test_arguments_that_are_not_json_are_left_to_the_session():
    result = await result_of(local(SERVER), {"x": float("nan")})
    assert result.content == (TextContent('{"x": null}'),)


class CountingSelector(selectors.DefaultSelector):
    """Counts the turns of its event loop."""

    turns = 0

    def select(self, timeout=None):
        self.turns += 1
        return super().select(timeout)


def test_a_call_takes_two_turns_of_the_event_loop():
    """One for the response, one for the task that called."""
    selector, took = CountingSelector(), []

    async def call_often():
        spec = ServerSpec("srv", sys.executable, (str(SERVER),))
        host = Host([spec], sink=lambda *_: None, clock=MonotonicClock())
        await host.start_all()
        (tool,) = host.toolbox.tools()
        for _ in range(20):
            before = selector.turns
            await host.toolbox.call(tool, {}, seconds=5, progress=lambda *_: None)
            took.append(selector.turns - before)
        await host.shutdown()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(call_often())
    assert statistics.median(took) == 2
