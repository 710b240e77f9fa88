"""The command line of `mcptui agent`."""

import os
import subprocess
import sys

import pytest

from tui.addons.agent.command import agent
from tui.commands.command_line import parse
from tui.core.errors import StorageError


def test_a_recording_that_does_not_exist_is_an_error():
    with pytest.raises(StorageError, match="recording not found"):
        agent(parse(["agent", "--recording", "nope"]))


def test_what_tools_print_does_not_reach_the_client():
    code = (
        "import os, sys; from tui.addons.agent.command import _wire; wire_in, wire_out = _wire();"
        "print('stray', flush=True); os.write(wire_out, os.read(wire_in, 5));"
        "sys.exit(len(os.read(0, 1)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"hello", capture_output=True, env=dict(os.environ), check=False
    )
    assert (done.stdout, done.stderr.strip(), done.returncode) == (b"hello", b"stray", 0)


def test_only_the_servers_half_of_the_sdk_is_loaded():
    code = (
        "import sys; from tui.core.library_imports import load_stdio_server; load_stdio_server();"
        "left_out = {'starlette', 'uvicorn', 'httpx2', 'jwt', 'mcp.client', 'textual'};"
        "print(sorted(left_out & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
