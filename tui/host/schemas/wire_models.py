"""Loads the SDK's models of the wire formats, which the linter checks messages with.

There are some 300 of them, and a run uses a few, so pydantic builds each on its first use: saves 60 ms of the
linter and of a sign-in, and 3 MB (measured).
"""

import gc
import importlib
import sys
from contextlib import suppress
from types import ModuleType

from tui.core.library_imports import importing

_METHODS = "mcp_types.methods"


def load_wire_models() -> ModuleType:
    """Return `mcp_types.methods`. Thread-safe. Call it off the event loop."""
    with importing():
        if (loaded := sys.modules.get(_METHODS)) is not None:
            return loaded
        with suppress(ImportError, AttributeError):  # private: in another version, they are built at once
            base = importlib.import_module("mcp_types._wire_base")
            base.WireModel.model_config["defer_build"] = True  # inherited by models that are defined later
        methods = importlib.import_module(_METHODS)
        gc.freeze()  # imported objects are never garbage
        return methods
