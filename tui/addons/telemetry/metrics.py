"""Histograms and counters over spans and sessions that have ended. Pure."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.addons.telemetry.conventions import (
    CLIENT,
    INFERENCE,
    INTERNAL,
    METRICS,
    MODALITY,
    OPERATION,
    SESSION,
    TURN,
    USAGE,
)
from tui.addons.telemetry.span import Attributes, Session, Span, Value
from tui.core.jsonrpc.protocol import STAY_OPEN

MAX_POINTS = 500
"""Maximum points of a metric: a server can name any number of tools. The rest is counted together."""

OVERFLOW: Attributes = {"otel.metric.overflow": True}
"""The attributes of that point, as the SDKs of OpenTelemetry name them."""

Key = tuple[tuple[str, Value], ...]


@dataclass(slots=True)
class Point:
    """What was counted with the same attributes. A bucket ends with its boundary, the last has none."""

    attributes: Key
    buckets: list[int]
    count: int = 0
    total: float = 0


class Metrics:
    """The metrics since the start."""

    def __init__(self) -> None:
        self._points: dict[str, dict[Key, Point]] = {}

    def see(self, span: Span) -> None:
        """Count a span, if it is a turn, or a request of mcptui that is to be answered soon."""
        found = span.attributes | ({"error.type": span.error} if span.error else {})
        if span.kind == INTERNAL:
            self._add(TURN, span.seconds, found)
        if span.kind != CLIENT or found.get("mcp.method.name") in STAY_OPEN:
            return
        if "mcp.method.name" in found:
            self._add(OPERATION, span.seconds, found)
            return
        self._add(INFERENCE, span.seconds, found)
        for name, attribute in USAGE.items():
            number = found.get(attribute, 0)  # also of requests without usage, as the conventions say
            self._add(name, number if isinstance(number, int) else 0, found | MODALITY)

    def see_session(self, session: Session) -> None:
        self._add(SESSION, *session)

    @property
    def points(self) -> Mapping[str, Sequence[Point]]:
        return {name: list(found.values()) for name, found in self._points.items()}

    def _add(self, name: str, number: float, attributes: Attributes) -> None:
        known, metric = self._points.setdefault(name, {}), METRICS[name]
        key = tuple((one, attributes[one]) for one in metric.dimensions if one in attributes)
        if key not in known and len(known) >= MAX_POINTS:
            key = tuple(OVERFLOW.items())
        point = known.setdefault(key, Point(key, [0] * (len(metric.boundaries) + 1)))
        point.buckets[bisect_left(metric.boundaries, number)] += 1
        point.count += 1
        point.total += number
