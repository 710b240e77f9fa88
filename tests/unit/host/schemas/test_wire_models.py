"""The models of the wire formats, which are built on first use."""

from importlib.metadata import version

from tests.programs import printed_by

MODELS = """
from tui.host.schemas.wire_models import load_wire_models
methods = load_wire_models()
import mcp_types._v2025_11_25 as wire
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
    try:
        print(methods.serialize_server_result("tools/call", "2026-07-28", result))
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
body = {"tools": [{"name": "look", "inputSchema": schema}]}
print(methods.serialize_server_result("tools/list", "2025-11-25", body) == body)
"""


def test_this_sdk_version_supports_building_its_models_later():
    """Seen with mcp-types 2.3. If another version does not support this, they are built at once."""
    assert version("mcp-types").startswith("2.")


PING = """
request = methods.CLIENT_REQUESTS['ping', '2025-11-25']
before = request.__pydantic_complete__
request.model_validate({'jsonrpc': '2.0', 'id': 0, 'method': 'ping'})
print(before, request.__pydantic_complete__, wire.CallToolResult.__pydantic_complete__)
"""


def test_only_the_models_that_a_message_needs_are_built_and_give_the_same_results_and_errors():
    """Models that are already loaded are unchanged."""
    built, _, at_once = printed_by(f"import mcp_types.methods\n{MODELS}{PING}{CALLS}").partition("\n")
    assert built == "True True True"
    assert "Hello" in at_once and "validation error" in at_once and at_once.endswith("True")
    assert printed_by(f"{MODELS}{PING}{CALLS}") == f"False True False\n{at_once}"
