"""W3C trace context for requests to servers: one trace per turn, or per call by hand."""

import hashlib
import secrets

from tui.core.traffic import Cause

KEY = "traceparent"
"""Its reserved key in `_meta` (MCP specification)."""


class TraceIds:
    """Makes trace ids that cannot be linked to another run."""

    def __init__(self) -> None:
        self._run = secrets.token_bytes(16)

    def traceparent(self, cause: Cause | None) -> str:
        """Return the value for one request, "" for one that belongs to no turn and no call by hand."""
        whose = "" if cause is None else (f"turn {cause.turn}" if cause.turn else cause.call)
        if not whose:
            return ""
        trace = hashlib.sha256(self._run + whose.encode()).hexdigest()[:32]
        return f"00-{trace}-{secrets.token_hex(8)}-01"
