"""Recordings for the tests of the traffic screen: entries added in one line, and a reader over them."""

import json
import sys
from collections.abc import Callable
from typing import Any

from tests.unit.traffic.small_traffic import Bodies, Traffic
from tui.core.traffic import Cause, Direction, Kind, Outcome
from tui.traffic.record.open_recording import Recording

WALL_NS = 1_790_000_000 * 1_000_000_000


class Recorded(Traffic):
    """A growing recording for a screen: its messages are JSON."""

    wall = WALL_NS

    def __init__(self) -> None:
        super().__init__()
        self.now = 0

    def recording(self, *, judged: Callable[[], int] = lambda: sys.maxsize, **fields: Any) -> Recording:
        return Recording(self.columns, lambda: Bodies(self), judged=judged, **fields)

    def add(self, kind: Kind, body: object = b"", **fields: Any) -> int:
        """Add an entry; return its seq."""
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        way = Direction.NONE if kind in (Kind.STDERR, Kind.EVENT) else Direction.IN
        if kind in (Kind.REQUEST, Kind.MODEL_REQUEST):
            way = Direction.OUT
        return super().add(kind, body=raw, **{"direction": way, **fields})

    def call(
        self,
        tool: str = "get_weather",
        *,
        takes_ms: float = 4.1,
        outcome: Outcome = Outcome.OK,
        result: object = None,
        arguments: object = None,
        **fields: Any,
    ) -> tuple[int, int]:
        """Add a request and its response; return the seq of each."""
        seq = len(self.entries) + 1
        named = {"method": "tools/call", "tool": tool, "ident": str(seq), "root": seq} | fields
        params = {"name": tool, "arguments": arguments or {"location": "Beijing"}}
        asked = {"jsonrpc": "2.0", "id": seq, "method": "tools/call", "params": params}
        self.add(Kind.REQUEST, asked, **named)
        told = {
            "jsonrpc": "2.0",
            "id": seq,
            "result": result or {"content": [{"type": "text", "text": "25 °C"}]},
        }
        answer = self.add(Kind.RESPONSE, told, after_ms=takes_ms, pair=seq, outcome=outcome, **named)
        return seq, answer


def some() -> Recorded:
    """Return a recording with a few entries of each kind."""
    recorded = Recorded()
    recorded.add(Kind.EVENT, method="spawn", detail={"argv": ["python", "weather.py"], "pid": 4711})
    first = Cause(1, 1, "call-1")
    recorded.call(cause=first)
    recorded.call("search_notes", takes_ms=412, source="notes", cause=Cause(1, 2, "call-2"))
    recorded.add(Kind.NOT_JSON, b"DEBUG connecting to database", source="notes")
    recorded.add(Kind.STDERR, b"warning: \x1b[31mcache is cold", source="notes")
    recorded.add(Kind.NOTIFICATION, {"jsonrpc": "2.0"}, method="notifications/tools/list_changed")
    recorded.call("get_weather", takes_ms=2, outcome=Outcome.TOOL_ERROR)
    seq = len(recorded.entries) + 1
    recorded.add(Kind.REQUEST, method="tools/call", tool="wait", ident="22", source="slow", root=seq)
    return recorded
