"""A strict receiver of OTLP/HTTP with JSON on loopback, and the checks that it makes.

What it receives is checked against the text of the specification, because the JSON of protobuf is more
lenient (and has ids in base64), and is then parsed with opentelemetry-proto, which knows every name and type.
"""

import asyncio
import base64
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.http_server import Asked, HttpServer, reply

_NUMBER = re.compile(r"0|[1-9][0-9]{0,19}")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,18})")


def checked_traces(request: dict[str, Any]) -> list[Any]:
    """Return the spans of an ExportTraceServiceRequest as messages of protobuf; AssertionError if invalid."""
    for span in _spans(request):
        assert re.fullmatch(r"(?!0{32})[0-9a-f]{32}", span["traceId"]), span
        assert re.fullmatch(r"(?!0{16})[0-9a-f]{16}", span["spanId"]), span
        assert re.fullmatch(r"[0-9a-f]{16}", span.get("parentSpanId", "0" * 16)), span
        assert span["kind"] in (1, 2, 3) and type(span["kind"]) is int
        assert span["name"]
        times = [span["startTimeUnixNano"], span["endTimeUnixNano"]]
        assert all(_NUMBER.fullmatch(one) for one in times) and int(times[0]) <= int(times[1])
        assert span.get("status", {"code": 2})["code"] == 2
        _check_attributes(span["attributes"])
    for resource in request["resourceSpans"]:
        _check_resource(resource)
    parsed = ParseDict(_with_base64(request), ExportTraceServiceRequest())
    return [span for one in parsed.resource_spans for scope in one.scope_spans for span in scope.spans]


def checked_metrics(request: dict[str, Any]) -> list[Any]:
    """Return the metrics of an ExportMetricsServiceRequest as messages of protobuf."""
    for resource in request["resourceMetrics"]:
        _check_resource(resource)
        for metric in resource["scopeMetrics"][0]["metrics"]:
            if (sums := metric.get("sum")) is not None:
                assert sums["isMonotonic"] is True and sums["aggregationTemporality"] == 2
                assert all(_NUMBER.fullmatch(point["asInt"]) for point in sums["dataPoints"])
                continue
            histogram = metric["histogram"]
            assert histogram["aggregationTemporality"] == 2
            for point in histogram["dataPoints"]:
                _check_attributes(point["attributes"])
                counts = [int(one) for one in point["bucketCounts"]]
                assert all(_NUMBER.fullmatch(one) for one in (point["count"], *point["bucketCounts"]))
                assert sum(counts) == int(point["count"]) > 0
                assert len(counts) == len(point["explicitBounds"]) + 1
                assert point["explicitBounds"] == sorted(set(point["explicitBounds"]))
    parsed = ParseDict(request, ExportMetricsServiceRequest())
    return [one for each in parsed.resource_metrics for scope in each.scope_metrics for one in scope.metrics]


def attributes_of(message: Any) -> dict[str, Any]:
    """Return the attributes of a span or a point, as plain values."""
    found = {}
    for one in message.attributes:
        kind = one.value.WhichOneof("value")
        value = getattr(one.value, kind)
        found[one.key] = [each.string_value for each in value.values] if kind == "array_value" else value
    return found


def _spans(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _check_resource(resource: dict[str, Any]) -> None:
    _check_attributes(resource["resource"]["attributes"])
    (scope,) = resource.get("scopeSpans") or resource["scopeMetrics"]
    assert scope["scope"]["name"] == "mcptui"
    assert scope["schemaUrl"].startswith("https://opentelemetry.io/schemas/")


def _check_attributes(attributes: list[dict[str, Any]]) -> None:
    keys = [one["key"] for one in attributes]
    assert len(set(keys)) == len(keys) and all(keys), keys
    for one in attributes:
        ((kind, value),) = one["value"].items()
        match kind:
            case "intValue":
                assert _INTEGER.fullmatch(value) and abs(int(value)) < 2**63
            case "stringValue":
                value.encode()
            case "arrayValue":
                assert all("stringValue" in each for each in value["values"])
            case _:
                assert (kind, type(value)) in (("boolValue", bool), ("doubleValue", float)), one


def _with_base64(value: Any) -> Any:
    """Return a request with ids as the JSON of protobuf has them."""
    if isinstance(value, list):
        return [_with_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else _with_base64(one)
        for key, one in value.items()
    }


Answer = Callable[[dict[str, Any]], bytes]


@dataclass
class Collector:
    """The receiver. `answers` are used up first; `faults` are what it found wrong."""

    server: HttpServer = field(default_factory=HttpServer)
    answers: deque[Answer] = field(default_factory=deque)
    spans: list[Any] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    @property
    def by_name(self) -> dict[str, Any]:
        return {span.name: span for span in self.spans}

    async def _take(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.popleft()(asked.message) if self.answers else reply(b"{}")
        if b" 200 " in answer[:20]:
            try:
                assert asked.verb == "POST" and asked.headers["content-type"] == "application/json"
                if asked.path == "/v1/traces":
                    self.spans += checked_traces(asked.message)
                else:
                    assert asked.path == "/v1/metrics", asked.path
                    self.metrics |= {one.name: one for one in checked_metrics(asked.message)}
            except Exception as error:
                self.faults.append(f"{error!r} {json.dumps(asked.message)[:2000]}")
        self.heard.set()
        writer.write(answer)
        await writer.drain()


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """Run a collector; what it found wrong is an error at the end."""
    collector = Collector()
    collector.server.answers["POST"] = collector._take
    await collector.server.start()
    try:
        yield collector
    finally:
        await collector.server.stop()
    assert collector.faults == []
