"""Quirks of providers that no recorded stream shows, written as chunks after bug reports.

Each is passed to the accumulator, and served over HTTP in random chunks of bytes.
"""

import json
from typing import Any

from tests.cases import each_case
from tests.endpoint import Answer, Endpoint, chunk
from tests.streams import ModelOutput, output_at, output_of
from tui.core.conversation.conversation import UserMessage
from tui.core.ports import ModelRequest, ToolSpec, Usage
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.accumulator import Accumulator

TOOLS = ("search", "now")


def call(name: str | None, arguments: Any, identity: Any = None, index: Any = None, **extra: Any) -> Any:
    """Return a delta with one fragment of a call. None values are omitted, except null arguments."""
    function = {"arguments": arguments} | ({} if name is None else {"name": name})
    entry = {"function": function, **extra}
    entry |= {} if identity is None else {"id": identity}
    return chunk(tool_calls=[entry | ({} if index is None else {"index": index})])


def without(value: dict[str, Any], field: str) -> dict[str, Any]:
    value["choices"][0].pop(field, None)
    return value


Q1, Q2 = ("search", {"q": 1}), ("search", {"q": 2})
USAGE = {"prompt_tokens": 5, "completion_tokens": 2}
STREAMS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "DashScope: empty ids on continuations, no finish_reason key": (
        [
            without(call("search", '{"q"', "c1", 0), "finish_reason"),
            without(call("", ": 1}", "", 0), "finish_reason"),
            chunk("tool_calls"),
        ],
        {"calls": [Q1], "ids": ["c1"]},
    ),
    "OpenRouter: an error beside empty choices": (
        [chunk(content="Let me"), {"choices": [], "error": {"code": 502, "message": "Upstream died"}}],
        {"text": "Let me", "error": "Upstream died"},
    ),
    "vLLM: an error as an object of its own": (
        [chunk(content="a"), {"object": "error", "message": "KV cache is full", "code": 500}],
        {"text": "a", "error": "KV cache is full"},
    ),
    "Ollama: every finish reason is empty but the last": (
        [chunk("", content="Hi"), chunk("", content=" there"), chunk("stop")],
        {"text": "Hi there"},
    ),
    "LM Studio: a ghost call without a function": (
        [chunk(tool_calls=[{"index": 0, "id": "", "type": "function"}]), chunk("stop", content="Hi")],
        {"text": "Hi", "calls": []},
    ),
    "vLLM: cut by max_tokens, but it says tool_calls": (
        [call("search", '{"q": 1, "r": "a', "c1", 0), chunk("tool_calls")],
        {"cut": ["search"]},
    ),
    "length with half a call": (
        [call("search", '{"q": 1}', "c1", 0), call("search", '{"q"', "c2", 1), chunk("length")],
        {"cut": ["search"], "calls": [Q1], "finish": "length"},
    ),
    "length before any argument came": (
        [call("search", "", "c1", 0), chunk("length")],
        {"cut": ["search"], "finish": "length"},
    ),
    "llama.cpp: arguments as an object": (
        [call("search", {"q": 1}, "c1", 0), chunk("stop")],
        {"calls": [Q1]},
    ),
    "Gemini: the signature in a delta of its own": (
        [
            call("search", '{"q":1}', "c1"),
            chunk(tool_calls=[{"extra_content": {"google": {"thought_signature": "s"}}}]),
            chunk("stop"),
        ],
        {"calls": [Q1], "extra": [{"google": {"thought_signature": "s"}}]},
    ),
    "Mistral: content is a list of thinking and text": (
        [
            chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
            chunk(content=[{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {}}]),
            chunk("stop", content=["!"]),
        ],
        {"text": "Hi!", "reasoning": "hm"},
    ),
    "Groq: the model wrote a call that is none": (
        [{"error": {"message": "Failed.", "code": "tool_use_failed", "failed_generation": "x"}}],
        {"error": "tool_use_failed"},
    ),
    "Azure: the filter ends the reply": (
        [{"choices": [], "prompt_filter_results": []}, chunk(content="Once"), chunk("content_filter")],
        {"text": "Once", "finish": "content_filter"},
    ),
    "OCI: a new id and a new index with each fragment": (
        [call("search", "", "a", 0), call(None, '{"q"', "b", 1), call(None, ": 1}", "c", 2), chunk("stop")],
        {"calls": [Q1], "ids": ["a"]},
    ),
    "SGLang: the id repeated, the index always 0": (
        [
            call("search", '{"q": 1', "a", 0),
            call(None, "}", "a", 0),
            call("search", '{"q": 2', "b", 0),
            call(None, "}", "b", 0),
            chunk("stop"),
        ],
        {"calls": [Q1, Q2], "ids": ["a", "b"]},
    ),
    "thinking that is closed but was never opened": (
        [chunk(content="Let me th"), chunk(content="ink</thi"), chunk("stop", content="nk>\n\nIt is 4.")],
        {"text": "It is 4.", "reasoning": "Let me think"},
    ),
    "a name in fragments": (
        [call("sea", "", "a", 0), call("rch", '{"q":', None, 0), call(None, "1}", None, 0), chunk("stop")],
        {"calls": [Q1]},
    ),
    "harmony: tokens leak into the name": (
        [call("functions.search<|channel|>commentary", '{"q": 1}', "a", 0), chunk("tool_calls")],
        {"calls": [Q1]},
    ),
    "the connection ends cleanly in the middle of calls": (
        [chunk(content="Wait"), call("search", '{"q": 1}', "a", 0)],
        {"text": "Wait", "error": "the stream ended early, without finish_reason"},
    ),
    "usage in every chunk, a total each time": (
        [chunk(content="Hi", usage={"prompt_tokens": 5, "completion_tokens": 1}), chunk("stop", usage=USAGE)],
        {"text": "Hi", "usage": Usage(5, 2)},
    ),
    'arguments are the text "null"': ([call("now", "null", "a", 0), chunk("stop")], {"calls": [("now", {})]}),
    "a tool that nobody offered": (
        [call("imagined", "{}", "a", 0), chunk("tool_calls")],
        {"calls": [("imagined", {})], "finish": "tool_calls"},
    ),
    "LiteLLM to Gemini: whole calls side by side, no usage": (
        [
            chunk(tool_calls=[call("search", '{"q": 1}', "a", 0)["choices"][0]["delta"]["tool_calls"][0]]),
            call("search", '{"q": 2}', "b", 1),
            chunk("tool_calls", usage={"prompt_tokens": 0, "completion_tokens": 0}),
        ],
        {"calls": [Q1, Q2], "finish": "tool_calls", "usage": Usage(estimated=True)},
    ),
    "null, then text": (
        [call("search", None, "a", 0), call(None, '{"q": 1}', None, 0), chunk("stop")],
        {"calls": [Q1]},
    ),
    "numbers as ids": ([call("search", '{"q": 1}', 7, 0), chunk("stop")], {"calls": [Q1], "ids": ["7"]}),
    "a whole message behind its deltas": (
        [
            chunk(content="Hi", reasoning="hm"),
            call("search", '{"q": 1}', "a", 0),
            {
                "choices": [
                    {
                        "delta": {"content": ""},
                        "message": {"content": "Hi", "reasoning_content": "hm", "tool_calls": [{"id": "a"}]},
                        "finish_reason": "stop",
                    }
                ]
            },
        ],
        {"text": "Hi", "reasoning": "hm", "calls": [Q1]},
    ),
    "a message where the delta is empty": (
        [
            {
                "choices": [
                    {"delta": {"role": "assistant"}, "message": {"content": "Hi"}, "finish_reason": "stop"}
                ]
            }
        ],
        {"text": "Hi"},
    ),
    "several choices": (
        [
            {"choices": [{"index": 0, "delta": {"content": "A"}}, {"index": 1, "delta": {"content": "B"}}]},
            {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "length"}]},
            chunk("stop", content="A"),
        ],
        {"text": "AA"},
    ),
    "thinking under four names": (
        [
            chunk(reasoning_content="a", reasoning="a", reasoning_text="a", thinking="a"),
            chunk(reasoning="b"),
            chunk(thinking="c"),
            chunk("stop", content="Hi"),
        ],
        {"text": "Hi", "reasoning": "abc"},
    ),
    "text behind a call": (
        [call("search", '{"q": 1}', "a", 0), chunk(content="One"), chunk("tool_calls", content=" moment")],
        {"text": "One moment", "calls": [Q1], "finish": "tool_calls"},
    ),
    "counts of tokens that are none": (
        [chunk("stop", content="x", usage={"prompt_tokens": 10**400, "completion_tokens": float("nan")})],
        {"text": "x", "usage": Usage(10**12, 0)},
    ),
}


def assert_is(heard: ModelOutput, expect: dict[str, Any]) -> None:
    assert heard.text == expect.get("text", "")
    assert heard.reasoning == expect.get("reasoning", "")
    if "error" in expect:
        assert heard.reply is None
        assert heard.error is not None and expect["error"] in str(heard.error) and heard.error.next_step
        return
    assert heard.error is None and heard.reply is not None
    whole = [made for made in heard.reply.calls if not made.truncated]
    assert [(made.name, json.loads(made.arguments)) for made in whole] == expect.get("calls", [])
    assert [made.name for made in heard.reply.calls if made.truncated] == expect.get("cut", [])
    assert [made.id for made in whole] == expect.get("ids", [made.id for made in whole])
    assert [made.extra for made in whole] == expect.get("extra", [made.extra for made in whole])
    assert heard.reply.finish == expect.get("finish", heard.reply.finish)
    assert heard.reply.usage == expect.get("usage", heard.reply.usage)


@each_case("name", STREAMS)
def test_the_accumulator_reads_a_reply_despite_each_provider_quirk(name: str) -> None:
    chunks, expect = STREAMS[name]
    assert_is(output_of(Accumulator(TOOLS), chunks), expect)


async def test_the_client_reads_a_reply_despite_each_provider_quirk() -> None:
    request = ModelRequest(
        "", [UserMessage("hi")], [ToolSpec(name, "", {"type": "object"}) for name in TOOLS]
    )
    for seed, (chunks, expect) in enumerate(STREAMS.values()):
        async with Endpoint([Answer(chunks, seed=seed, done=False)]) as endpoint:
            assert_is(await output_at(ModelProfile("test", endpoint.base_url, "m"), request), expect)
