"""`mcptui servers`: every configured server is started, listed and stopped."""

import json
from pathlib import Path

from tests.protocol.command import mcptui


async def test_all_sample_servers_run_and_list_what_they_offer():
    done = await mcptui("servers", "--json")
    found = {server["name"]: server for server in json.loads(done.out)}
    assert done.code == 0 and {server["status"] for server in found.values()} == {"RUNNING"}
    assert (found["notes"]["tools"], found["notes"]["resources"], found["notes"]["prompts"]) == (4, 1, 1)
    assert found["weather"]["protocol"] == "2026-07-28" and found["weather"]["start_ms"] > 0


async def test_a_failed_server_is_reported_with_code_and_last_line_and_exit_code_5(tmp_path: Path):
    path = tmp_path / "mcp.json"
    broken = {
        "command": "python3",
        "args": ["-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"],
    }
    path.write_text(json.dumps({"mcpServers": {"broken": broken}}))
    done = await mcptui("servers", "--config", str(path))
    assert done.code == 5
    assert "broken" in done.out and "exited with code 3" in done.out and "no luck" in done.out


async def test_a_server_with_an_invalid_configuration_is_listed_as_failed(tmp_path: Path):
    path = tmp_path / "mcp.json"
    servers = {
        "unset": {"command": "python3", "env": {"TOKEN": "${NO_SUCH_TOKEN}"}},
        "typed": {"command": 5},
        "off": {"command": 5, "disabled": True},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    done = await mcptui("servers", "--json", "--config", str(path))
    found = {server["name"]: server for server in json.loads(done.out)}
    assert (done.code, set(found)) == (5, {"unset", "typed"})
    assert found["unset"]["reason"] == "failed to start"
    assert "the environment variable NO_SUCH_TOKEN is not set" in found["unset"]["detail"]
    assert "must be a string, not a number" in found["typed"]["detail"]
    shown = await mcptui("servers", "--config", str(path))
    assert shown.code == 5 and "✗ unset" in shown.out and "NO_SUCH_TOKEN is not set" in shown.out


async def test_without_servers_the_output_says_how_to_begin(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers]\n")
    done = await mcptui("servers", "--config", str(path))
    assert (done.code, "mcptui config init" in done.out) == (0, True)
