"""What the SDK sees, and what is hidden from it."""

from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    DiscoverResult,
    ErrorData,
    InitializeResult,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from tests.http_server import ECHO, HttpServer, http_server
from tests.unit.host.scripted import Script
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, Transport
from tui.core.tools import TextContent
from tui.host.host import Host
from tui.host.sdk.sdk_bridge import TICKET, RawReply, SdkBridge, header_map, parameter_headers, tidy_handshake


@pytest.fixture
def heard():
    return []


@pytest.fixture
def wire(heard):
    return SdkBridge(None, None, lambda method, params: heard.append(method))


def request(method="tools/call", request_id=1, **params):
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params))


def answer(result, request_id=1):
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result))


def notification(method, **params):
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))


def hollow_ticket():
    return RawReply(hollow=lambda raw: {"content": []})


def test_the_ticket_mark_never_reaches_the_wire(wire):
    meta = wire.issue(hollow_ticket())
    sent = wire.outgoing(request(_meta={**meta, "progressToken": 1}, name="t"))
    assert sent.message.params == {"_meta": {"progressToken": 1}, "name": "t"}


def test_an_empty_meta_is_removed(wire):
    sent = wire.outgoing(request(_meta=wire.issue(hollow_ticket()), name="t"))
    assert sent.message.params == {"name": "t"}


def test_the_raw_response_is_kept_and_the_sdk_gets_a_hollow_one(wire):
    ticket = hollow_ticket()
    wire.outgoing(request(_meta=wire.issue(ticket)))
    raw = {"content": [{"type": "hologram"}], "isError": "maybe"}
    assert wire.incoming(answer(raw)).message.result == {"content": []}
    assert ticket.raw == raw


def test_a_hollow_response_of_the_modern_era_has_the_required_fields(wire):
    meta = wire.issue(hollow_ticket()) | {PROTOCOL_VERSION_META_KEY: "2026-07-28"}
    wire.outgoing(request(_meta=meta))
    result = wire.incoming(answer({"content": []})).message.result
    assert (result["resultType"], result["ttlMs"]) == ("complete", 0)


def test_a_response_with_an_unknown_result_type_is_an_error(wire):
    meta = wire.issue(hollow_ticket()) | {PROTOCOL_VERSION_META_KEY: "2026-07-28"}
    wire.outgoing(request(_meta=meta))
    error = wire.incoming(answer({"resultType": "dream"})).message.error
    assert error.message == "the server's response is invalid: unknown resultType “dream”"


def test_result_type_is_ignored_in_older_revisions(wire):
    ticket = hollow_ticket()
    wire.outgoing(request(_meta=wire.issue(ticket)))
    wire.incoming(answer({"resultType": "dream"}))
    assert ticket.raw == {"resultType": "dream"}


def test_a_response_that_requires_input_is_kept_raw_and_the_sdk_gets_a_hollow_one(wire):
    ticket = hollow_ticket()
    wire.outgoing(request(_meta=wire.issue(ticket) | {PROTOCOL_VERSION_META_KEY: "2026-07-28"}))
    asking = {"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}}
    assert wire.incoming(answer(asking)).message.result["resultType"] == "complete"
    assert (ticket.wanted, ticket.raw) == (asking, None)


def test_a_withdrawn_ticket_keeps_nothing(wire):
    ticket = hollow_ticket()
    meta = wire.issue(ticket)
    wire.outgoing(request(_meta=meta))
    wire.withdraw(meta)
    wire.incoming(answer({"content": []}))
    assert ticket.raw is None


def test_a_response_without_a_ticket_is_unchanged(wire):
    assert wire.incoming(answer({"x": 1}, 7)).message.result == {"x": 1}


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
    wire.outgoing(request("initialize"))
    wire.incoming(answer(said))
    assert wire.server_versions == versions


def test_the_protocol_versions_named_in_a_rejection_are_noted(wire):
    wire.outgoing(request("server/discover"))
    error = ErrorData(code=-32022, message="no", data={"supported": ["2031-01-01"]})
    wire.incoming(SessionMessage(JSONRPCError(jsonrpc="2.0", id=1, error=error)))
    assert wire.server_versions == ("2031-01-01",)


@pytest.mark.parametrize("method", ["sampling/createMessage"])
def test_a_request_for_a_feature_not_offered_is_rejected_as_an_unknown_method(wire, method):
    wire.incoming(request(method, "s1"))
    refusal = JSONRPCError(jsonrpc="2.0", id="s1", error=ErrorData(code=-32600, message="no"))
    assert wire.outgoing(SessionMessage(refusal)).message.error.code == -32601


def test_other_rejections_are_unchanged(wire):
    wire.incoming(request("made/up", "s1"))
    refusal = JSONRPCError(jsonrpc="2.0", id="s1", error=ErrorData(code=-32600, message="no"))
    assert wire.outgoing(SessionMessage(refusal)).message.error.code == -32600


def test_every_notification_is_reported(wire, heard):
    wire.incoming(notification("notifications/tools/list_changed"))
    assert heard == ["notifications/tools/list_changed"]


@pytest.mark.parametrize("value", ["NaN", float("nan"), float("inf"), 10**400, [], {}])
def test_invalid_progress_never_reaches_the_sdk(wire, value):
    assert wire.incoming(notification("notifications/progress", progressToken=1, progress=value)) is None


@pytest.mark.parametrize("value", [0, -1, 0.5, 3])
def test_valid_progress_reaches_the_sdk(wire, value):
    item = notification("notifications/progress", progressToken=1, progress=value)
    assert wire.incoming(item) is item


def test_endless_requests_from_a_server_use_bounded_memory(wire):
    for number in range(5000):
        wire.incoming(request("roots/list", number))
    assert len(wire._inbound) <= 1024


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["protocolVersion", "supportedVersions", "inputRequests", "resultType", "content"]
            ),
            inner,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["protocolVersion", "resultType", "inputRequests", "x"]), json_values))
def test_any_result_of_any_request_is_processed_without_an_exception(result):
    wire = SdkBridge(None, None, lambda method, params: None)
    wire.outgoing(request("initialize", 1))
    wire.outgoing(
        request("tools/call", 2, _meta={**wire.issue(hollow_ticket()), PROTOCOL_VERSION_META_KEY: "x"})
    )
    for request_id in (1, 2, 3):
        assert wire.incoming(answer(result, request_id)) is not None


def test_the_ticket_mark_contains_exactly_one_slash():
    assert TICKET.count("/") == 1


def test_this_sdk_version_accepts_hollow_responses():
    """Written for mcp 2.3: check what the bridge relies on before raising this."""
    assert version("mcp").startswith("2.")


async def test_if_the_sdk_drops_the_mark_tools_and_calls_still_work(monkeypatch):
    """Then it validates complete responses itself, as in any other client."""
    monkeypatch.setattr(SdkBridge, "issue", lambda wire, ticket: {})
    host = Host(
        [ServerSpec("srv", "x")], sink=lambda *_: None, clock=MonotonicClock(), open_with=Script().open
    )
    await host.start_all()
    [tool] = host.toolbox.tools()
    result = await host.toolbox.call(tool, {}, seconds=5, progress=lambda *_: None)
    raw = await host.workbench.request("srv", "tools/list", {}, call="c", seconds=5)
    await host.shutdown()
    assert tool.name == "echo" and tool.schema == {"type": "object"}
    assert result.content == (TextContent("hello"),) and not result.is_error
    assert raw.result["tools"][0]["name"] == "echo"


def test_a_request_is_stamped_for_its_era_and_keeps_its_own_values():
    def stamp(modern):
        return {"level": "info"} if modern else {"traceparent": "00-1"}

    wire = SdkBridge(None, None, lambda method, params: None, stamp=stamp)
    new = wire.outgoing(request(_meta={PROTOCOL_VERSION_META_KEY: "2026-07-28", "level": "mine"}, name="t"))
    assert new.message.params["_meta"] == {PROTOCOL_VERSION_META_KEY: "2026-07-28", "level": "mine"}
    old = wire.outgoing(request(request_id=2, name="t"))
    assert old.message.params == {"name": "t", "_meta": {"traceparent": "00-1"}}
    hello = wire.outgoing(request("initialize", 3, capabilities={}))
    assert hello.message.params == {"capabilities": {}}


def test_a_change_stream_also_requests_task_updates(wire):
    asked = {"toolsListChanged": True}
    assert wire.outgoing(request("subscriptions/listen", notifications=asked)).message.params == {
        "notifications": asked
    }
    wire.listened_tasks = ("t-1",)
    sent = wire.outgoing(request("subscriptions/listen", notifications=asked)).message.params
    assert sent == {"notifications": {"toolsListChanged": True, "taskIds": ["t-1"]}}


# ---- handshakes -----------------------------------------------------------------------------------------


SOUND = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
    "serverInfo": {"name": "weather", "version": "1.0"},
    "instructions": "Ask for a city.",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["capabilities", "serverInfo", "instructions", "_meta"]


def test_a_valid_response_is_unchanged():
    assert tidy_handshake(SOUND) == SOUND


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_the_sdk_accepts_any_initialize_result_with_a_valid_version(odd):
    InitializeResult.model_validate(tidy_handshake(SOUND | odd))


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_the_sdk_accepts_any_discover_result_with_a_valid_version(odd):
    sound = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}
    DiscoverResult.model_validate(tidy_handshake(sound | odd))


@pytest.mark.parametrize("said", [None, [], "tools", 7])
def test_a_server_without_capabilities_is_assumed_to_have_tools(said):
    assert tidy_handshake(SOUND | {"capabilities": said})["capabilities"] == {"tools": {}}


def test_a_capability_of_the_wrong_type_still_counts():
    tidy = tidy_handshake(SOUND | {"capabilities": {"tools": True, "prompts": [], "resources": None}})
    assert tidy["capabilities"] == {"tools": {}, "prompts": {}}


def test_a_name_of_megabytes_is_truncated():
    tidy = tidy_handshake(SOUND | {"serverInfo": {"name": "n" * 5_000_000}})
    assert tidy["serverInfo"] == {"name": "n" * 200, "version": ""}


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


async def started(server: HttpServer) -> Host:
    spec = ServerSpec("far", transport=Transport.HTTP, url=server.url)
    host = Host([spec], sink=lambda captured: None, clock=MonotonicClock())
    await host.start("far")
    return host


async def test_a_call_through_the_host_repeats_its_arguments_in_headers():
    tools = [ECHO | {"inputSchema": schema(region=REGION)}]
    async with http_server(tools=tools) as server:
        host = await started(server)
        (tool,) = host.toolbox.tools()
        await host.toolbox.call(tool, {"region": "eu"}, seconds=5, progress=lambda *_: None)
        await host.shutdown()
    call = next(one for one in server.asked if one.method == "tools/call")
    assert call.headers["mcp-param-region"] == "eu"
    assert call.message["params"]["arguments"] == {"region": "eu"}


async def test_a_tool_with_an_invalid_header_annotation_is_omitted_with_the_reason():
    tools = [ECHO, ECHO | {"name": "bad", "inputSchema": schema(a={"type": "string", "x-mcp-header": ""})}]
    async with http_server(tools=tools) as server:
        host = await started(server)
        assert [tool.name for tool in host.toolbox.tools()] == ["echo"]
        ((name, why),) = host.status("far").quarantined
        assert name == "bad" and why.startswith("its headers are invalid: ")
        await host.shutdown()


async def test_for_an_older_server_header_annotations_are_ignored():
    tools = [ECHO | {"inputSchema": schema(a={"type": "string", "x-mcp-header": ""})}]
    async with http_server(modern=False, tools=tools) as server:
        host = await started(server)
        assert [tool.name for tool in host.toolbox.tools()] == ["echo"]
        await host.shutdown()


def test_an_argument_that_no_header_can_carry_is_refused_with_a_reason():
    wanted = header_map(
        {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    )
    with pytest.raises(MCPError, match="not sent: an argument contains an invalid character"):
        parameter_headers(wanted, {"region": "\ud800"})
