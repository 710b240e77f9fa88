"""What mcptui sends, compared with what the SDK's client sends (mcp 2.3), in both eras."""

import pytest
from mcp import Client

from tests.hosts import called, far, running
from tests.http_server import ECHO, http_server

PARAMETER = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}}
OF_THE_SESSION = (
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-text",
    "content-type",
    "accept",
)
_IDENTITY = ("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities")


def tool(name):
    return ECHO | {"name": name, "inputSchema": PARAMETER}


def sent(server):
    """Return the messages that a client sent, with their headers, without its name and its capabilities."""
    found = []
    for asked in server.asked:
        if not asked.message or asked.method in ("subscriptions/listen", "notifications/cancelled"):
            continue
        params = dict(asked.message.get("params") or {})
        meta = {
            key: value
            for key, value in params.pop("_meta", {}).items()
            if key not in (*_IDENTITY, "progressToken")
        }
        for key in ("clientInfo", "capabilities"):
            params.pop(key, None)
        headers = {key: asked.headers[key] for key in OF_THE_SESSION if key in asked.headers}
        found.append((asked.method, params, meta, headers))
    return found


@pytest.mark.parametrize("name", ["echo", " écho "])
@pytest.mark.parametrize("modern", [True, False])
async def test_the_same_messages_and_headers_are_sent(modern, name):
    async with http_server(modern=modern, tools=[tool(name)]) as server, Client(server.url) as client:
        await client.list_tools()
        await client.call_tool(name, {"text": "ä"})
        of_the_sdk = sent(server)
    async with http_server(modern=modern, tools=[tool(name)]) as server, running(far(server)) as host:
        assert not (await called(host, text="ä")).is_error
        ours = sent(server)
    assert ours == of_the_sdk
