"""Keeps the SDK's log lines in memory, without payload, and off the screen.

The SDK logs what servers send, secrets and escape sequences included, and by default such lines go to
stderr, in the middle of a full-screen program.
"""

import logging
import sys
from collections import deque
from collections.abc import Iterator

KEPT = 200
_LOGGERS = ("mcp", "client")
"""The SDK's loggers; its session writes to one called "client" (mcp 2.3)."""


class SdkLog(logging.Handler):
    """Keeps the last lines of the SDK's log: level, logger, message template, and the type of an error.

    Arguments are omitted, because they contain what the server sent.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        template = record.msg if isinstance(record.msg, str) and record.args else "(message omitted)"
        error = record.exc_info[0] if record.exc_info else None
        kind = f" [{error.__name__}]" if error is not None else ""
        self.lines.append(f"{record.levelname} {record.name}:{record.lineno} {template[:160]}{kind}")


def quiet_sdk_logging() -> SdkLog:
    """Send everything that the SDK logs to the returned handler, and nowhere else.

    Call it again once the SDK is loaded, to find loggers under other names.
    """
    handler = SdkLog()
    for name in {*_LOGGERS, *_loggers_of_loaded_modules()}:
        logger = logging.getLogger(name)
        logger.propagate = False
        for known in [item for item in logger.handlers if isinstance(item, SdkLog)]:
            logger.removeHandler(known)
        logger.addHandler(handler)
    return handler


def _loggers_of_loaded_modules() -> Iterator[str]:
    """Yield the names of the SDK's loggers outside of its own hierarchy."""
    for name, module in sys.modules.copy().items():
        if name.startswith("mcp."):
            logger = vars(module).get("logger")
            if isinstance(logger, logging.Logger) and not logger.name.startswith("mcp"):
                yield logger.name
