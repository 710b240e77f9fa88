"""Reading a streamed reply as one value."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tui.traffic.record.secret_texts import is_stream, joined


def stream(*chunks: object) -> bytes:
    return (
        b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    )


def delta(**fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields}]}


def test_text_reasoning_calls_and_usage_are_joined():
    body = stream(
        delta(reasoning_content="let me "),
        delta(reasoning_content="see"),
        delta(content="It "),
        delta(content="rains."),
        delta(tool_calls=[{"index": 0, "function": {"name": "get", "arguments": '{"a"'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}]),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 3}},
    )
    told = joined(body)
    assert told["text"] == "It rains."
    assert told["reasoning"] == "let me see"
    assert told["tool_calls"] == [{"name": "get", "arguments": '{"a":1}'}]
    assert (told["finish_reason"], told["usage"]) == ("tool_calls", {"prompt_tokens": 3})
    assert len(told["chunks"]) == 9 and told["chunks"][-1] == "[DONE]"


def test_other_bodies_are_not_streams():
    assert is_stream(b": ping\n\ndata: {}\n\n")
    assert not is_stream(b'{"choices": []}')
    assert not is_stream(b"")


@given(st.binary(max_size=300))
def test_any_stream_is_read_without_an_exception(body):
    assert isinstance(joined(b"data: " + body)["chunks"], list)
