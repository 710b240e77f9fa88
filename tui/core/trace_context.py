"""W3C trace context for requests to servers: one trace for each turn, or each call made by hand."""

import hashlib
import secrets

from tui.core.traffic import Cause

KEY = "traceparent"
"""Its member of `_meta`, as the MCP specification reserves it."""


class TraceIds:
    """Makes trace ids that nobody can link to another run."""

    def __init__(self) -> None:
        self._run = secrets.token_bytes(16)

    def traceparent(self, cause: Cause | None) -> str:
        """Return the value for one request, "" for one that belongs to no turn and no call by hand."""
        whose = "" if cause is None else (f"turn {cause.turn}" if cause.turn else cause.call)
        if not whose:
            return ""
        trace = hashlib.sha256(self._run + whose.encode()).hexdigest()[:32]
        return f"00-{trace}-{secrets.token_hex(8)}-01"
