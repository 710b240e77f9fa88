"""The client half of the SDK, loaded without its server half."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

LOADED = "from tui.host.client_half import load_client_half\nload_client_half()\nimport sys, mcp\n"


def printed_by(code: str) -> str:
    """Return what a fresh interpreter prints; whoever runs the tests has long loaded all of the SDK."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_is_loaded_that_only_servers_need():
    heavy = "{'starlette', 'uvicorn', 'cryptography', 'sse_starlette', 'mcp.server'}"
    code = f"{LOADED}import tui.host.connection\nprint({heavy} & sys.modules.keys())"
    assert printed_by(code) == "set()"


def test_who_imports_a_server_afterwards_gets_the_real_one():
    code = f"{LOADED}from mcp.server.mcpserver import MCPServer\nprint(MCPServer('desk').name)"
    assert printed_by(code) == "desk"


def test_an_sdk_that_is_loaded_already_is_left_as_it_is():
    code = f"import mcp.server\nbefore = mcp.server\n{LOADED}print(sys.modules['mcp.server'] is before)"
    assert printed_by(code) == "True"


def test_an_sdk_that_does_not_take_empty_classes_is_loaded_whole():
    code = (
        "import tui.host.client_half as half\n"
        "half._EmptyModule.__getattr__ = lambda module, name: 1 / 0\n"
        f"{LOADED}import mcp.client\nprint('starlette' in sys.modules, mcp.server.Server.__name__)"
    )
    assert printed_by(code) == "True Server"
