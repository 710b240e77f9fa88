"""Histograms of what has ended."""

import json

from tests.unit.addons.telemetry.collector import attributes_of, checked_metrics
from tui.addons.telemetry.conventions import CLIENT, SERVER
from tui.addons.telemetry.metrics import MAX_POINTS, Histograms
from tui.addons.telemetry.otlp import metrics, text_of
from tui.addons.telemetry.span import Attributes, Session, Span


def span(seconds: float, kind: int = CLIENT, error: str = "", **attributes: str | int) -> Span:
    named: Attributes = {key.replace("__", "."): value for key, value in attributes.items()}
    return Span("a" * 32, "b" * 16, "", "n", kind, 0, int(seconds * 1e9), named, error)


def read(histograms: Histograms) -> dict[str, dict[str, object]]:
    """Return the points of the metrics as a collector reads them: the last of each, as plain values."""
    request = json.loads(text_of(metrics(histograms.points, 1, 2, "i")))
    return {
        one.name: {
            "unit": one.unit,
            "points": len(one.histogram.data_points),
            "counts": list(point.bucket_counts),
            "sum": point.sum,
            "attributes": attributes_of(point),
        }
        for one in checked_metrics(request)
        for point in one.histogram.data_points
    }


def test_calls_are_counted_by_method_tool_and_error_in_the_buckets_of_the_conventions():
    histograms = Histograms()
    for seconds in (0.01, 0.011, 500):
        histograms.see(span(seconds, error="tool_error", mcp__method__name="tools/call", mcptui__entry=3))
    found = read(histograms)["mcp.client.operation.duration"]
    assert found["unit"] == "s" and found["sum"] == 500.021
    assert found["counts"] == [1, 1, *[0] * 12, 1]
    assert found["attributes"] == {"mcp.method.name": "tools/call", "error.type": "tool_error"}


def test_requests_to_models_are_counted_with_their_tokens():
    histograms = Histograms()
    usage = {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__output_tokens": 4}
    histograms.see(span(2, gen_ai__operation__name="chat", gen_ai__provider__name="openai", **usage))
    found = read(histograms)
    assert found["gen_ai.client.operation.duration"]["sum"] == 2
    tokens = found["gen_ai.client.token.usage"]
    assert (tokens["unit"], tokens["points"]) == ("{token}", 2)
    assert tokens["counts"] == [0, 1, *[0] * 13]


def test_sessions_are_counted():
    histograms = Histograms()
    histograms.see_session(Session(3.0, {"network.transport": "pipe"}))
    assert read(histograms)["mcp.client.session.duration"]["attributes"] == {"network.transport": "pipe"}


def test_requests_of_servers_and_turns_are_not_counted():
    histograms = Histograms()
    histograms.see(span(1, kind=SERVER, mcp__method__name="roots/list"))
    assert histograms.points == {}


def test_a_server_with_any_number_of_tools_gets_no_more_points():
    histograms = Histograms()
    for number in range(MAX_POINTS + 10):
        histograms.see(span(1, mcp__method__name="tools/call", gen_ai__tool__name=str(number)))
    found = read(histograms)["mcp.client.operation.duration"]
    assert found["points"] == MAX_POINTS + 1
    assert found["attributes"] == {"otel.metric.overflow": True}
    assert sum(found["counts"]) == 10  # type: ignore[call-overload]
