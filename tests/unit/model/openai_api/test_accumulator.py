"""How the accumulator handles chunks from endpoints."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.streams import NATIVE, ModelOutput, chunks_of, expected, output_of, tools_of
from tui.core.errors import ModelError
from tui.core.ports import CallPart, ReasoningPart, ReplyPart, TextPart, Usage
from tui.model.openai_api.accumulator import MAX_TEXT, Accumulator
from tui.model.openai_api.call_slots import MAX_CALLS, MAX_FLOOD
from tui.model.openai_api.request import plain_json


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def reply_to(*chunks: Any, tools: tuple[str, ...] = ("search", "now")) -> ModelOutput:
    return output_of(Accumulator(tools), chunks)


def call(arguments: Any, *, name: str = "search", **extra: Any) -> dict[str, Any]:
    return {"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}} | extra


def arguments_of(heard: ModelOutput) -> list[Any]:
    assert heard.reply is not None
    return [json.loads(made.arguments) for made in heard.reply.calls]


@each_case("name", NATIVE)
def test_each_recorded_stream_gives_the_result_in_its_index(name: str) -> None:
    heard = output_of(Accumulator(tools_of(name)), chunks_of(name))
    heard.assert_is(expected(name))


def test_a_closing_tag_is_text_if_thinking_has_its_own_field() -> None:
    heard = reply_to(chunk(reasoning_content="hm"), chunk("stop", content="use </think> here"))
    assert (heard.text, heard.reasoning) == ("use </think> here", "hm")


def test_thinking_that_is_never_closed_remains_thinking() -> None:
    heard = reply_to(chunk(content="<think>on and"), chunk("length", content=" on"))
    assert (heard.text, heard.reasoning) == ("", "on and on")


def test_for_an_endpoint_that_omits_the_opening_tag_thinking_is_streamed_as_thinking() -> None:
    accumulator = Accumulator(thinking_first=True)
    assert accumulator.feed(chunk(content="Hm, 4")) == [ReasoningPart("Hm, 4")]
    assert accumulator.feed(chunk("stop", content="?</think>4.")) == [ReasoningPart("?"), TextPart("4.")]


def test_for_an_endpoint_that_omits_the_opening_tag_an_untagged_answer_is_not_lost() -> None:
    accumulator = Accumulator(thinking_first=True)
    assert output_of(accumulator, [chunk(content="It is"), chunk("stop", content=" 4.")]).text == "It is 4."


@each_case("arguments", ["", None, "null", "[]", {}])
def test_absent_arguments_in_any_form_are_an_empty_object(arguments: Any) -> None:
    assert arguments_of(reply_to(chunk("tool_calls", tool_calls=[call(arguments)]))) == [{}]


@pytest.mark.parametrize(("said", "truncated"), [('{"path":"/e', True), ("city: Oslo", False)])
def test_arguments_that_are_truncated_or_not_json_are_unchanged(said: str, truncated: bool) -> None:
    heard = reply_to(chunk("tool_calls", tool_calls=[call(said)]))
    assert heard.reply is not None
    assert [(made.arguments, made.truncated) for made in heard.reply.calls] == [(said, truncated)]


def test_arguments_sent_as_growing_snapshots_are_one_call() -> None:
    grown = ['{"q"', '{"q":"a', '{"q":"a b"}', '{"q":"a b"}']
    heard = reply_to(*(chunk(tool_calls=[call(text)]) for text in grown), chunk("tool_calls"))
    assert arguments_of(heard) == [{"q": "a b"}]


def test_an_empty_object_before_the_real_arguments_is_ignored() -> None:
    heard = reply_to(
        chunk(tool_calls=[call("{}")]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"q":1}'}}]),
        chunk("tool_calls"),
    )
    assert arguments_of(heard) == [{"q": 1}]


@pytest.mark.parametrize(
    "entries",
    [
        [
            {"function": {"name": "search", "arguments": '{"q":1}'}},
            {"function": {"name": "now", "arguments": "{}"}},
        ],
        [call('{"q":1}'), call("{}", name="now")],
    ],
    ids=["no id and no index", "the same id"],
)
def test_complete_calls_are_separated_and_get_ids_of_their_own(entries: list[dict[str, Any]]) -> None:
    heard = reply_to(*(chunk(tool_calls=[entry]) for entry in entries), chunk("tool_calls"))
    assert heard.reply is not None
    assert [made.name for made in heard.reply.calls] == ["search", "now"]
    assert len({made.id for made in heard.reply.calls}) == 2


def test_fragments_with_a_new_id_and_a_repeated_name_continue_the_open_call() -> None:
    heard = reply_to(
        chunk(tool_calls=[call('{"q":')]),
        chunk(tool_calls=[{"index": 1, "id": "x1", "function": {"name": "search", "arguments": "[2"}}]),
        chunk(tool_calls=[{"index": 2, "id": "x2", "function": {"name": "search", "arguments": "]}"}}]),
        chunk("tool_calls"),
    )
    assert arguments_of(heard) == [{"q": [2]}]


def test_an_empty_finish_reason_ends_a_reply_whose_deltas_had_none() -> None:
    heard = reply_to(chunk(content="Hi"), chunk("", content=""))
    assert heard.reply is not None and heard.reply.finish == "stop"


def test_an_empty_finish_reason_on_every_delta_does_not_end_the_reply() -> None:
    heard = reply_to(chunk("", content="Hi"), chunk("", content=" there"))
    assert heard.reply is None


def test_a_call_in_progress_reports_its_name_and_size() -> None:
    accumulator = Accumulator(["search"])
    assert accumulator.feed(chunk(tool_calls=[call('{"q"')])) == [CallPart("search", 4)]


def test_the_last_nonempty_token_count_wins() -> None:
    counts = [{"prompt_tokens": 5, "completion_tokens": 1}, {"prompt_tokens": 5, "completion_tokens": 3}, {}]
    heard = reply_to(*({"choices": [], "usage": count} for count in counts), chunk("stop", content="x"))
    assert heard.reply is not None and heard.reply.usage == Usage(5, 3)


@each_case(
    "usage",
    [
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 60}},
        {"prompt_tokens": 100, "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},
        {"prompt_tokens": 100, "cached_tokens": 60},
        {"prompt_tokens": 100, "cache_read_input_tokens": 60},
        {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}},
        {"input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10},
        {"prompt_tokens": 40, "cache_read_input_tokens": 60},
    ],
)
def test_cached_tokens_are_always_included_in_the_prompt(usage: dict[str, Any]) -> None:
    heard = reply_to(chunk("stop", content="x") | {"usage": {**usage, "output_tokens": 9}})
    assert heard.reply is not None and heard.reply.usage == Usage(100, 9, cached=60)


def test_an_empty_count_is_ignored() -> None:
    heard = reply_to(chunk("stop", content="x") | {"usage": {"prompt_tokens": 0, "completion_tokens": 0}})
    assert heard.reply is not None and heard.reply.usage == Usage(estimated=True)


@pytest.mark.parametrize("field", ["content", "reasoning_content", "reasoning", "refusal"])
def test_surrogate_halves_are_joined_in_every_text(field: str) -> None:
    heard = reply_to(chunk(**{field: "a\ud83d"}), chunk("stop", **{field: "\ude00b"}))
    assert heard.reply is not None
    assert heard.text + heard.reasoning + heard.reply.refusal == "a😀b"
    assert (heard.reply.echo or {}).get(field, "a😀b") == "a😀b"
    alone = reply_to(chunk(**{field: "a\ud83d"}), chunk("stop", content=""))
    assert alone.reply is not None
    assert alone.text + alone.reasoning + alone.reply.refusal == "a\ufffd"


def test_surrogate_halves_are_joined_in_thinking_parts_and_details() -> None:
    parts = [[{"type": "thinking", "thinking": half}] for half in ("a\ud83d", "\ude00b")]
    assert reply_to(chunk(content=parts[0]), chunk("stop", content=parts[1])).reasoning == "a😀b"
    details = [[{"type": "reasoning.text", "index": 0, "text": half}] for half in ("a\ud83d", "\ude00b")]
    heard = reply_to(*(chunk(reasoning_details=one) for one in details), chunk("stop", content="x"))
    assert heard.reasoning == "a😀b" and heard.reply is not None
    assert plain_json(heard.reply.echo) == {
        "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a😀b"}]
    }


def test_a_part_of_the_content_without_text_is_omitted() -> None:
    assert reply_to(chunk("stop", content=["", {"type": "text"}, {"type": "image"}, None, "a"])).text == "a"


@each_case(
    ("failed", "says", "retryable"),
    [
        ({"error": {"message": "Overloaded", "code": 529}}, "Overloaded", True),
        ({"error": "model not found"}, "model not found", False),
        ({"object": "error", "message": "bad prompt", "code": 400, "choices": None}, "bad prompt", False),
        (
            {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
            "insufficient balance",
            False,
        ),
        ({"choices": [{"delta": {}, "error": {"message": "boom", "code": "500"}}]}, "boom", True),
        ({"detail": "Not authorised"}, "Not authorised", False),
        ({"error": {"code": 429, "message": "You exceeded your current quota"}}, "quota", False),
        ({"error": {"message": "Failed to call", "code": "tool_use_failed"}}, "tool_use_failed", True),
    ],
)
def test_an_error_in_the_stream_quotes_the_provider(failed: Any, says: str, retryable: bool) -> None:
    with pytest.raises(ModelError, match=says) as caught:
        Accumulator().feed(failed)
    assert caught.value.retryable is retryable


def test_the_message_of_a_provider_is_cleaned_and_truncated() -> None:
    with pytest.raises(ModelError) as caught:
        Accumulator().feed({"error": {"message": "\x1b[2J" + "x" * 100_000}})
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("said", "count", "what"),
    [
        (lambda number: {"content": "x" * (MAX_TEXT // 8)}, 9, "exceeds"),
        (lambda number: {"tool_calls": [call("x" * 500_000)]}, 9, "arguments"),
        (lambda number: {"tool_calls": [call("{}", id=f"c{number}")]}, MAX_FLOOD + 1, "tool calls"),
    ],
    ids=["text", "arguments", "calls"],
)
def test_an_endless_reply_is_rejected(said: Callable[[int], Any], count: int, what: str) -> None:
    accumulator = Accumulator()
    with pytest.raises(ModelError, match=what):
        for number in range(count):
            accumulator.feed(chunk(**said(number)))


def test_excess_calls_are_dropped_beyond_the_maximum() -> None:
    entries = [call(f'{{"n":{number}}}', index=number, id=f"c{number}") for number in range(2000)]
    heard = reply_to(*(chunk(tool_calls=[entry]) for entry in entries), chunk("tool_calls"))
    assert arguments_of(heard) == [{"n": number} for number in range(MAX_CALLS)]


FILTERS = (
    *("content_filter", "sensitive", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"),
    *("IMAGE_SAFETY", "FinishReason.SAFETY", "FINISH_REASON_SAFETY", "content_filter: RECITATION"),
    *("refusal", "content_filtered", "guardrail_intervened", "ERROR_TOXIC", "contentFilter"),
)
LIMITS = ("length", "MAX_TOKENS", "max_output_tokens", "model_length", "token_limit")


@each_case(
    ("finish", "meant"),
    [*((one, "content_filter") for one in FILTERS), *((one, "length") for one in LIMITS)],
)
def test_every_finish_reason_for_a_filter_or_a_limit_gets_the_name_of_openai(finish: str, meant: str) -> None:
    heard = reply_to(chunk(finish, content="Once"))
    assert heard.reply is not None and heard.reply.finish == meant


def test_a_call_that_gemini_could_not_read_is_a_retryable_error() -> None:
    finish = "function_call_filter: MALFORMED_FUNCTION_CALL"
    with pytest.raises(ModelError) as caught:
        Accumulator().feed({"choices": [{"delta": {}, "finish_reason": finish}]})
    assert caught.value.retryable


def test_a_filter_reported_as_an_error_ends_the_preceding_text_as_filtered() -> None:
    error = {
        "error": {"code": "data_inspection_failed", "message": "Output data may be inappropriate content."}
    }
    accumulator = Accumulator()
    accumulator.feed({"choices": [{"delta": {"content": "Once"}, "finish_reason": None}]})
    accumulator.feed(error)
    assert accumulator.finish()[-1] == ReplyPart(finish="content_filter")
    with pytest.raises(ModelError):
        Accumulator().feed(error)


def test_a_filter_is_recognized_by_the_native_finish_reason() -> None:
    accumulator = Accumulator()
    choice = {"delta": {"content": "Once"}, "finish_reason": "stop", "native_finish_reason": "SAFETY"}
    accumulator.feed({"choices": [choice]})
    assert accumulator.finish()[-1] == ReplyPart(finish="content_filter")


def test_a_prompt_that_google_blocks_is_a_permanent_error() -> None:
    with pytest.raises(ModelError, match="blocked the prompt: SAFETY") as caught:
        Accumulator().feed({"choices": [], "promptFeedback": {"blockReason": "SAFETY"}})
    assert not caught.value.retryable


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    "id index name arguments function content reasoning_content reasoning reasoning_details tool_calls role "
    "type text function_call refusal extra_content message delta finish_reason usage error object summary "
    "code".split()
)
ODD = st.recursive(
    JSON,
    lambda inner: st.dictionaries(FIELDS, inner | st.lists(inner, max_size=3), max_size=5),
    max_leaves=15,
)


@given(
    st.lists(
        st.one_of(
            ODD,
            st.fixed_dictionaries({"choices": st.lists(ODD, max_size=2)}),
            ODD.map(lambda value: {"choices": [{"delta": value}]}),
            ODD.map(lambda value: {"choices": [{"delta": {"tool_calls": [value]}}]}),
        ),
        max_size=6,
    )
)
def test_no_chunk_raises_anything_but_a_model_error(chunks: list[Any]) -> None:
    accumulator = Accumulator(["search"])
    try:
        for value in chunks:
            accumulator.feed(value)
        parts = accumulator.finish()
    except ModelError:
        return
    assert isinstance(parts[-1], ReplyPart)
