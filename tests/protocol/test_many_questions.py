"""A server that asks many times during one call: `run` and `call` say the answer once, with a count."""

import json
import sys
from pathlib import Path

import pytest

from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import mcptui

SERVER = """
import json, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            send(id=asked["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"}})
        case "tools/list":
            send(id=asked["id"], result={"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]})
        case "tools/call":
            for number in range(25):
                params = {"message": f"Question {number}?", "requestedSchema": FORM}
                send(id=f"q{number}", method="elicitation/create", params=params)
                sys.stdin.readline()
            send(id=asked["id"], result={"content": [{"type": "text", "text": "asked"}]})
        case _ if "id" in asked:
            send(id=asked["id"], error={"code": -32601, "message": "Method not found"})
"""
DECLINED = "declined. Answer it with --elicit defaults or --elicit @FILE"


@pytest.mark.parametrize("command", ["run", "call"])
async def test_25_declined_requests_are_two_lines(tmp_path: Path, command: str) -> None:
    async with Endpoint([calls(("s__ask", {})), says("Done.")]) as endpoint:
        config = tmp_path / "config.toml"
        config.write_text(
            f'[models.m]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
            f"[servers.s]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(['-c', SERVER])}\n"
        )
        words = ("run", "--approve", "all", "go") if command == "run" else ("call", "s", "ask")
        done = await mcptui(*words, "--config", str(config))
    lines = [line for line in done.err.splitlines() if line.startswith("?")]
    assert lines == [f"? s asks: Question 0? · {DECLINED}", f"? s asked 25 times · {DECLINED}"]
