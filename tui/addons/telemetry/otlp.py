"""Spans and metrics as OTLP/JSON: requests as a collector takes them at `/v1/traces` and `/v1/metrics`. Pure.

JSON of OTLP differs from the usual JSON of protobuf: ids are hex, enums are numbers. Integers of 64 bits are
text, and there is no NaN. The names are those of opentelemetry-proto 1.x.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from tui.addons.telemetry.conventions import AGENT, CUMULATIVE, ERROR, METRICS, SCHEMA_URL, SCOPE
from tui.addons.telemetry.metrics import Point
from tui.addons.telemetry.span import Span, Value

LARGEST = (1 << 63) - 1
"""The largest integer of an attribute. A larger one becomes text."""


def traces(spans: Iterable[Span], instance: str = "") -> dict[str, Any]:
    """Return an ExportTraceServiceRequest; `instance` is the id of the run that exports, or ""."""
    scope = {"scope": SCOPE, "spans": [_span(one) for one in spans], "schemaUrl": SCHEMA_URL}
    return {"resourceSpans": [{"resource": _resource(instance), "scopeSpans": [scope]}]}


def metrics(
    points: Mapping[str, Iterable[Point]], start_ns: int, now_ns: int, instance: str
) -> dict[str, Any]:
    """Return an ExportMetricsServiceRequest of histograms that count from `start_ns`, by name."""
    found = [
        {
            "name": name,
            "unit": METRICS[name][0],
            "histogram": {
                "dataPoints": [_point(name, one, start_ns, now_ns) for one in some],
                "aggregationTemporality": CUMULATIVE,
            },
        }
        for name, some in points.items()
    ]
    scope = {"scope": SCOPE, "metrics": found, "schemaUrl": SCHEMA_URL}
    return {"resourceMetrics": [{"resource": _resource(instance), "scopeMetrics": [scope]}]}


def text_of(request: Mapping[str, Any]) -> str:
    """Return a request as one line of JSON."""
    return json.dumps(request, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _resource(instance: str) -> dict[str, Any]:
    about: dict[str, Value] = {"service.name": AGENT, "service.version": SCOPE["version"]}
    return {"attributes": _attributes(about | ({"service.instance.id": instance} if instance else {}))}


def _span(span: Span) -> dict[str, Any]:
    written: dict[str, Any] = {"traceId": span.trace, "spanId": span.id}
    if span.parent:
        written["parentSpanId"] = span.parent
    written |= {
        "name": _sendable(span.name),
        "kind": span.kind,
        "startTimeUnixNano": str(max(0, span.start_ns)),
        "endTimeUnixNano": str(max(0, span.start_ns, span.end_ns)),
        "attributes": _attributes(span.attributes | ({"error.type": span.error} if span.error else {})),
    }
    if span.link:
        written["links"] = [{"traceId": span.trace, "spanId": span.link}]
    if span.error:
        message = {"message": _sendable(span.message)} if span.message else {}
        written["status"] = {**message, "code": ERROR}
    return written


def _point(name: str, point: Point, start_ns: int, now_ns: int) -> dict[str, Any]:
    return {
        "attributes": _attributes(dict(point.attributes)),
        "startTimeUnixNano": str(start_ns),
        "timeUnixNano": str(max(start_ns, now_ns)),
        "count": str(point.count),
        "sum": point.total,
        "min": point.least,
        "max": point.most,
        "bucketCounts": [str(one) for one in point.buckets],
        "explicitBounds": list(METRICS[name][1]),
    }


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if _is_number(value)]


def _is_number(value: Value) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int() if -LARGEST <= value <= LARGEST:
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(one) for one in value]}}
        case _:
            return {"stringValue": _sendable(str(value))}


def _sendable(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no UTF-8 and no protobuf can have."""
    return text.encode("utf-8", "replace").decode()
