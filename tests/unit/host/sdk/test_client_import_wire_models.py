"""The SDK's models of the wire formats, built on first use."""

from importlib.metadata import version

from tests.programs import printed_by

LOADED = """
from tui.host.sdk.client_import import load_wire_models
load_wire_models()
import mcp_types._v2025_11_25 as wire
from mcp_types import methods
"""

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


def test_this_sdk_version_supports_building_its_models_later():
    """Seen with mcp-types 2.3. If another version does not support this, the models are built at once."""
    assert version("mcp-types").startswith("2.")


def test_no_model_is_built_when_they_are_loaded():
    code = f"{LOADED}print(type(wire.CallToolResult).__name__, wire.CallToolResult._model)"
    assert printed_by(code) == "_Unbuilt None"


def test_only_the_models_that_a_message_needs_are_built():
    validate = 'methods.validate_server_result("ping", "2025-11-25", {})\n'
    code = f"{LOADED}{validate}print(wire.Result._model is not None, wire.CallToolResult._model)"
    assert printed_by(code) == "True None"


def test_late_built_models_give_the_same_results_and_errors():
    code = f"{LOADED}{RESULT_OF_A_CALL}{CALLS}"
    now = printed_by(code, MCPTUI_WHOLE_LIBRARIES="1")
    assert "Hello" in now and "validation error" in now
    assert printed_by(code) == now


def test_models_that_contain_each_other_are_built():
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    body = {"tools": [{"name": "look", "inputSchema": schema}]}
    code = f'{LOADED}print(methods.serialize_server_result("tools/list", "2025-11-25", {body!r}) == {body!r})'
    assert printed_by(code) == "True"


def test_the_models_that_every_connection_needs_are_built_beforehand():
    build = "from tui.host.sdk.client_import import build_first_models\nbuild_first_models()\n"
    code = f"{LOADED}{build}print(wire.ListToolsResult._model is not None, wire.CallToolResult._model)"
    assert printed_by(code) == "True None"


def test_an_instance_is_an_instance_of_its_class():
    code = (
        f'{LOADED}root = wire.Root(uri="file:///a")\nprint(isinstance(root, wire.Root), type(root).__name__)'
    )
    assert printed_by(code) == "True Root"


def test_with_whole_libraries_requested_all_models_are_built_at_once():
    code = f"{LOADED}print(type(wire.Root).__name__)"
    assert printed_by(code, MCPTUI_WHOLE_LIBRARIES="1") == "ModelMetaclass"


def test_models_that_are_already_imported_are_unchanged():
    code = f"import mcp_types.methods\n{LOADED}print(type(wire.Root).__name__)"
    assert printed_by(code) == "ModelMetaclass"


def test_if_models_cannot_be_built_later_they_are_built_at_once():
    refuse = (
        "import tui.host.sdk.client_import as models\n"
        "models._Unbuilt.__new__ = lambda *given, **more: 1 / 0\n"
    )
    assert printed_by(f"{refuse}{LOADED}print(type(wire.Root).__name__)") == "ModelMetaclass"


AT_ONCE = """
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


def test_threads_that_first_use_a_model_at_once_share_it():
    assert printed_by(f"{LOADED}{RESULT_OF_A_CALL}{AT_ONCE}") == str([True] * 8)
