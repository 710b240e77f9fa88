"""Keeps the SDK's log off the screen.

The SDK logs what servers send, secrets and escape sequences included, and by default such lines go to
stderr, in the middle of a full-screen program.
"""

import logging
import sys
from collections.abc import Iterator

_LOGGERS = ("mcp", "client")
"""The SDK's loggers; its session writes to one called "client" (mcp 2.3)."""


def quiet_sdk_logging() -> None:
    """Drop everything that the SDK logs.

    Call it again once the SDK is loaded, to find loggers under other names.
    """
    for name in {*_LOGGERS, *_loggers_of_loaded_modules()}:
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [logging.NullHandler()]


def _loggers_of_loaded_modules() -> Iterator[str]:
    """Yield the names of the SDK's loggers outside of its own hierarchy."""
    for name, module in sys.modules.copy().items():
        if name.startswith("mcp."):
            logger = vars(module).get("logger")
            if isinstance(logger, logging.Logger) and not logger.name.startswith("mcp"):
                yield logger.name
