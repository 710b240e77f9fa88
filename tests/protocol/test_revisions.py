"""A server of each revision with a handshake is used as it negotiated."""

import sys

import pytest

from tests.hosts import running
from tui.core.jsonrpc.protocol import REVISIONS
from tui.core.servers import ServerSpec, ServerState

SERVER = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    said = {}
    match message.get("method"):
        case "server/discover":
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                              "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
        case "initialize":
            said = {"protocolVersion": sys.argv[1], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "old", "version": "1"}}
        case "tools/list":
            said = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        case "tools/call":
            said = {"content": [{"type": "text", "text": "done"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": said}), flush=True)
"""


@pytest.mark.parametrize("revision", REVISIONS[:-1])
async def test_a_server_of_each_older_revision_is_used(revision: str):
    spec = ServerSpec("old", command=sys.executable, args=("-c", SERVER, revision))
    async with running(spec) as host:
        assert host.status("old").state is ServerState.RUNNING
        (tool,) = host.workbench.tools("old")
        result = await host.toolbox.call(tool, {}, seconds=10, progress=lambda *_: None)
        assert "done" in str(result.content)
        assert (await host.workbench.identity("old")).protocol == revision
