"""Histograms over spans and sessions that have ended. Pure."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tui.addons.telemetry.conventions import (
    CLIENT,
    DIMENSIONS,
    METRICS,
    MODEL_OPERATION,
    OPERATION,
    SESSION,
    TOKENS,
)
from tui.addons.telemetry.span import Attributes, Session, Span, Value
from tui.core.jsonrpc.protocol import STAY_OPEN

MAX_POINTS = 500
"""Maximum points of a metric: a server can name any number of tools. The rest is counted together."""

OVERFLOW: Attributes = {"otel.metric.overflow": True}
"""The attributes of that point, as the SDKs of OpenTelemetry name them."""

_TOKENS = {"input": "gen_ai.usage.input_tokens", "output": "gen_ai.usage.output_tokens"}


@dataclass(slots=True)
class Point:
    """What was counted with the same attributes. A bucket ends with its boundary, the last has none."""

    attributes: tuple[tuple[str, Value], ...]
    buckets: list[int]
    count: int = 0
    total: float = 0.0
    least: float = field(default=float("inf"))
    most: float = field(default=float("-inf"))


class Histograms:
    """The metrics since the start."""

    def __init__(self) -> None:
        self._points: dict[str, dict[tuple[tuple[str, Value], ...], Point]] = {}

    def see(self, span: Span) -> None:
        """Count a span, if it is a request of mcptui that is to be answered soon."""
        found = span.attributes | ({"error.type": span.error} if span.error else {})
        if span.kind != CLIENT or found.get("mcp.method.name") in STAY_OPEN:
            return
        if "mcp.method.name" in found:
            self._add(OPERATION, span.seconds, found)
            return
        self._add(MODEL_OPERATION, span.seconds, found)
        for kind, name in _TOKENS.items():
            if isinstance(number := found.get(name), int):
                self._add(TOKENS, number, found | {"gen_ai.token.type": kind})

    def see_session(self, session: Session) -> None:
        self._add(SESSION, session.seconds, session.attributes)

    @property
    def points(self) -> Mapping[str, Sequence[Point]]:
        return {name: list(found.values()) for name, found in self._points.items()}

    def _add(self, name: str, number: float, attributes: Attributes) -> None:
        known = self._points.setdefault(name, {})
        key = tuple((one, attributes[one]) for one in DIMENSIONS[name] if one in attributes)
        if key not in known and len(known) >= MAX_POINTS:
            key = tuple(OVERFLOW.items())
        bounds = METRICS[name][1]
        point = known.setdefault(key, Point(key, [0] * (len(bounds) + 1)))
        point.buckets[bisect_left(bounds, number)] += 1
        point.count += 1
        point.total += number
        point.least, point.most = min(point.least, number), max(point.most, number)
