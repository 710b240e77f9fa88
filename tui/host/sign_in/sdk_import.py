"""Loads the SDK's OAuth client, set up for us, and drops its log.

The SDK logs what servers send, secrets and escape sequences included, and by default such lines go to stderr,
in the middle of a full-screen program.
"""

import importlib
import logging
from types import ModuleType

from tui.core.library_imports import importing, load_sign_in


def load_provider() -> ModuleType:
    """Return the `provider` module. Thread-safe: all callers share one load. Call it off the event loop."""
    with importing():
        quiet = logging.getLogger("mcp")
        quiet.propagate, quiet.handlers = False, [logging.NullHandler()]
        load_sign_in()
        return importlib.import_module("tui.host.sign_in.provider")
