"""A command that uses a server that is up: its input and output, and without it."""

import asyncio
import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.unit.addons.up.stage import mcptui
from tui.addons.up.door import Door
from tui.runtime.runtime import Runtime


async def test_a_call_uses_the_server_that_is_up_and_says_so(runtime: Runtime):
    done = await mcptui("call", "weather", "get_weather", "location=Oslo")
    assert done.code == 0 and "Oslo" in done.out
    assert done.err.startswith("· using weather, up since ") and f"in mcptui (pid {os.getpid()})" in done.err
    assert "starting" not in done.err


async def test_a_search_uses_the_servers_that_are_up(runtime: Runtime):
    done = await mcptui("list", "--search", "note")
    assert done.code == 0 and "add_note" in done.out
    assert done.err.count("· using ") == 2 and "starting" not in done.err


async def test_a_result_goes_to_the_file_that_the_command_names_and_to_a_pipe_by_the_command_itself(
    runtime: Runtime, tmp_path: Path
):
    done = await mcptui("call", "weather", "get_weather", "location=Beijing", "-o", "w.txt", cwd=tmp_path)
    assert done.code == 0 and "wrote" in done.err
    assert "Beijing" in await asyncio.to_thread((tmp_path / "w.txt").read_text)
    done = await mcptui("call", "weather", "get_weather", "location=NYC", "-o", "/dev/stdout")
    assert done.code == 0 and "NYC" in done.out and "starting weather" in done.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
async def test_output_that_cannot_be_written_is_not_taken_for_the_end_of_the_other_process(runtime: Runtime):
    for redirected in (">/dev/full", ">&-"):
        line = f"{shlex.quote(sys.executable)} -m tui call weather get_weather location=NYC {redirected}"
        process = await asyncio.create_subprocess_shell(line, stderr=asyncio.subprocess.PIPE)
        _, err = await process.communicate()
        assert process.returncode == 2 and b"using weather" in err and b"cannot write to stdout" in err


async def test_arguments_come_from_the_stdin_of_the_command(runtime: Runtime):
    done = await mcptui("call", "weather", "get_weather", "--args", "-", stdin='{"location": "NYC"}')
    assert done.code == 0 and "NYC" in done.out and "using weather" in done.err


async def test_refused_commands_start_their_own_server(runtime: Runtime, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Door, "setting", "off")
    for refuses, why in (("its user refuses commands",) * 2, ("", "its configuration refuses commands")):
        runtime.door.refuse(refuses)
        done = await mcptui("call", "weather", "get_weather", "location=NYC")
        assert done.code == 0 and "starting weather" in done.err and why in done.err
