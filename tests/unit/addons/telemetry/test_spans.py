"""Spans are made of entries as they are recorded."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.addons.telemetry.collector import attributes_of, checked_traces
from tests.unit.traffic.traffic_script import MODERN_META, Script
from tui.addons.telemetry.otlp import span_text, traces
from tui.addons.telemetry.span import Span
from tui.addons.telemetry.spans import MAX_OPEN, SpanBuilder
from tui.core.traffic import Cause, Direction, Kind

SENT = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
CALL = Cause(1, 1, "call_1")


def spans_of(script: Script, *, content: bool = False) -> list[Span]:
    builder = SpanBuilder(content=content)
    return [span for entry in script.entries for span in builder.take(entry)] + builder.finish()


def exported(script: Script, *, content: bool = False) -> dict[str, Any]:
    """Return the spans as a collector reads them, by name."""
    request = json.loads(traces(map(span_text, spans_of(script, content=content))))
    return {span.name: span for span in checked_traces(request)}


def ask_model(script: Script, step: int, reply: dict[str, Any], **detail: Any) -> None:
    cause, source = Cause(1, step), script.source
    script.source = "model:mine"
    asked = {
        "model": "gpt-5",
        "stream": False,
        "temperature": 0.5,
        "messages": [{"role": "user", "content": "QUESTION"}],
    }
    about = {"exchange": step, "url": "https://api.openai.com/v1/chat/completions"}
    script.raw(Direction.OUT, json.dumps(asked).encode(), Kind.MODEL_REQUEST, about, cause)
    script.wait(500)
    answered = {"exchange": step, "status": 200, **detail}
    script.raw(Direction.IN, json.dumps(reply).encode(), Kind.MODEL_REPLY, answered, cause)
    script.source = source


USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}
CALLS = {
    "id": "r1",
    "model": "gpt-5-1",
    "usage": USAGE,
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {"tool_calls": [{"id": "call_1", "function": {"name": "echo", "arguments": "{}"}}]},
        }
    ],
}
ANSWERS = {"choices": [{"finish_reason": "stop", "message": {"content": "ANSWER"}}]}


def call(script: Script, cause: Cause | None = CALL, sent: str = SENT) -> Any:
    meta = {**MODERN_META, **({"traceparent": sent} if sent else {})}
    params = {"name": "echo", "arguments": {"text": "ARGUMENT"}, "_meta": meta}
    return script.out("tools/call", params, cause)


def turn(sent: str = SENT) -> Script:
    script = Script()
    script.event("spawn", pid=1, argv=["x"])
    ask_model(script, 1, CALLS)
    known = call(script, sent=sent)
    script.result(known, {"content": [{"type": "text", "text": "RESULT"}]})
    ask_model(script, 2, ANSWERS)
    return script


def test_a_turn_is_the_parent_of_its_requests_and_calls():
    found = spans_of(turn())
    assert [span.name for span in found] == [
        "chat gpt-5",
        "execute_tool echo",
        "chat gpt-5",
        "invoke_agent mcptui",
    ]
    *children, root = found
    assert {span.parent for span in children} == {root.id} and root.parent == ""
    assert {span.trace for span in found} == {"ab" * 16}
    assert [span.kind for span in found] == [3, 3, 3, 1]


def test_a_call_is_linked_to_the_request_that_made_it():
    first, made, *_ = spans_of(turn())
    assert made.link == first.id


def test_the_span_of_a_call_is_the_one_that_the_server_was_sent():
    assert exported(turn())["execute_tool echo"].span_id.hex() == "cd" * 8


def test_a_turn_without_trace_context_has_one_trace_which_is_the_same_in_each_export():
    found = spans_of(turn(sent=""))
    assert len({span.trace for span in found}) == 1
    assert [(span.trace, span.id) for span in found] == [
        (one.trace, one.id) for one in spans_of(turn(sent=""))
    ]


def test_a_call_has_the_attributes_of_mcp_and_of_a_tool():
    found = attributes_of(exported(turn())["execute_tool echo"])
    assert found == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.tool.call.id": "call_1",
        "jsonrpc.request.id": "1",
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2026-07-28",
        "mcptui.entry": 4,
        "mcptui.server": "weather",
        "network.transport": "pipe",
    }


def test_a_request_to_a_model_has_its_usage_and_settings():
    first = next(span for span in spans_of(turn()) if span.name == "chat gpt-5")
    assert first.seconds == pytest.approx(0.51)
    assert first.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.response.id": "r1",
        "gen_ai.response.model": "gpt-5-1",
        "gen_ai.usage.cache_read.input_tokens": 64,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 7,
        "mcptui.entry": 2,
        "server.address": "api.openai.com",
        "server.port": 443,
    }


def test_a_streamed_reply_is_read_too():
    script = Script("model:mine")
    asked = {"model": "m", "stream": True}
    script.raw(Direction.OUT, json.dumps(asked).encode(), Kind.MODEL_REQUEST, {"exchange": 1}, Cause(1, 1))
    chunks = [
        {"id": "c", "model": "m-1", "choices": [{"delta": {"content": "Hi"}, "finish_reason": None}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": USAGE},
    ]
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks).encode()
    detail = {"exchange": 1, "status": 200, "first_ms": 2.0, "times": [(2.0, 10), (5.0, 10)]}
    script.raw(Direction.IN, body, Kind.MODEL_REPLY, detail, Cause(1, 1))
    found = spans_of(script, content=True)[0].attributes
    assert (found["gen_ai.response.id"], found["gen_ai.usage.input_tokens"]) == ("c", 100)
    assert found["gen_ai.response.time_to_first_chunk"] == 0.007
    assert "Hi" in str(found["gen_ai.output.messages"])


WORDS = ("QUESTION", "ARGUMENT", "RESULT", "ANSWER")


def test_arguments_results_prompts_and_answers_are_left_out():
    text = traces(map(span_text, spans_of(turn())))
    assert [word for word in WORDS if word in text] == []


def test_they_are_there_if_asked_for():
    text = traces(map(span_text, spans_of(turn(), content=True)))
    assert [word for word in WORDS if word in text] == list(WORDS)


def test_a_failed_request_to_a_model_fails_its_turn():
    script = Script()
    ask_model(script, 1, {"error": {"message": "slow down"}}, status=429)
    asked, root = spans_of(script)
    assert (asked.error, asked.attributes["gen_ai.response.finish_reasons"]) == ("429", ["error"])
    assert (root.name, root.error) == ("invoke_agent mcptui", "429")


def test_an_error_of_a_tool_and_one_of_the_protocol_have_types():
    script = Script()
    script.result(call(script), {"isError": True, "content": []})
    script.error(call(script, Cause(1, 2, "b")), -32602, "SECRET WORDS")
    first, second, _ = spans_of(script)
    assert first.error == "tool_error"
    assert (second.error, second.attributes["rpc.response.status_code"]) == ("-32602", "-32602")
    assert second.message == ""


def test_the_message_of_an_error_is_content():
    script = Script()
    script.error(call(script), -32602, "Unknown city")
    assert spans_of(script, content=True)[0].message == "Unknown city"


def test_requests_of_a_server_that_exits_have_ended():
    script = Script()
    script.event("spawn", pid=1)
    call(script)
    script.event("exit", code=1)
    assert spans_of(script)[0].error == "connection_closed"


def test_a_cancelled_request_is_over():
    script = Script()
    known = call(script)
    script.tell("notifications/cancelled", {"requestId": known})
    assert [span.error for span in spans_of(script)] == ["cancelled", ""]


def test_a_request_without_a_response_is_there():
    script = Script()
    call(script)
    assert [span.error for span in spans_of(script)] == ["no_response", ""]


def test_a_change_stream_that_ends_has_not_failed():
    script = Script()
    known = script.out("subscriptions/listen", {"_meta": MODERN_META})
    script.tell("notifications/cancelled", {"requestId": known})
    assert [span.error for span in spans_of(script)] == [""]


def test_a_request_of_the_server_is_below_the_call_during_which_it_asks():
    script = Script().legacy()
    known = call(script)
    asked = script.back({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}})
    script.raw(Direction.OUT, b'{"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}}')
    script.result(known, {"content": []})
    found = exported(script)
    question = found["elicitation/create"]
    assert asked.cause == CALL
    assert (question.kind, question.parent_span_id) == (2, found["execute_tool echo"].span_id)
    assert question.trace_id == found["execute_tool echo"].trace_id


def test_a_request_to_the_model_for_a_server_is_below_that_of_the_server():
    script = Script().legacy()
    known = call(script)
    script.back({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}})
    script.source = "model:mine"
    script.raw(Direction.OUT, b'{"model": "m"}', Kind.MODEL_REQUEST, {"exchange": 1})
    script.raw(Direction.IN, b"{}", Kind.MODEL_REPLY, {"exchange": 1, "status": 200})
    script.source = "weather"
    script.raw(Direction.OUT, b'{"jsonrpc": "2.0", "id": "q", "result": {}}')
    script.result(known, {"content": []})
    found = exported(script)
    assert found["chat m"].parent_span_id == found["sampling/createMessage"].span_id
    assert found["chat m"].trace_id == found["execute_tool echo"].trace_id


def test_a_call_by_hand_is_a_trace_of_its_own_in_the_form_of_mcp():
    script = Script()
    script.result(call(script, Cause(0, 0, "hand-1")), {"content": []})
    (span,) = spans_of(script)
    assert (span.name, span.parent, span.trace, span.id) == ("tools/call echo", "", "ab" * 16, "cd" * 8)


def test_what_a_tap_saw_is_below_the_span_of_the_host_that_sent_it():
    script = Script()
    script.result(call(script, None), {"content": []})
    (span,) = spans_of(script)
    assert (span.trace, span.parent) == ("ab" * 16, "cd" * 8) and span.id != "cd" * 8


def test_a_handshake_tells_the_revision_of_what_follows():
    script = Script().legacy()
    script.result(script.out("prompts/get", {"name": "p"}), {"messages": []})
    found = exported(script)
    assert attributes_of(found["initialize"])["mcp.protocol.version"] == "2025-11-25"
    assert attributes_of(found["prompts/get p"])["mcp.protocol.version"] == "2025-11-25"


def test_a_resource_is_an_attribute_and_not_part_of_a_name():
    script = Script()
    script.result(script.out("resources/read", {"uri": "file:///a"}), {"contents": []})
    assert attributes_of(exported(script)["resources/read"])["mcp.resource.uri"] == "file:///a"


def test_what_comes_after_a_turn_that_seemed_over_is_still_below_it():
    builder, script = SpanBuilder(), turn()
    for entry in script.entries:
        builder.take(entry)
    (root,) = builder.settle(script.entries[-1].mono_ns + 10**12)
    number = len(script.entries)
    script.result(call(script), {"content": []})
    late = [span for entry in script.entries[number:] for span in builder.take(entry)]
    assert [(span.trace, span.parent) for span in late] == [(root.trace, root.id)]
    assert builder.finish() == []


def test_requests_that_are_never_answered_take_no_more_room():
    builder, script = SpanBuilder(), Script()
    ended = 0
    for number in range(MAX_OPEN + 50):
        script.out("ping", cause=Cause(number + 1, 1, "x"))
        ended += sum(span.name == "ping" for span in builder.take(script.entries.pop()))
    assert ended == 50


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(), st.floats() | st.integers(), st.binary(max_size=40))
def test_whatever_servers_and_models_write_a_collector_can_read(
    tool: str, method: str, number: float, junk: bytes
):
    script = Script(f"s{tool}")
    surrogate = "\ud800" + tool
    script.raw(
        Direction.OUT,
        json.dumps(
            {"jsonrpc": "2.0", "id": 10**30, "method": "tools/call", "params": {"name": surrogate}}
        ).encode(),
        cause=Cause(1, 1, surrogate),
    )
    script.out(method or "m", {"_meta": {"traceparent": tool}})
    script.raw(Direction.IN, junk)
    script.error(10**30, number, tool)
    script.source = f"model:{method}"
    asked = {
        "model": surrogate,
        "temperature": number,
        "seed": number,
        "max_tokens": number,
        "messages": number,
    }
    script.raw(Direction.OUT, json.dumps(asked).encode(), Kind.MODEL_REQUEST, {"exchange": 1, "url": tool})
    usage = {"prompt_tokens": number, "completion_tokens": 2**70, "prompt_tokens_details": [tool]}
    reply = {
        "id": number,
        "model": surrogate,
        "usage": usage,
        "choices": [{"message": {"content": [surrogate]}}],
    }
    script.raw(Direction.IN, json.dumps(reply).encode(), Kind.MODEL_REPLY, {"exchange": 1, "status": 200})
    request = json.loads(traces(map(span_text, spans_of(script, content=True))))
    assert len(checked_traces(request)) == 4
