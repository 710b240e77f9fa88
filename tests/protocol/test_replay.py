"""A replay on a configured server: what it starts, and what the server gets before and after confirmation."""

import json
import sys
from pathlib import Path

import pytest

from tests.protocol.command import mcptui
from tests.protocol.test_tap import recordings

SERVER = """
import json, os, sys
log = open(sys.argv[1], "a", buffering=1)
log.write("start\\n")
for line in sys.stdin:
    asked = json.loads(line)
    log.write(line)
    if asked.get("method") == "roots/list" or "id" not in asked or "method" not in asked:
        continue
    if asked["method"] == "tools/list":
        print(json.dumps({"jsonrpc": "2.0", "id": 900, "method": "roots/list"}), flush=True)
        result = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        who = {"name": "s", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": who}
    else:
        result = {"content": [{"type": "text", "text": "seen"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
CLIENT = {"name": "somebody", "version": "1"}
PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": CLIENT}
HELLO = {"id": 0, "method": "initialize", "params": PARAMS}
READY = {"method": "notifications/initialized"}
LOOK = {"id": 2, "method": "tools/call", "params": {"name": "look", "arguments": {}}}


def lines(*messages: dict[str, object]) -> bytes:
    return b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages)


def received(log: Path) -> list[object]:
    """What each server received, in order."""
    texts = log.read_text().splitlines()
    return [one if one == "start" else json.loads(one) for one in texts]


async def recorded(folder: Path, *messages: dict[str, object]) -> tuple[str, ...]:
    """Record messages to a server. Return the command that replays them on it."""
    program, log = folder / "server.py", folder / "log"
    program.write_text(SERVER)
    await mcptui("tap", "--name", "s", "--", sys.executable, str(program), str(log), stdin=lines(*messages))
    log.unlink()
    config = folder / "config.toml"
    argv = json.dumps([str(program), str(log)])
    config.write_text(f"[servers.s]\ncommand = {json.dumps(sys.executable)}\nargs = {argv}\n")
    return ("traffic", str(recordings()[0]), "--replay", "s", "--config", str(config), "--trust-config")


@pytest.mark.parametrize("messages", [(HELLO, READY, LOOK), (LOOK,)], ids=["handshake", "none"])
async def test_the_server_starts_once_and_gets_no_recorded_message_before_confirmation(
    tmp_path: Path, messages: tuple[dict[str, object], ...]
) -> None:
    replay, log = await recorded(tmp_path, *messages), tmp_path / "log"
    refused = await mcptui(*replay)
    assert refused.code == 2 and "look  1 call, may change something" in refused.err
    before = received(log)
    methods = [one["method"] for one in before if isinstance(one, dict)]
    assert methods == [one["method"] for one in messages[:-1]] + ["tools/list"]
    assert before.count("start") == 1 and "somebody" not in log.read_text()
    log.unlink()
    done = await mcptui(*replay, "--yes")
    assert done.code == 0 and f"{len(messages[::2])} request" in done.out
    after = received(log)
    assert after[: len(before)] == before and after.count("start") == 1
    answered, called = after[len(before) :]  # the request of the server waits for the confirmation too
    assert isinstance(answered, dict) and answered["id"] == 900
    assert called == {"jsonrpc": "2.0", **LOOK}


SILENT = "import sys\nfor line in sys.stdin: pass\n"


async def test_a_replay_on_a_server_that_does_not_start_is_reported(tmp_path: Path) -> None:
    replay = await recorded(tmp_path, HELLO, READY, LOOK)
    (tmp_path / "server.py").write_text(SILENT)
    config = tmp_path / "config.toml"
    config.write_text(f"{config.read_text()}start_seconds = 1\n")
    done = await mcptui(*replay, "--yes")
    assert done.code == 5 and "cannot start s: initialize: no response within 1 s" in done.err
    (tmp_path / "server.py").write_text("")
    done = await mcptui(*replay, "--yes")
    assert done.code == 5 and "cannot start s: initialize: the server " in done.err
