"""`mcptui servers`: every configured server is started, listed and stopped."""

import asyncio
import json
import signal
import sys
from pathlib import Path

from tests.protocol.command import finish, mcptui, start


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


async def test_a_server_that_hangs_does_not_hold_back_the_lines_of_others(tmp_path: Path):
    path = tmp_path / "mcp.json"
    server = str(Path(__file__).parents[2] / "sample_config" / "servers" / "notes.py")
    servers = {
        "hanging": {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]},
        "quick": {"command": sys.executable, "args": [server]},
        "broken": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
        "typed": {"command": 5},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    process = await start("servers", "--config", str(path), piped=False)
    try:
        async with asyncio.timeout(25):
            marked: set[str] = set()
            while len(marked) < 3:
                line = (await process.stdout.readline()).decode()
                assert line, "ended before the lines of the other servers"
                if line[0] != " ":
                    marked.add(" ".join(line.split()[:2]))
        assert marked == {"● quick", "✗ broken", "✗ typed"}
        process.send_signal(signal.SIGINT)
        done = await finish(process)
        assert done.code == 130 and "hanging" not in done.out
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_json_is_in_the_order_of_the_configuration(tmp_path: Path):
    path = tmp_path / "mcp.json"
    leaves_late = "import sys; sys.stdin.readline(); sys.exit(3)"
    servers = {
        "late": {"command": sys.executable, "args": ["-c", leaves_late]},
        "missing": {"command": "/no/such/program"},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    done = await mcptui("servers", "--json", "--config", str(path))
    assert [server["name"] for server in json.loads(done.out)] == ["late", "missing"]


async def test_disabled_servers_are_not_said_to_be_missing(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[servers.off]\ncommand = "python3"\ndisabled = true\n')
    done = await mcptui("servers", "--config", str(path))
    assert done.code == 0 and "All servers are disabled: off." in done.out
    assert "No servers are configured" not in done.out
