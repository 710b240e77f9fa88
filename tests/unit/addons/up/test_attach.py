"""A command that uses a server that is up: its input and output, and without it."""

import asyncio
import os
from pathlib import Path

from tests.unit.addons.up.stage import mcptui
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


async def test_a_result_goes_to_the_file_that_the_command_names(runtime: Runtime, tmp_path: Path):
    done = await mcptui("call", "weather", "get_weather", "location=Beijing", "-o", "w.txt", cwd=tmp_path)
    assert done.code == 0 and "wrote" in done.err
    assert "Beijing" in await asyncio.to_thread((tmp_path / "w.txt").read_text)


async def test_arguments_come_from_the_stdin_of_the_command(runtime: Runtime):
    done = await mcptui("call", "weather", "get_weather", "--args", "-", stdin='{"location": "NYC"}')
    assert done.code == 0 and "NYC" in done.out and "using weather" in done.err


async def test_refused_commands_start_their_own_server(runtime: Runtime):
    runtime.door.refuse("its user refuses commands")
    done = await mcptui("call", "weather", "get_weather", "location=NYC")
    assert done.code == 0 and "starting weather" in done.err and "its user refuses commands" in done.err


async def test_one_that_ends_before_the_request_costs_only_an_own_server(runtime: Runtime):
    await runtime.shutdown()
    done = await mcptui("call", "weather", "get_weather", "location=NYC")
    assert done.code == 0 and "starting weather" in done.err
