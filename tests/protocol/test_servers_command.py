"""`mcptui servers`: every configured server started, told about and stopped."""

import json
from pathlib import Path

from tests.protocol.command import mcptui


async def test_the_sample_servers_all_run_and_say_what_they_offer():
    done = await mcptui("servers", "--json")
    found = {server["name"]: server for server in json.loads(done.out)}
    assert done.code == 0 and {server["status"] for server in found.values()} == {"RUNNING"}
    assert (found["notes"]["tools"], found["notes"]["resources"], found["notes"]["prompts"]) == (4, 1, 1)
    assert found["weather"]["protocol"] == "2026-07-28" and found["weather"]["start_ms"] > 0


async def test_a_server_that_fails_is_told_with_code_and_last_line_and_the_exit_code_is_5(tmp_path: Path):
    path = tmp_path / "mcp.json"
    broken = {
        "command": "python3",
        "args": ["-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"],
    }
    path.write_text(json.dumps({"mcpServers": {"broken": broken}}))
    done = await mcptui("servers", "--config", str(path))
    assert done.code == 5
    assert "broken" in done.out and "exited with code 3" in done.out and "no luck" in done.out


async def test_nothing_configured_says_how_to_begin(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers]\n")
    done = await mcptui("servers", "--config", str(path))
    assert (done.code, "mcptui config init" in done.out) == (0, True)
