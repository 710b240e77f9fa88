"""Loads the OAuth client of the SDK, without its server half, and drops its log.

`import mcp` loads both halves. The server half, which a host does not need, loads starlette, uvicorn,
cryptography and the models of server messages: 15 MB that are never freed (measured). The client half imports
a few names from it, only to recognize an in-process server object, and gets empty classes with these names
instead (seen with mcp 2.3).

The SDK logs what servers send, secrets and escape sequences included, and by default such lines go to stderr,
in the middle of a full-screen program.
"""

import importlib
import logging
from types import ModuleType

from tui.core.library_imports import import_without, importing
from tui.host.schemas.wire_models import load_wire_models

LEFT_OUT = ("mcp.server",)


def load_provider() -> ModuleType:
    """Return the `provider` module. Thread-safe: all callers share one load. Call it off the event loop."""
    with importing():
        quiet = logging.getLogger("mcp")
        quiet.propagate, quiet.handlers = False, [logging.NullHandler()]
        load_wire_models()
        import_without("mcp.client.auth", LEFT_OUT)
        return importlib.import_module("tui.host.sign_in.provider")
