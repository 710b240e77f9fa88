"""Servers that print to stdout, where only messages belong: real processes, the real commands."""

import sys
from pathlib import Path

import pytest

from tests.protocol.command import mcptui
from tests.ui.real_stage import real_app

SERVER = r"""
import json, sys
def out(raw): sys.stdout.buffer.write(raw); sys.stdout.buffer.flush()
def say(**more): out(json.dumps({"jsonrpc": "2.0", **more}).encode() + b"\n")
out(b"\x1b[31mStarting\x1b[0m\n")
print("on stderr", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    match asked["method"]:
        case "initialize":
            who, offers = {"name": "n", "version": "1"}, {"tools": {}}
            about = {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": who}
            say(id=asked["id"], result=about)
        case "tools/list":
            say(id=asked["id"], result={"tools": [{"name": "add", "inputSchema": {"type": "object"}}]})
        case "tools/call":
            out(b"calling \xff"); out(b" now\n")
            say(id=asked["id"], result={"content": [{"type": "text", "text": "done"}]})
        case _ if "id" in asked:
            say(id=asked["id"], error={"code": -32601, "message": "unknown"})
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    (tmp_path / "noisy.py").write_text(SERVER)
    return f"[servers.noisy]\ncommand = {sys.executable!r}\nargs = ['{tmp_path}/noisy.py']\n"


async def test_printed_lines_are_a_mark_in_the_servers_pane_and_in_the_log(
    separate_home: Path, config: str
) -> None:
    async with real_app(separate_home, config) as real:
        await real.has_state("noisy", "RUNNING")
        await real.shows("! 1 line on stdout")
        tool = real.runtime.workbench.tools("noisy")[0]
        await real.runtime.workbench.call_tool(tool, {}, call="c", seconds=10, progress=lambda *_: None)
        await real.shows("! 2 lines on stdout")
        log = real.runtime.host.stderr("noisy")
        assert set(log) == {"stdout: Starting", "on stderr", "stdout: calling \ufffd now"}
        assert real.runtime.host.status("noisy").stderr_last == "on stderr"


async def test_the_log_of_the_workbench_has_what_was_printed(separate_home: Path, config: str) -> None:
    async with real_app(separate_home, config) as real:
        await real.has_state("noisy", "RUNNING")
        await real.press("f3", "enter", "1")
        await real.shows("1 line on stdout, in its log")
        await real.press("5")
        await real.shows("stdout     Starting")


async def test_run_says_what_was_printed_before_and_during_its_turn(tmp_path: Path, config: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(config)
    options = ("--config", str(file), "--trust-config", "--demo", "--server", "noisy")
    ran = await mcptui("run", *options, "--approve", "all", "call add {}")
    assert "· noisy: 2 lines on stdout: Starting. Only messages belong there" in ran.err


async def test_the_commands_say_what_was_printed(tmp_path: Path, config: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(config)
    options = ("--config", str(file), "--trust-config")
    listed = await mcptui("servers", *options)
    assert "    ! 1 line on stdout: Starting. Only messages belong there" in listed.out
    called = await mcptui("call", "noisy", "add", *options)
    assert called.out == "done\n"
    assert "· noisy: 2 lines on stdout: Starting. Only messages belong there" in called.err
