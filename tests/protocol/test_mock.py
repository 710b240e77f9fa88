"""A recording in the place of its server, and replayed on a server that starts only once."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.configurations import server
from tests.protocol.command import mcptui
from tests.protocol.test_tap import recordings

pytestmark = pytest.mark.usefixtures("quick_python")

ROOT = Path(__file__).parents[2]
WEATHER = str(ROOT / "sample_config/servers/weather.py")
QUESTION = "What's the weather in Hangzhou?"


def configuration(path: Path, *args: str) -> str:
    # The tap gets mcptui's environment for servers, without the paths of pytest.
    env = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    path.write_text(server("weather", *args, trusted=True, env=env))
    return str(path)


async def test_a_recorded_session_runs_again_without_its_server(tmp_path: Path):
    tapped = configuration(
        tmp_path / "tap.toml", "-m", "tui", "tap", "--name", "weather", "--", sys.executable, WEATHER
    )
    real = await mcptui("--config", tapped, "run", "--demo", QUESTION)
    assert "light rain" in real.out
    (recording,) = recordings()
    mocked = configuration(tmp_path / "mock.toml", "-m", "tui", "mock", str(recording))
    again = await mcptui("--config", mocked, "run", "--demo", QUESTION)
    assert (again.code, again.out) == (real.code, real.out)
    listed = await mcptui("--config", mocked, "servers", "--json")
    (server,) = json.loads(listed.out)
    assert (server["status"], server["server"], server["tools"]) == (
        "RUNNING",
        {"name": "weather", "version": "1.0"},
        2,
    )
    other = await mcptui("--config", mocked, "run", "--demo", "What's the weather in Beijing?")
    assert "not recorded with these parameters" in other.err


async def test_a_recording_without_a_server_is_refused(tmp_path: Path):
    await mcptui("tap", "--", "true")
    done = await mcptui("mock", str(recordings()[0]))
    assert (done.code, done.out) == (2, "")
    assert "the recording has no requests to servers" in done.err


async def test_a_file_that_is_not_a_recording_is_refused(tmp_path: Path):
    for name, data in {"a.mcptrace": b"not sqlite", "b.jsonl": b"not json\n"}.items():
        (tmp_path / name).write_bytes(data)
        done = await mcptui("mock", str(tmp_path / name))
        assert (done.code, done.out) == (2, "")
        assert name in done.err


async def test_an_export_answers_like_the_recording_and_on_request_as_slowly(tmp_path: Path):
    answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
    code = f"import sys, time; sys.stdin.readline(); time.sleep(0.4); print({answer!r})"
    asked = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    await mcptui("tap", "--", sys.executable, "-c", code, stdin=asked + b"\n")
    export = str(tmp_path / "session.jsonl")
    await mcptui("traffic", str(recordings()[0]), "--export", "jsonl", "-o", export)
    again = asked.replace(b'"id":1', b'"id":"other"')

    async def took(*options: str) -> float:
        began = time.monotonic()
        done = await mcptui("mock", export, *options, stdin=again)
        assert (done.code, done.out) == (0, answer.replace('"id":1', '"id":"other"') + "\n")
        return time.monotonic() - began

    at_once = min([await took() for _ in range(2)])  # the machine may be busy
    assert await took("--timing") > at_once + 0.2


async def recorded_call(tmp_path: Path) -> str:
    """Return an export of one call."""
    code = """import sys; sys.stdin.readline(); print('{"jsonrpc":"2.0","id":1,"result":{}}')"""
    await mcptui("tap", "--", sys.executable, "-c", code, stdin=b'{"jsonrpc":"2.0","id":1,"method":"a/b"}\n')
    export = str(tmp_path / "session.jsonl")
    await mcptui("traffic", str(recordings()[0]), "--export", "jsonl", "-o", export)
    return export


async def test_unrecorded_requests_are_reported_and_determine_the_exit_code(tmp_path: Path):
    export = await recorded_call(tmp_path)
    done = await mcptui("mock", export, stdin=b'{"jsonrpc":"2.0","id":5,"method":"tools/list"}\n' * 2)
    assert (done.code, len(done.objects)) == (1, 2)
    assert done.objects[0]["error"]["code"] == -32601
    assert done.err == "mcptui mock: not answered: tools/list was not recorded. Recorded: a/b\n"


async def test_a_failed_output_is_never_a_success(tmp_path: Path):
    export = await recorded_call(tmp_path)
    asked = '{"jsonrpc":"2.0","id":1,"method":"a/b"}'
    command = f"echo '{asked}' | '{sys.executable}' -m tui mock '{export}'"
    for output, code in (("/dev/full", 2), ("&-", 2)):
        shell = await asyncio.create_subprocess_shell(f"{command} >{output} 2>'{tmp_path}/err'")
        assert await shell.wait() == code
        assert "cannot write to stdout" in (tmp_path / "err").read_text()


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
