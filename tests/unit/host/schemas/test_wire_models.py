"""The models of the wire formats, which are built on first use."""

from importlib.metadata import version

import pytest

from tests.programs import printed_by

MODELS = """
from tui.host.schemas.wire_models import load_wire_models
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


BUILT = """
unbuilt = type(wire.CallToolResult).__name__
methods.validate_server_result("ping", "2025-11-25", {})
root = wire.Root(uri="file:///a")
print(unbuilt, wire.Result._model is not None, isinstance(root, wire.Root), type(root).__name__)
print(wire.CallToolResult._model)
schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
body = {"tools": [{"name": "look", "inputSchema": schema}]}
print(methods.serialize_server_result("tools/list", "2025-11-25", body) == body)
"""


def test_this_sdk_version_supports_building_its_models_later():
    """Seen with mcp-types 2.3. If another version does not support this, they are built at once."""
    assert version("mcp-types").startswith("2.")


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    """What a process sees that builds models on first use."""
    return printed_by(f"{MODELS}{BUILT}{RESULT_OF_A_CALL}{CALLS}").splitlines()


def test_only_the_models_that_a_message_needs_are_built(loaded: list[str]):
    assert loaded[:2] == ["_Unbuilt True True Root", "None"]


def test_models_that_contain_each_other_are_built(loaded: list[str]):
    assert loaded[2] == "True"


def test_late_built_models_give_the_same_results_and_errors(loaded: list[str]):
    now = printed_by(f"{MODELS}{RESULT_OF_A_CALL}{CALLS}", MCPTUI_WHOLE_LIBRARIES="1")
    assert "Hello" in now and "validation error" in now
    assert loaded[3:] == now.splitlines()


def test_models_that_are_already_loaded_are_unchanged():
    code = f"import mcp_types.methods\n{MODELS}print(type(wire.Root).__name__)"
    assert printed_by(code) == "ModelMetaclass"


def test_if_models_cannot_be_built_later_they_are_built_at_once():
    refuse = (
        "import tui.host.schemas.wire_models as models\n"
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


def test_threads_that_first_use_a_model_at_once_share_it():
    assert printed_by(f"{MODELS}{RESULT_OF_A_CALL}{USED_AT_ONCE}") == str([True] * 8)
