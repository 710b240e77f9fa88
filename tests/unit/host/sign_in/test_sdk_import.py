"""The OAuth client of the SDK, loaded without its server half, and its log."""

from importlib.metadata import version

import pytest

from tests.programs import printed_by

LOADED = "from tui.host.sign_in.sdk_import import load_provider\nload_provider()\nimport sys, mcp\n"


def test_this_sdk_version_supports_loading_its_client_alone():
    """Seen with mcp 2.3. If another version does not support this, all of it is loaded."""
    assert version("mcp").startswith("2.")


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


def test_nothing_that_the_sdk_logs_reaches_the_screen():
    log = "import logging\nlogging.getLogger('mcp.client.auth').error('bad line %r', 'secret')"
    assert printed_by(f"{LOADED}{log}\nprint(7)") == "7"
