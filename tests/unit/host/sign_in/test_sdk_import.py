"""The OAuth client of the SDK, loaded without its server half, and its log."""

from importlib.metadata import version

import pytest

from tests.programs import printed_by

LOADED = "from tui.host.sign_in.sdk_import import load_provider\nload_provider()\nimport sys, mcp\n"


def test_this_sdk_version_supports_loading_its_client_alone():
    """Seen with mcp 2.3. If another version does not support this, all of it is loaded."""
    assert version("mcp").startswith("2.")


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


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    """What a process sees that loads the client half, and then a server."""
    heavy = "{'starlette', 'uvicorn', 'sse_starlette', 'mcp.server'}"
    later = "from mcp.server.mcpserver import MCPServer\nprint(MCPServer('desk').name)"
    return printed_by(f"{LOADED}print({heavy} & sys.modules.keys())\n{later}").splitlines()


def test_server_dependencies_are_not_loaded(loaded: list[str]):
    assert loaded[0] == "set()"


def test_a_server_imported_later_is_the_real_one(loaded: list[str]):
    assert loaded[-1] == "desk"


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
try:
    from tui.host.sign_in.sdk_import import load_provider
    load_provider()
finally:
    over.set()
print({'starlette', 'mcp.server'} & sys.modules.keys())
"""


def test_modules_imported_by_other_threads_do_not_cause_the_whole_sdk_to_load():
    assert printed_by(CHURNING) == "set()"


AT_ONCE = """
import threading
from tui.host.sign_in.sdk_import import load_provider

def load():
    ready.wait()
    try:
        found.add(load_provider())
    except Exception as error:
        print(repr(error))

ready, found = threading.Barrier(8), set()
threads = [threading.Thread(target=load) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(len(found))
"""


def test_threads_that_load_it_at_once_share_one_load():
    assert printed_by(AT_ONCE) == "1"


def test_nothing_that_the_sdk_logs_reaches_the_screen():
    log = "import logging\nlogging.getLogger('mcp.client.auth').error('bad line %r', 'secret')"
    assert printed_by(f"{LOADED}{log}\nprint(7)") == "7"
