"""`mcptui agent` with the command line of the MCP Inspector, a third-party client."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.real.installed import INSPECTOR, inspector, needs
from tests.real.test_real_inspector import program
from tests.unit.addons.agent.agent_stage import NAME, files, keep

pytestmark = [*needs(INSPECTOR), pytest.mark.timeout(120)]


def inspected(command: Path, *request: str) -> Any:
    done = subprocess.run(inspector(command, *request), capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_the_inspector_lists_calls_and_reads(tmp_path: Path):
    script = files()
    script.error(script.out("tools/call", {"name": "read"}), -32603, "no such path")
    keep(script)
    served = program(tmp_path / "agent", *programs.command("-m", "tui"), "agent")
    tools = inspected(served, "--method", "tools/list")["tools"]
    assert {"find_entries", "explain"} <= {tool["name"] for tool in tools}
    found = ("--tool-arg", "filter=status:failed kind:request", "--tool-arg", "limit=1")
    said = inspected(served, "--method", "tools/call", "--tool-name", "find_entries", *found)
    assert "1 of 9 entries match" in said["content"][0]["text"] and not said["isError"]
    uri = f"mcptui://recordings/{NAME}/entries/9"
    read = inspected(served, "--method", "resources/read", "--uri", uri)
    assert "no such path" in read["contents"][0]["text"]
    prompts = inspected(served, "--method", "prompts/list")["prompts"]
    assert [one["title"] for one in prompts] == ["Why did this fail?", "Write a test for this call"]
