"""Spans and metrics as OTLP/JSON: requests as a collector takes them at `/v1/traces` and `/v1/metrics`. Pure.

JSON of OTLP differs from the usual JSON of protobuf: ids are hex, enums are numbers. Integers of 64 bits are
text, and there is no NaN. The names are those of opentelemetry-proto 1.x.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tui.addons.telemetry.conventions import AGENT, CUMULATIVE, ERROR, METRICS, SCHEMA_URL, SCOPE, Metric
from tui.addons.telemetry.metrics import Point
from tui.addons.telemetry.span import Span, Value

LARGEST = (1 << 63) - 1
"""The largest integer of an attribute. A larger one becomes text."""


BATCH, BATCH_CHARS = 256, 1 << 20
"""What one request has at most: spans, and their characters, unless a single one has more.

Collectors read a request, or a line of a file, at once, by default up to 20 MiB.
"""


def batches(spans: Iterable[str]) -> Iterator[list[str]]:
    """Yield the spans of each request."""
    batch, chars = list[str](), 0
    for span in spans:
        if batch and (len(batch) == BATCH or chars + len(span) > BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(span)
        chars += len(span)
    if batch:
        yield batch


def traces(spans: Iterable[str], instance: str = "") -> str:
    """Return an ExportTraceServiceRequest of spans that are JSON already (see `span_text`).

    `instance` is the id of the run that exports, or "".
    """
    scope = {"scope": SCOPE, "spans": [], "schemaUrl": SCHEMA_URL}
    request = {"resourceSpans": [{"resource": _resource(instance), "scopeSpans": [scope]}]}
    head, spans_key, tail = text_of(request).rpartition('"spans":[')
    return f"{head}{spans_key}{','.join(spans)}{tail}"


def metrics(points: Mapping[str, Iterable[Point]], start_ns: int, now_ns: int, instance: str) -> str:
    """Return an ExportMetricsServiceRequest of what was counted since `start_ns`, by name."""
    found = []
    for name, some in points.items():
        metric = METRICS[name]
        written = [_point(metric, one, start_ns, now_ns) for one in some]
        data: dict[str, Any] = {"dataPoints": written, "aggregationTemporality": CUMULATIVE}
        kind = "histogram" if metric.boundaries else "sum"
        found.append({"name": name, "unit": metric.unit, kind: data})
        if kind == "sum":
            data["isMonotonic"] = True
    scope = {"scope": SCOPE, "metrics": found, "schemaUrl": SCHEMA_URL}
    return text_of({"resourceMetrics": [{"resource": _resource(instance), "scopeMetrics": [scope]}]})


def text_of(value: Mapping[str, Any]) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _resource(instance: str) -> dict[str, Any]:
    about: dict[str, Value] = {"service.name": AGENT, "service.version": SCOPE["version"]}
    return {"attributes": _attributes(about | ({"service.instance.id": instance} if instance else {}))}


def span_text(span: Span) -> str:
    """Return a span as JSON."""
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
    return text_of(written)


def _point(metric: Metric, point: Point, start_ns: int, now_ns: int) -> dict[str, Any]:
    about = {
        "attributes": _attributes(dict(point.attributes)),
        "startTimeUnixNano": str(start_ns),
        "timeUnixNano": str(max(start_ns, now_ns)),
    }
    if not metric.boundaries:
        return about | {"asInt": str(int(point.total))}
    return about | {
        "count": str(point.count),
        "sum": point.total,
        "bucketCounts": [str(one) for one in point.buckets],
        "explicitBounds": list(metric.boundaries),
    }


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _value(value)}
        for key, value in values.items()
        if not isinstance(value, float) or math.isfinite(value)
    ]


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
