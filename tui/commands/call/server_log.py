"""Prints a server's stderr and log messages to stderr while a command runs."""

import json
import sys

from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line
from tui.core.traffic import Captured, Direction, Kind

_LOG = b'"notifications/message"'
_SHOWN = 2_000
_MAX_BYTES = 256 * 1024


class ServerLog:
    """A listener that prints them, one per line."""

    def __init__(self, server: str, redactor: Redactor) -> None:
        self._server = server
        self._redactor = redactor

    def __call__(self, captured: Captured) -> None:
        if captured.source != self._server:
            return
        if captured.kind is Kind.STDERR:
            self._print("", captured.raw.decode("utf-8", "replace"))
        elif (
            captured.kind is None and captured.direction is Direction.IN and _LOG in captured.raw[:_MAX_BYTES]
        ):
            self._print_message(captured.raw)

    def _print_message(self, raw: bytes) -> None:
        try:
            message = json.loads(raw)
        except (ValueError, RecursionError):
            return
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or message.get("method") != "notifications/message":
            return
        data = params.get("data")
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self._print(clean_line(str(params.get("level", "")), 20), text)

    def _print(self, level: str, text: str) -> None:
        line = clean_line(self._redactor.redact(text[: _SHOWN * 4]), _SHOWN)
        name = clean_line(self._server, 40)
        print(f"{name} {level}: {line}" if level else f"{name}: {line}", file=sys.stderr, flush=True)
