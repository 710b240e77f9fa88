"""Metrics of what has ended."""

import json

from tests.unit.addons.telemetry.collector import attributes_of, checked_metrics
from tui.addons.telemetry.conventions import CLIENT, INTERNAL, SERVER
from tui.addons.telemetry.metrics import MAX_POINTS, Metrics
from tui.addons.telemetry.otlp import metrics
from tui.addons.telemetry.span import Attributes, Span


def span(seconds: float, kind: int = CLIENT, error: str = "", **attributes: str | int) -> Span:
    named: Attributes = {key.replace("__", "."): value for key, value in attributes.items()}
    return Span("a" * 32, "b" * 16, "", "n", kind, 0, int(seconds * 1e9), named, error)


def read(seen: Metrics) -> dict[str, dict[str, object]]:
    """Return the points of the metrics as a collector reads them: the last of each, as plain values."""
    found = {}
    for one in checked_metrics(json.loads(metrics(seen.points, 1, 2, "i"))):
        points = one.histogram.data_points or one.sum.data_points
        *_, point = points
        about = {"unit": one.unit, "points": len(points), "attributes": attributes_of(point)}
        of_kind = {"counts": list(point.bucket_counts), "sum": point.sum} if one.histogram.data_points else {}
        found[one.name] = about | (of_kind or {"sum": point.as_int})
    return found


def test_calls_are_counted_by_method_tool_and_error_in_the_buckets_of_the_conventions():
    seen = Metrics()
    for seconds in (0.01, 0.011, 500):
        seen.see(span(seconds, error="tool_error", mcp__method__name="tools/call", mcptui__entry=3))
    found = read(seen)["mcp.client.operation.duration"]
    assert found["unit"] == "s" and found["sum"] == 500.021
    assert found["counts"] == [1, 1, *[0] * 12, 1]
    assert found["attributes"] == {"mcp.method.name": "tools/call", "error.type": "tool_error"}


def test_requests_to_models_are_counted_with_their_tokens():
    seen = Metrics()
    usage = {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__output_tokens": 4}
    seen.see(span(2, gen_ai__operation__name="chat", gen_ai__provider__name="openai", **usage))
    found = read(seen)
    assert found["gen_ai.client.inference.duration"]["sum"] == 2
    used = "gen_ai.client.inference.usage"
    assert [found[f"{used}.{part}_tokens"]["sum"] for part in ("input", "output", "reasoning.output")] == [
        *(100, 4, 0)
    ]
    assert found[f"{used}.input_tokens"]["attributes"]["gen_ai.token.modality"] == "unknown"  # type: ignore[index]
    of_each = found["gen_ai.client.inference.operation.output_tokens"]
    assert (of_each["unit"], of_each["counts"]) == ("{token}", [0, 1, *[0] * 13])
    assert "gen_ai.token.modality" not in of_each["attributes"]  # type: ignore[operator]


def test_a_request_without_usage_counts_as_none():
    seen = Metrics()
    seen.see(span(2, error="503", gen_ai__operation__name="chat"))
    assert read(seen)["gen_ai.client.inference.usage.input_tokens"]["sum"] == 0


def test_sessions_are_counted():
    seen = Metrics()
    seen.see_session((3.0, {"network.transport": "pipe"}))
    assert read(seen)["mcp.client.session.duration"]["attributes"] == {"network.transport": "pipe"}


def test_turns_are_counted_without_their_numbers():
    seen = Metrics()
    for number in (1, 2):
        named = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": "mcptui"}
        seen.see(span(4, kind=INTERNAL, mcptui__turn=number, **named))
    found = read(seen)
    assert list(found) == ["gen_ai.invoke_agent.duration"]
    of_turns = found["gen_ai.invoke_agent.duration"]
    assert (of_turns["points"], of_turns["sum"]) == (1, 8)
    assert of_turns["attributes"] == {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "mcptui"}


def test_requests_of_servers_are_not_counted():
    seen = Metrics()
    seen.see(span(1, kind=SERVER, mcp__method__name="roots/list"))
    assert seen.points == {}


def test_a_server_with_any_number_of_tools_gets_no_more_points():
    seen = Metrics()
    for number in range(MAX_POINTS + 10):
        seen.see(span(1, mcp__method__name="tools/call", gen_ai__tool__name=str(number)))
    found = read(seen)["mcp.client.operation.duration"]
    assert found["points"] == MAX_POINTS + 1
    assert found["attributes"] == {"otel.metric.overflow": True}
    assert sum(found["counts"]) == 10  # type: ignore[call-overload]
