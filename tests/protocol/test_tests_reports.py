"""`mcptui test` in a job of GitHub Actions: its reports, and nothing that a server says is a command."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.protocol.command import mcptui

SERVER = """
import json, sys
TOOL = {"name": "say", "description": "Says it.", "inputSchema": {"type": "object"}}
INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
INFO["serverInfo"] = {"name": "s", "version": "1"}
SAID = {"content": [{"type": "text", "text": "::error::evil ##[set-output name=a]b"}]}
print("::add-mask::evil", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    result = {"initialize": INFO, "tools/list": {"tools": [TOOL]}, "tools/call": SAID}.get(asked["method"])
    if "id" in asked:
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


async def test_a_failed_case_is_reported_in_each_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "say.mcp.toml").write_text('[[call]]\nname = "hello"\ntool = "say"\ntext = "hello"\n')
    summary = tmp_path / "summary.md"
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    reports = ("--report", "junit=out.xml", "--report", "md=out.md", "--report", "gitlab=/dev/full")
    done = await mcptui("test", *reports, "--", sys.executable, "server.py", **github)
    assert done.code == 2
    assert done.err.splitlines()[-1] == "mcptui: /dev/full: cannot write the report (No space left on device)"
    commands = [line for line in f"{done.out}\n{done.err}".splitlines() if line.lstrip().startswith("::")]
    (command,) = commands
    assert command.startswith("::error file=say.mcp.toml,line=1,title=hello::")
    assert "##[" not in done.out + done.err
    case = ElementTree.parse("out.xml").find(".//testcase[@name='hello']/failure")
    assert case is not None and "::error::evil ##[set-output name=a]b" in (case.text or "")
    assert (tmp_path / "out.md").read_text().startswith("## mcptui test: 1 failed in ")
    assert summary.read_text().startswith("## mcptui test: 1 failed in ")
