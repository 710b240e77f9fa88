"""`mcptui mock`: a recording answers in place of its server."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from tests.protocol.command import mcptui
from tests.protocol.test_tap import recordings

ROOT = Path(__file__).parents[2]
WEATHER = str(ROOT / "sample_config/servers/weather.py")
QUESTION = "What's the weather in Hangzhou?"


def configuration(path: Path, *args: str) -> str:
    # The tap gets mcptui's environment for servers, without the paths of pytest.
    env = f'env = {{PYTHONPATH = "{ROOT}", XDG_STATE_HOME = "{os.environ["XDG_STATE_HOME"]}"}}'
    command = f"trusted = true\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(list(args))}"
    path.write_text(f"[servers.weather]\n{command}\n{env}\n")
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

    at_once = min([await took() for _ in range(3)])  # the machine may be busy
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
