"""Commands on a server that is up in a running app: a real server, and real commands."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.terminal.pty_app import ROOT
from tui.core.traffic import Kind
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.locations import decisions_file, state_dir
from tui.storage.recordings.reader import RecordingReader

WEATHER = ROOT / "sample_config" / "servers" / "weather.py"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(server("weather", WEATHER) + server("notes", WEATHER.with_name("notes.py")))
    monkeypatch.setenv("MCPTUI_CONFIG", str(file))
    return file


@pytest.fixture
async def runtime(config: Path) -> AsyncIterator[Runtime]:
    made = Runtime(Options(trust_config=True), dict(os.environ))
    try:
        await made.ready(model=False, taps=False)
        await until(lambda: made.door.is_open and all(map(made.workbench.is_running, ("weather", "notes"))))
        yield made
    finally:
        await made.shutdown()


class Done(NamedTuple):
    code: int
    out: str
    err: str


async def mcptui(*words: str, cwd: Path | None = None, stdin: str = "", **env: str) -> Done:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tui", *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **env},
    )
    out, err = await process.communicate(stdin.encode())
    return Done(process.returncode or 0, out.decode(), err.decode())


async def test_a_call_uses_the_server_that_is_up_and_says_so(runtime: Runtime):
    done = await mcptui("call", "weather", "get_weather", "location=Oslo")
    assert done.code == 0 and "Oslo" in done.out
    assert done.err.startswith("· using weather, up since ") and f"in mcptui (pid {os.getpid()})" in done.err
    assert "starting" not in done.err


async def test_list_read_and_prompt_use_it_too(runtime: Runtime):
    listed = await mcptui("list", "notes", "tools", "--json")
    assert "using notes" in listed.err and "add_note" in {
        tool["name"] for tool in json.loads(listed.out)["tools"]
    }
    read = await mcptui("read", "notes", "notes://all")
    assert read.code == 0 and "using notes" in read.err
    prompt = await mcptui("prompt", "notes", "summarize_notes")
    assert prompt.code == 0 and prompt.out and "using notes" in prompt.err


async def test_errors_exit_codes_and_json_are_those_of_an_own_server(runtime: Runtime):
    words = ("call", "weather", "get_weather", "place=Oslo", "--json")
    up, own = await asyncio.gather(mcptui(*words), mcptui(*words, "--own"))
    assert (up.code, up.out) == (own.code, own.out) == (2, up.out)
    assert "no argument" in up.err and up.err.splitlines()[1:] == own.err.splitlines()[1:]


async def test_a_result_goes_to_the_file_that_the_command_names(runtime: Runtime, tmp_path: Path):
    done = await mcptui("call", "weather", "get_weather", "location=Beijing", "-o", "w.txt", cwd=tmp_path)
    assert done.code == 0 and "wrote" in done.err
    assert "Beijing" in await asyncio.to_thread((tmp_path / "w.txt").read_text)


async def test_arguments_come_from_the_stdin_of_the_command(runtime: Runtime):
    done = await mcptui("call", "weather", "get_weather", "--args", "-", stdin='{"location": "NYC"}')
    assert done.code == 0 and "NYC" in done.out and "using weather" in done.err


@pytest.mark.parametrize(
    ("env", "differs"),
    [({"PATH": "/usr/bin:/bin:/opt"}, "environment (PATH)"), ({"LC_ALL": "C.UTF-8"}, "environment (LC_ALL)")],
)
async def test_another_environment_starts_an_own_server_and_says_why(
    runtime: Runtime, env: dict[str, str], differs: str
):
    done = await mcptui("call", "weather", "get_weather", "location=NYC", **env)
    assert done.code == 0 and "starting weather" in done.err
    assert f"not using weather, whose {differs} differs, in mcptui (pid {os.getpid()})" in done.err


async def test_another_configuration_or_own_starts_an_own_server(
    runtime: Runtime, tmp_path: Path, config: Path
):
    other = tmp_path / "other.toml"
    await asyncio.to_thread(shutil.copy, config, other)
    words = ("call", "weather", "get_weather", "location=NYC")
    for more in (("--config", str(other), "--trust-config"), ("--own", "--trust-config"), ("--root", ".")):
        done = await mcptui(*words, *more)
        assert done.code == 0 and "starting weather" in done.err and "using" not in done.err


async def test_a_command_line_uses_a_configured_server_only_if_it_is_the_same(runtime: Runtime):
    done = await mcptui("list", "tools", "--", sys.executable, str(WEATHER))
    assert (
        done.code == 0 and "starting" in done.err
    )  # it runs in the current folder, that of the app in its own


async def test_the_decision_and_the_traffic_name_the_command(runtime: Runtime):
    await mcptui("call", "weather", "get_weather", "location=NYC")
    await runtime.shutdown()

    def recorded() -> tuple[list[object], str]:
        (path,) = state_dir().rglob("*.mcptrace")
        with contextlib.closing(RecordingReader(path)) as reader:
            events = [one.detail for one in reader.columns(0, 1_000) if one.kind is Kind.EVENT]
        return [one["why"] for one in events if one["event"] == "command"], decisions_file().read_text()

    (who,), decisions = await asyncio.to_thread(recorded)
    assert str(who).startswith("mcptui call, pid ") and f'"command {who}"' in decisions


async def test_many_calls_leave_no_process_and_no_descriptor(runtime: Runtime):
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0

    await mcptui("call", "weather", "get_weather", "location=NYC")
    before, pid = descriptors(), runtime.host.status("weather").pid
    for _ in range(8):
        done = await mcptui("call", "weather", "get_weather", "location=NYC")
        assert done.code == 0 and "using weather" in done.err
    assert descriptors() == before and runtime.host.status("weather").pid == pid
    await until(lambda: not runtime.door.peers)
    assert runtime.door.used == {"weather": 9}


async def test_refused_commands_start_their_own_server(runtime: Runtime):
    runtime.door.refuse("its user refuses commands")
    done = await mcptui("call", "weather", "get_weather", "location=NYC")
    assert done.code == 0 and "starting weather" in done.err and "its user refuses commands" in done.err


async def test_one_that_ends_before_the_request_costs_only_an_own_server(runtime: Runtime):
    await runtime.shutdown()
    done = await mcptui("call", "weather", "get_weather", "location=NYC")
    assert done.code == 0 and "starting weather" in done.err
