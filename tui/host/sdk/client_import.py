"""Loads the client half of the SDK without its server half, which a host does not need.

`import mcp` loads both. The server half loads starlette, uvicorn, cryptography and the models of server
messages: 15 MB that are never freed (measured). The client half imports a few names from it, only to
recognize an in-process server object, and gets empty classes with these names instead (seen with mcp 2.3).
The client half's models of the wire formats are built on first use.
"""

import importlib
from contextlib import suppress

from tui.core.importing import importing
from tui.core.partial_import import import_without
from tui.host.sdk.wire_models import build_first_models, load_wire_models

LEFT_OUT = ("mcp.server",)


def load_client_half() -> None:
    """Import the client half, unless the SDK is imported already. Thread-safe: all callers share one load."""
    with importing():
        load_wire_models()
        import_without("mcp", ["mcp.client"], LEFT_OUT)


def load_first_uses() -> None:
    """Load what the SDK imports on first use, which would block the event loop for 50 ms (measured)."""
    with importing():
        build_first_models()
        with suppress(ImportError):  # another version of anyio loads it itself
            importlib.import_module("anyio._backends._asyncio")
