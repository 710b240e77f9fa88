"""Spans as the JSON of OTLP, whatever their values are."""

import json

from tests.unit.addons.telemetry.collector import attributes_of, checked_traces
from tui.addons.telemetry.otlp import BATCH, BATCH_CHARS, batches, span_text, traces
from tui.addons.telemetry.span import Attributes, Span


def written(attributes: Attributes, **more: str) -> dict[str, object]:
    """Return the attributes of a span as a collector reads them."""
    span = Span("a" * 32, "b" * 16, "c" * 16, "n", 3, -5, -9, attributes, **more)
    (read,) = checked_traces(json.loads(traces([span_text(span)])))
    return attributes_of(read)


def test_values_keep_their_types():
    given: Attributes = {"b": True, "i": 2**63 - 1, "f": 0.5, "l": ["x", "y"], "s": "é\x1b"}
    assert written(given) == given


def test_what_no_number_can_hold_becomes_text_or_is_left_out():
    assert written({"big": 2**63, "nan": float("nan"), "inf": float("inf")}) == {"big": str(2**63)}


def test_half_a_surrogate_pair_is_replaced():
    assert written({"s": "\ud800x"}) == {"s": "?x"}


def test_an_error_has_a_type_and_a_status():
    span = Span("a" * 32, "b" * 16, "", "n", 3, 1, 2, error="429", message="slow down")
    (read,) = checked_traces(json.loads(traces([span_text(span)])))
    assert (read.status.code, read.status.message) == (2, "slow down")
    assert attributes_of(read) == {"error.type": "429"}


def test_the_schema_is_that_of_the_release_that_the_names_are_from():
    request = json.loads(traces([]))
    assert request["resourceSpans"][0]["scopeSpans"][0]["schemaUrl"].endswith("/gen-ai/0.1.0")


def test_a_request_has_a_bounded_number_of_spans_and_of_characters():
    assert [len(one) for one in batches("x" * (BATCH + 1))] == [BATCH, 1]
    half = "x" * (BATCH_CHARS // 2)
    assert [len(one) for one in batches([half, half, "x", half * 3, "x"])] == [2, 1, 1, 1]
