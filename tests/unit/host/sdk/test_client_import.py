"""The client half of the SDK, loaded without its server half, its models, built on first use, and its log."""

import logging
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from mcp.client import session

from tests.programs import printed_by
from tui.host.sdk.client_import import quiet_sdk_logging

LOADED = "from tui.host.sdk.client_import import load_client_half\nload_client_half()\nimport sys, mcp\n"
MODELS = """
from tui.host.sdk.client_import import load_wire_models
load_wire_models()
import mcp_types._v2025_11_25 as wire
from mcp_types import methods
"""


def test_this_sdk_version_supports_loading_its_client_alone_and_building_its_models_later():
    """Seen with mcp and mcp-types 2.3. If another version does not support this, all of it is loaded."""
    assert version("mcp").startswith("2.") and version("mcp-types").startswith("2.")


def test_an_sdk_that_is_already_loaded_is_unchanged():
    code = (
        "import mcp.server, mcp_types.methods\n"
        f"before = mcp.server\n{LOADED}print(sys.modules['mcp.server'] is before)\n"
        f"{MODELS}print(type(wire.Root).__name__)"
    )
    assert printed_by(code).split() == ["True", "ModelMetaclass"]


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
try:
    from tui.host.sdk.client_import import load_client_half
    load_client_half()
finally:
    over.set()
print({'starlette', 'mcp.server'} & sys.modules.keys())
"""


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
for one in threads: one.start()
for one in threads: one.join()
print(len(clients))

import sys, anyio, asyncio
before = set(sys.modules)
async def connect(): anyio.current_time()
asyncio.run(connect())
print({name for name in set(sys.modules) - before if name.startswith('anyio')})
"""


@pytest.fixture(scope="module")
def loaded_at_once() -> list[str]:
    """What a process sees whose threads load all that a connection needs at once."""
    return printed_by(AT_ONCE).splitlines()


def test_threads_that_load_it_at_once_share_one_load(loaded_at_once: list[str]):
    assert loaded_at_once[0] == "1"


def test_lazily_loaded_modules_of_a_connection_are_loaded_beforehand(loaded_at_once: list[str]):
    assert loaded_at_once[1] == "set()"


# ---- the models of the wire formats ------------------------------------------------------------------------


RESULT_OF_A_CALL = """
def said(result):
    try:
        return methods.serialize_server_result("tools/call", "2026-07-28", result)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""

CALLS = """
text = {"type": "text", "text": "Hello"}
for result in (
    {"resultType": "complete", "content": [text]},
    {"resultType": "complete", "content": [{"type": "image", "data": 1}]},
    {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}},
    {"resultType": "complete", "content": "Hello", "isError": 3},
    {"content": [text]},
):
    print(said(result))
"""


BUILT = """
unbuilt = type(wire.CallToolResult).__name__
methods.validate_server_result("ping", "2025-11-25", {})
root = wire.Root(uri="file:///a")
print(unbuilt, wire.Result._model is not None, isinstance(root, wire.Root), type(root).__name__)
build_first_models()
print(wire.InitializeResult._model is not None, wire.CallToolResult._model)
schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
body = {"tools": [{"name": "look", "inputSchema": schema}]}
print(methods.serialize_server_result("tools/list", "2025-11-25", body) == body)
"""


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    """What a process sees that loads the client half, builds models on first use, and then loads a server."""
    heavy = "{'starlette', 'uvicorn', 'cryptography', 'sse_starlette', 'mcp.server'}"
    code = f"{LOADED}import tui.host.connection\nprint({heavy} & sys.modules.keys())\n"
    build = "from tui.host.sdk.client_import import build_first_models\n"
    later = "from mcp.server.mcpserver import MCPServer\nprint(MCPServer('desk').name)"
    return printed_by(f"{code}{MODELS}{build}{BUILT}{RESULT_OF_A_CALL}{CALLS}{later}").splitlines()


def test_server_dependencies_are_not_loaded(loaded: list[str]):
    assert loaded[0] == "set()"


def test_a_server_imported_later_is_the_real_one(loaded: list[str]):
    assert loaded[-1] == "desk"


def test_only_the_models_that_a_message_needs_are_built(loaded: list[str]):
    assert loaded[1] == "_Unbuilt True True Root"


def test_the_models_that_every_connection_needs_are_built_beforehand(loaded: list[str]):
    assert loaded[2] == "True None"


def test_models_that_contain_each_other_are_built(loaded: list[str]):
    assert loaded[3] == "True"


def test_late_built_models_give_the_same_results_and_errors(loaded: list[str]):
    now = printed_by(f"{MODELS}{RESULT_OF_A_CALL}{CALLS}", MCPTUI_WHOLE_LIBRARIES="1")
    assert "Hello" in now and "validation error" in now
    assert loaded[4:-1] == now.splitlines()


def test_if_models_cannot_be_built_later_they_are_built_at_once():
    refuse = (
        "import tui.host.sdk.client_import as models\n"
        "models._Unbuilt.__new__ = lambda *given, **more: 1 / 0\n"
    )
    assert printed_by(f"{refuse}{MODELS}print(type(wire.Root).__name__)") == "ModelMetaclass"


USED_AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)

def validate():
    ready.wait()
    try:
        results.append(said({"resultType": "complete", "content": []}))
    except BaseException as error:
        results.append(repr(error))

ready, results = threading.Barrier(8), []
threads = [threading.Thread(target=validate) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print([one == results[0] and "content" in one for one in results])
"""


@pytest.fixture(scope="module")
def churned() -> list[str]:
    """What a process sees that loads the client half while a thread imports, and uses a model in threads."""
    return printed_by(f"{CHURNING}{MODELS}{RESULT_OF_A_CALL}{USED_AT_ONCE}").splitlines()


def test_modules_imported_by_other_threads_do_not_cause_the_whole_sdk_to_load(churned: list[str]):
    assert churned[0] == "set()"


def test_threads_that_first_use_a_model_at_once_share_it(churned: list[str]):
    assert churned[1] == str([True] * 8)


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    """A logger with a name of its own, which the SDK's session uses."""
    logger = logging.getLogger("renamed")
    monkeypatch.setattr(session, "logger", logger)
    yield logger
    for name in ("mcp", "client", "renamed"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True


def test_nothing_reaches_the_screen(renamed: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    quiet_sdk_logging()
    logging.getLogger("mcp.client.stdio").error("bad line %r", "secret")
    logging.getLogger("client").warning("dropped %s", "secret")
    renamed.warning("dropped %s", "secret")
    assert capfd.readouterr() == ("", "")


def test_the_logger_name_of_the_session_is_known() -> None:
    """Seen with mcp 2.3."""
    assert session.logger.name in ("client", "mcp") or session.logger.name.startswith("mcp.")
