"""Secret arguments of calls: sent to the server and the model, in no file and no output."""

import json
import os
import sys
from pathlib import Path

from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import mcptui

SERVER = """
import json, sys
SCHEMA = {"type": "object", "properties": {
    "code": {"type": "string", "format": "password"}, "ssn": {"type": "string"}}}
for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked["method"], asked.get("params") or {}
    result = {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "auth", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "login", "inputSchema": SCHEMA}]}
    elif method == "tools/call":
        right = params["arguments"] == {"code": "canary-code", "ssn": "canary-ssn"}
        result = {"content": [{"type": "text", "text": f"right: {right}"}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def written() -> list[Path]:
    return [path for path in Path(os.environ["HOME"]).rglob("*") if path.is_file()]


async def test_arguments_secret_by_schema_or_rule_are_written_nowhere(tmp_path: Path):
    (tmp_path / "auth.py").write_text(SERVER, "utf-8")
    config = tmp_path / "config.toml"
    arguments = {"code": "canary-code", "ssn": "canary-ssn"}
    async with Endpoint([calls(("auth__login", arguments)), says("Done.")]) as endpoint:
        config.write_text(
            f"""
[servers.auth]
command = {json.dumps(sys.executable)}
args = [{json.dumps(str(tmp_path / "auth.py"))}]
secret_arguments = "login.ssn"
[models.m]
base_url = "{endpoint.base_url}"
model = "m"
""",
            "utf-8",
        )
        config.chmod(0o600)
        options = ("--config", str(config), "--approve", "all", "--session", "s", "--json")
        done = await mcptui("run", *options, "log in")
        sent = endpoint.requests[-1].body
    assert done.code == 0 and "right: True" in done.out, done.out + done.err
    assert b"canary-code" in sent
    assert "canary" not in done.out + done.err and "[redacted:ssn]" in done.out
    home = written()
    assert any(path.suffix == ".mcptrace" for path in home)
    assert [path for path in home if b"canary" in path.read_bytes()] == []
