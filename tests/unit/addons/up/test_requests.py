"""Commands on a server that is up in a running app: which server is the same, and what they leave."""

import asyncio
import contextlib
import json
import os
import shutil
import sys
from base64 import b64decode
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.addons.up.conftest import SAMPLES
from tests.unit.addons.up.stage import mcptui
from tui.addons.up.door import Door
from tui.addons.up.requests import _Stream
from tui.core.traffic import Kind
from tui.runtime.runtime import Runtime
from tui.settings.locations import decisions_file, state_dir
from tui.storage.recordings.reader import RecordingReader


def test_large_output_is_sent_in_pieces():
    notes: list[dict[str, str]] = []
    data = bytes(range(256)) * 10_000
    assert _Stream(notes.append, "out", False).buffer.write(data) == len(data)
    assert len(notes) == 3 and b"".join(b64decode(note["data"]) for note in notes) == data


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


async def test_another_environment_starts_an_own_server_and_says_why_without_asking(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Door, "setting", "ask")
    for name, value in (("PATH", "/usr/bin:/bin:/opt"), ("LC_ALL", "C.UTF-8")):
        done = await mcptui("call", "weather", "get_weather", "location=NYC", **{name: value})
        assert done.code == 0 and "starting weather" in done.err
        said = f"not using weather, whose environment ({name}) differs, in mcptui (pid {os.getpid()})"
        assert said in done.err and "waiting" not in done.err


async def test_another_configuration_or_own_starts_an_own_server(
    runtime: Runtime, tmp_path: Path, config: Path
):
    other = tmp_path / "other.toml"
    await asyncio.to_thread(shutil.copy, config, other)
    words = ("call", "weather", "get_weather", "location=NYC")
    for more in (("--config", str(other), "--trust-config"), ("--own", "--trust-config"), ("--root", ".")):
        done = await mcptui(*words, *more)
        assert done.code == 0 and "starting weather" in done.err and "using" not in done.err
    # It runs in the current folder, that of the app in its own.
    done = await mcptui("list", "tools", "--", sys.executable, str(SAMPLES / "weather.py"))
    assert done.code == 0 and "starting" in done.err


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
    await until(lambda: not runtime.door.peers)
    assert descriptors() <= before and runtime.host.status("weather").pid == pid
    assert runtime.door.used == {"weather": 9}
