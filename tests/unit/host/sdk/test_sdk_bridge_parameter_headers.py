"""Arguments that a call repeats in HTTP headers."""

import pytest
from mcp import MCPError

from tests.http_server import ECHO, HttpServer, http_server
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, Transport
from tui.host.host import Host
from tui.host.sdk.sdk_bridge import header_map, parameter_headers


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
