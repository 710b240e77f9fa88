"""The client half of the SDK, loaded without its server half."""

from importlib.metadata import version

from tests.programs import printed_by

LOADED = "from tui.host.sdk.client_import import load_client_half\nload_client_half()\nimport sys, mcp\n"


def test_this_sdk_version_supports_loading_its_client_alone():
    """Seen with mcp 2.3. If another version does not support this, all of the SDK is loaded."""
    assert version("mcp").startswith("2.")


def test_server_dependencies_are_not_loaded():
    heavy = "{'starlette', 'uvicorn', 'cryptography', 'sse_starlette', 'mcp.server'}"
    code = f"{LOADED}import tui.host.connection\nprint({heavy} & sys.modules.keys())"
    assert printed_by(code) == "set()"


def test_lazily_loaded_modules_of_a_connection_are_loaded_beforehand():
    code = (
        "from tui.host.server_start import connections\nconnections()\n"
        "import sys, anyio, asyncio\n"
        "before = set(sys.modules)\n"
        "async def connect(): anyio.current_time()\n"
        "asyncio.run(connect())\n"
        "print({name for name in set(sys.modules) - before if name.startswith('anyio')})"
    )
    assert printed_by(code) == "set()"


def test_a_server_imported_later_is_the_real_one():
    code = f"{LOADED}from mcp.server.mcpserver import MCPServer\nprint(MCPServer('desk').name)"
    assert printed_by(code) == "desk"


def test_an_sdk_that_is_already_loaded_is_unchanged():
    code = f"import mcp.server\nbefore = mcp.server\n{LOADED}print(sys.modules['mcp.server'] is before)"
    assert printed_by(code) == "True"


def test_an_sdk_that_fails_with_empty_classes_is_loaded_completely():
    code = (
        "import tui.core.library_imports as half\n"
        "half._EmptyModule.__getattr__ = lambda module, name: 1 / 0\n"
        f"{LOADED}import mcp.client\nprint('starlette' in sys.modules, mcp.server.Server.__name__)"
    )
    assert printed_by(code) == "True Server"


CHURNING = """
import sys, threading

def churn():
    names = [f"churn{number}" for number in range(1000)]
    while not over.is_set():
        for name in names:
            sys.modules[name] = sys
        for name in names:
            del sys.modules[name]

over = threading.Event()
sys.setswitchinterval(1e-6)
sys.modules.update(dict.fromkeys((f"many{number}" for number in range(50_000)), sys))
threading.Thread(target=churn).start()
"""


def test_modules_imported_by_other_threads_do_not_cause_the_whole_sdk_to_load():
    code = (
        f"{CHURNING}"
        "try:\n"
        "    from tui.host.sdk.client_import import load_client_half\n"
        "    load_client_half()\n"
        "finally:\n"
        "    over.set()\n"
        "print({'starlette', 'mcp.server'} & sys.modules.keys())"
    )
    assert printed_by(code) == "set()"


AT_ONCE = """
import threading
import tui.core.library_imports as half
from tui.host.server_start import connections

def load():
    ready.wait()
    try:
        clients.add(connections().Client)
    except Exception as error:
        print(repr(error))

ready, clients = threading.Barrier(8), set()
threads = [threading.Thread(target=load) for _ in range(8)]
"""
LOADING = "for one in threads: one.start()\nfor one in threads: one.join()\nprint(len(clients))"


def test_threads_that_load_it_at_once_share_one_load():
    assert printed_by(f"{AT_ONCE}{LOADING}") == "1"


def test_threads_that_load_it_at_once_share_one_load_of_the_whole_sdk():
    refuse = "half._EmptyModule.__getattr__ = lambda module, name: 1 / 0\n"
    assert printed_by(f"{AT_ONCE}{refuse}{LOADING}") == "1"
