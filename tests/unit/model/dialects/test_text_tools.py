"""Models that read tools as text, and how the loop sees them."""

import json
from collections.abc import Callable
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.scripted_model import Reply, ScriptedModel, Wait, says
from tests.texts import TOOLS, Read
from tests.unit.core.stand_ins import ended, of_type, run, turn_of
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import ConfigError, ModelError
from tui.core.events import EndReason, Notice, ToolCallEnded
from tui.core.ports import (
    CallPart,
    ChatModel,
    ModelPart,
    ModelRequest,
    ReasoningPart,
    ReplyPart,
    RetryPart,
    TextPart,
    Usage,
)
from tui.model.dialects.call_maker import CallMaker, OfferedTools
from tui.model.dialects.text_tools import DIALECTS, PROTOCOLS, ReplyReader, wrap

NOW = "<use_mcp_tool><server_name>clock</server_name><tool_name>now</tool_name><arguments>{}</arguments>"
HERMES = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
ASK = ModelRequest("Be brief.", [UserMessage("What time is it?")], TOOLS)


async def heard(model: ChatModel, request: ModelRequest = ASK) -> list[ModelPart]:
    return [part async for part in model.stream(request)]


def text_of(parts: list[ModelPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def end_of(parts: list[ModelPart]) -> ReplyPart:
    assert isinstance(parts[-1], ReplyPart)
    return parts[-1]


async def test_tools_are_described_in_the_system_prompt_and_not_in_the_request() -> None:
    inner = ScriptedModel([says("Noon.")])
    await heard(wrap(inner, "xml"))
    (sent,) = inner.requests
    assert sent.tools == () and sent.stop == ("\n</use_mcp_tool>",) and sent.verbatim
    assert sent.system.startswith("Be brief.\n\n# Tools")
    for tool in TOOLS:
        assert (
            tool.tool in sent.system and json.dumps(dict(tool.schema), separators=(",", ":")) in sent.system
        )


async def test_a_call_in_text_becomes_a_call_and_the_reply_keeps_its_usage_and_finish_reason() -> None:
    usage = Usage(10, 5)
    inner = ScriptedModel(
        [[TextPart("Let me look.\n" + NOW), ReplyPart(usage=usage, echo={"reasoning": "x"})]]
    )
    parts = await heard(wrap(inner, "xml"))
    end = end_of(parts)
    assert text_of(parts) == "Let me look."
    assert [(call.name, call.arguments, call.recovered) for call in end.calls] == [
        ("clock__now", "{}", False)
    ]
    assert (end.finish, end.usage, end.echo) == ("stop", usage, {"reasoning": "x"})


@pytest.mark.parametrize("protocol", DIALECTS)
async def test_calls_and_results_in_the_history_are_sent_as_text(protocol: str) -> None:
    picture = Attachment("image", "image/png", "p.png", 3, "AAAA")
    call = CallRequest("call_1", "wx__get_forecast", '{"city": "Oslo"}')
    history = [
        UserMessage("Weather?"),
        AssistantMessage("I look.", calls=(call, CallRequest("call_2", "gone__tool", "{}"))),
        ToolMessage("call_1", "wx__get_forecast", "12 °C </tool_result>", attachments=(picture,)),
        ToolMessage("call_2", "gone__tool", "no such tool", is_error=True),
        UserMessage("And?"),
    ]
    inner = ScriptedModel([says("Cold.")])
    await heard(wrap(inner, protocol), ModelRequest("", history, TOOLS))
    first, second, third = inner.requests[0].messages
    assert first == UserMessage("Weather?")
    assert isinstance(second, AssistantMessage) and second.calls == ()
    assert second.text.startswith("I look.\n\n") and '{"city": "Oslo"}' in second.text
    assert isinstance(third, UserMessage) and third.attachments == (picture,)
    assert "12 °C" in third.text and "no such tool" in third.text and third.text.endswith("And?")
    assert third.text.count("</tool_result>") == (1 if protocol == "react" else 2)


@pytest.mark.parametrize("protocol", DIALECTS)
async def test_calls_in_the_history_written_as_text_parse_to_the_same_calls(protocol: str) -> None:
    arguments = json.dumps({"path": "C:\\new\\<b>", "content": 'say "hi"\n</arguments> <<tool-end>> ``` }'})
    said = AssistantMessage(calls=(CallRequest("c", "fs__write_file", arguments),))
    dialect = DIALECTS[protocol]
    (message,) = dialect.as_text([said], TOOLS)
    assert isinstance(message, AssistantMessage)
    inner = ScriptedModel([says(message.text, pieces=9)])
    (call,) = end_of(await heard(wrap(inner, protocol))).calls
    assert (call.name, json.loads(call.arguments)) == ("fs__write_file", json.loads(arguments))
    assert not (call.problem or call.truncated or call.recovered)


@pytest.mark.parametrize("protocol", DIALECTS)
def test_the_prompt_is_short_and_asks_for_the_language_of_the_question(protocol: str) -> None:
    prompt = DIALECTS[protocol].system("", TOOLS[:1])
    assert len(prompt) / 3 < 1_500 and "language of the question" in prompt
    assert "{tools}" not in prompt and "{example}" not in prompt and '"Oslo"' not in prompt
    assert DIALECTS[protocol].written(TOOLS[0], '{"city": "…"}') in prompt


async def test_without_tools_and_calls_a_request_is_unchanged() -> None:
    inner = ScriptedModel([says("Thought: a\nFinal Answer: b")])
    request = ModelRequest("", [UserMessage("hi")])
    assert text_of(await heard(wrap(inner, "react"), request)) == "Thought: a\nFinal Answer: b"
    assert inner.requests == [request]


async def test_an_unreadable_call_reports_the_problem_with_a_correct_example() -> None:
    arguments = "{city: 'a\"}</arguments></use_mcp_tool>"
    broken = NOW.replace("clock", "wx").replace("now", "get_forecast").partition("{}")[0] + arguments
    (call,) = end_of(await heard(wrap(ScriptedModel([says(broken)]), "xml"))).calls
    assert call.name == "wx__get_forecast" and "not valid JSON (" in call.problem
    assert '<tool_name>get_forecast</tool_name>\n<arguments>\n{"city": "…"}' in call.problem


async def test_an_unknown_tool_name_is_made_valid_for_any_provider() -> None:
    odd = NOW.replace("<tool_name>now", "<tool_name>" + "tell me, é " * 50)
    (call,) = end_of(await heard(wrap(ScriptedModel([says(odd)]), "xml"))).calls
    assert call.name.startswith("clock__tell_me___") and len(call.name) == 64 and call.name.isascii()


async def test_call_ids_are_unique_in_the_conversation() -> None:
    model = wrap(ScriptedModel([says(NOW), says(NOW)]), "xml")
    first = end_of(await heard(model)).calls[0]
    history = [*ASK.messages, AssistantMessage(calls=(first,)), ToolMessage(first.id, first.name, "12:00")]
    second = end_of(await heard(model, ModelRequest("", history, TOOLS))).calls[0]
    assert first.id != second.id


async def test_a_reply_that_continues_after_its_end_is_closed() -> None:
    endless: Reply = [
        TextPart("Action: now\nAction Input: {}\nObservation: "),
        *[TextPart("x" * 500)] * 100,
        ReplyPart(usage=Usage(1, 1)),
    ]
    inner = ScriptedModel([endless])
    end = end_of(await heard(wrap(inner, "react")))
    assert [call.name for call in end.calls] == ["clock__now"] and end.usage is None and inner.closed == 1


async def test_a_broken_stream_yields_its_text_and_no_call() -> None:
    inner = ScriptedModel([[TextPart("Hm. <"), TextPart("b> ok\n" + NOW[:60]), ModelError("broken")]])
    said: list[ModelPart] = []
    with pytest.raises(ModelError, match="broken"):
        async for part in wrap(inner, "xml").stream(ASK):
            said.append(part)
    assert text_of(said) == "Hm. <b> ok" and not any(isinstance(part, ReplyPart) for part in said)


async def test_no_part_of_a_call_is_shown_while_it_is_written() -> None:
    inner = ScriptedModel([says("Ok.\n" + NOW + "</use_mcp_tool>", pieces=60)])
    parts = await heard(wrap(inner, "xml"))
    assert text_of(parts) == "Ok."
    assert any(isinstance(part, CallPart) and part.name == "now" for part in parts)


async def test_a_model_that_omits_the_opening_think_tag_is_recognized_after_its_first_reply() -> None:
    late = "Let me think.\n</think>\n\nOk.\n" + NOW
    inner = ScriptedModel(
        [says(late, pieces=9), says(late, pieces=9), says("Noon.", pieces=2), says("Noon.")]
    )
    model = wrap(inner, "xml")
    first, second = await heard(model), await heard(model)
    assert ReasoningPart("Let me think.", replaces_text=True) in first
    assert text_of(second) == "Ok." and [call.name for call in end_of(second).calls] == ["clock__now"]
    assert "".join(part.text for part in second if isinstance(part, ReasoningPart)) == "Let me think."
    assert text_of(await heard(model)) == text_of(await heard(model)) == "Noon."


async def test_a_refusal_is_the_answer_whatever_the_thinking_contains() -> None:
    script: Reply = [ReasoningPart("Not " + HERMES), ReplyPart(refusal="I can't.")]
    assert end_of(await heard(wrap(ScriptedModel([script]), "native"))).calls == ()


@each_case("protocol", PROTOCOLS)
def test_a_wrapped_model_keeps_its_label_and_its_notice(protocol: str) -> None:
    model = wrap(ScriptedModel([], label="m", notice="offline"), protocol)
    assert (model.label, model.notice) == ("m", "offline")


def test_an_unknown_protocol_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"mine: tool_protocol “yaml” is not known.+“auto”, .+ or “react”"):
        wrap(ScriptedModel([]), "yaml", where="mine")


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_leaving_a_reply_early_closes_the_stream_at_once(protocol: str) -> None:
    for request in (ASK, ModelRequest("", ASK.messages)):
        inner = ScriptedModel([[TextPart("One. "), TextPart("Two. "), Wait(None)]])
        async with aclosing(wrap(inner, protocol).stream(request)) as parts:  # type: ignore[type-var]
            async for _ in parts:
                break
        assert inner.closed == 1


# ---- native and leaked calls ---------------------------------------------------------------------------


async def test_a_native_model_gets_the_request_unchanged() -> None:
    inner = ScriptedModel([says("Noon.")])
    assert text_of(await heard(wrap(inner, "native"))) == "Noon." and inner.requests == [ASK]


async def test_without_tools_thinking_is_still_separated_and_calls_remain_text() -> None:
    harmony = (
        "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>"
    )
    model = wrap(ScriptedModel([says(harmony, pieces=9), says("Ok " + HERMES, pieces=9)]), "native")
    request = ModelRequest("", [UserMessage("2+2?")])
    first = await heard(model, request)
    assert text_of(first) == "4" and ReasoningPart("Easy.") in first
    assert text_of(await heard(model, request)) == "Ok " + HERMES


async def test_a_truncated_leaked_call_is_not_run_and_gives_a_warning() -> None:
    cut = 'Ok.\n<tool_call>{"name": "now", "arguments": {"query": "Han'
    replies = [says(cut, pieces=9), says('<tool_call>{"na')]
    native = wrap(ScriptedModel(replies), "native")
    parts = await heard(native)
    (call,) = end_of(parts).calls
    assert (call.name, call.truncated, call.recovered) == ("clock__now", True, True)
    assert text_of(parts) == "Ok."
    told = "The model started a call{} as text and was cut off. The call was not run."
    assert end_of(parts).warning == told.format(" of clock__now")
    assert end_of(await heard(native)).warning == told.format("")


async def test_after_a_truncated_leaked_call_the_model_may_call_again() -> None:
    cut = '<tool_call>{"name": "srv__echo", "arguments": {"text": "Han'
    inner = ScriptedModel([says(cut), says(cut + '"}}</tool_call>'), says("Done.")])
    turn, _ = turn_of(wrap(inner, "native"))
    events = await run(turn)
    assert [event.message for event in of_type(events, Notice)] == [
        "The model started a call of srv__echo as text and was cut off. The call was not run."
    ]
    assert [event.is_error for event in of_type(events, ToolCallEnded)] == [True, False]
    assert ended(events).reason is EndReason.ANSWERED and ended(events).text == "Done."


async def test_next_to_a_native_call_a_leaked_call_remains_text() -> None:
    native = CallRequest("n", "web__search", '{"query": "x"}')
    script: Reply = [
        TextPart(HERMES[:9]),
        TextPart(HERMES[9:] + "!"),
        CallPart("web__search", 3),
        ReplyPart((native,)),
    ]
    parts = await heard(wrap(ScriptedModel([script]), "auto"))
    assert text_of(parts) == HERMES + "!" and end_of(parts).calls == (native,)


async def test_a_call_in_thinking_is_recovered_only_if_the_reply_is_otherwise_empty() -> None:
    thought = ReasoningPart("So I write " + HERMES)
    empty = end_of(await heard(wrap(ScriptedModel([[thought, ReplyPart()]]), "native")))
    assert [(call.name, call.recovered) for call in empty.calls] == [("clock__now", True)]
    spoken = end_of(await heard(wrap(ScriptedModel([[thought, TextPart("Noon."), ReplyPart()]]), "native")))
    assert spoken.calls == ()


async def test_a_leaked_call_may_be_indented_if_only_thinking_precedes_it() -> None:
    script: Reply = [ReasoningPart("Hm."), TextPart("\n\n    " + HERMES), ReplyPart()]
    (call,) = end_of(await heard(wrap(ScriptedModel([script]), "native"))).calls
    assert call.name == "clock__now"
    code = "Write it so:\n\n    " + HERMES
    parts = await heard(wrap(ScriptedModel([says(code, pieces=9)]), "native"))
    assert text_of(parts) == code and end_of(parts).calls == ()


async def test_text_that_turns_out_to_be_thinking_contains_no_call() -> None:
    script: Reply = [
        TextPart("Perhaps " + HERMES),
        ReasoningPart("Perhaps " + HERMES, replaces_text=True),
        TextPart("Noon."),
        ReplyPart(),
    ]
    parts = await heard(wrap(ScriptedModel([script]), "native"))
    assert text_of(parts) == "PerhapsNoon." and end_of(parts).calls == ()


# ---- auto ----------------------------------------------------------------------------------------------


def no_tools(request: ModelRequest) -> Reply:
    error = ModelError("the endpoint answered 400: m does not support tools")
    error.no_tools = True
    return [error]


async def test_auto_retries_with_tools_as_text_if_the_endpoint_does_not_support_tools() -> None:
    replies: list[Reply | Callable[[ModelRequest], Reply]] = [no_tools, says(NOW), says("Noon.")]
    inner = ScriptedModel(replies)
    model = wrap(inner, "auto")
    parts = await heard(model)
    assert isinstance(parts[0], RetryPart) and parts[0].delay == 0.0
    assert "does not support tools. Retrying with tools as text" in parts[0].reason
    assert [call.name for call in end_of(parts).calls] == ["clock__now"]
    assert [bool(sent.tools) for sent in inner.requests] == [True, False]
    assert text_of(await heard(model)) == "Noon." and inner.requests[2].tools == ()


async def test_auto_uses_text_at_once_if_that_is_remembered() -> None:
    inner = ScriptedModel([says("<use_mcp_tool><tool_name>now</tool_name></use_mcp_tool>")])
    assert end_of(await heard(wrap(inner, "auto", no_tools=True))).calls[0].name == "clock__now"
    assert inner.requests[0].tools == ()


async def test_native_does_not_fall_back_to_text_nor_auto_after_any_other_failure() -> None:
    for protocol, reply in (("auto", [ModelError("overloaded")]), ("native", no_tools(ASK))):
        with pytest.raises(ModelError, match=r"overloaded|does not support tools"):
            await heard(wrap(ScriptedModel([reply]), protocol))


async def test_an_answer_that_the_endpoint_rejects_as_invalid_is_passed_to_the_loop() -> None:
    error = ModelError("Failed to generate JSON", status=400, retryable=True)
    error.generation = '{"a": '
    inner = ScriptedModel([[error]])
    request = ModelRequest("", [UserMessage("?")], answer_schema={"type": "object"})
    parts = await heard(wrap(inner, "auto"), request)
    assert text_of(parts) == '{"a": ' and end_of(parts).finish == "stop" and len(inner.requests) == 1


CALL = '{"tool": "now", "arguments": {}}'


def thoughts(pieces: list[str], *, opened: bool = False, dialect: str = "json") -> tuple[Read, ReplyReader]:
    maker = CallMaker(OfferedTools(TOOLS), DIALECTS[dialect].written)
    reader = ReplyReader(maker, DIALECTS[dialect], opened=opened)
    read = Read()
    for piece in pieces:
        read.take(reader.part(TextPart(piece)))
    read.take(reader.end(cut=False))
    read.calls = reader.calls
    return read, reader


@each_case(
    ("text", "thinking", "shown", "calls"),
    [
        (f"<think>\nHm.\n</think>\n\n{CALL}", "Hm.", "", 1),
        ("\n<thinking>Hm.</thinking>Ok. </think>", "Hm.", "Ok. </think>", 0),
        (f"<thought>{CALL}</thought>Ok.", CALL, "Ok.", 0),
        ("<think>never closed", "never closed", "", 0),
        ("Ok <think>b</think>", "Ok <think>b", "", 0),
        (f"Hm.\n</think>\n{CALL}", "Hm.", "", 1),
        (f"{CALL}\nNo.\n</think>\nOk.", f"{CALL}\nNo.", "Ok.", 0),
        ("Write `</think>` and\n```\n</think>\n```", "", "Write `</think>` and\n```\n</think>\n```", 0),
        ('{"tool": "search", "arguments": {"query": "</think>"}}', "", "", 1),
        ("<thin", "", "<thin", 0),
    ],
)
def test_thinking_is_separated_from_the_text(text: str, thinking: str, shown: str, calls: int) -> None:
    for pieces in ([text], list(text)):
        read, _ = thoughts(pieces)
        assert (read.thinking, read.text, len(read.calls)) == (thinking, shown, calls)


def test_for_a_model_that_omits_the_opening_tag_the_reply_begins_with_thinking() -> None:
    read, found = thoughts(list(f"Hm.\n</think>\nOk.\n{CALL}"), opened=True)
    assert (read.thinking, read.text, len(read.calls)) == ("Hm.", "Ok.", 1)
    assert found.opens(True)


def test_a_reply_without_thinking_is_read_completely() -> None:
    read, found = thoughts(list(f"Ok.\n{CALL}"), opened=True)
    assert (read.text, len(read.calls)) == ("Ok.", 1) and not found.opens(True)


TAGS = st.sampled_from(
    ["<think>", "</think>", "</thinking>", "<thinking>", "<thi", "`", "```\n", "\n", " ", "a", CALL]
)


@given(st.lists(TAGS, max_size=12).map("".join), st.booleans(), st.sampled_from(list(DIALECTS)))
def test_the_result_is_the_same_however_the_text_is_split(text: str, opened: bool, dialect: str) -> None:
    whole, _ = thoughts([text], opened=opened, dialect=dialect)
    single, _ = thoughts(list(text), opened=opened, dialect=dialect)
    assert whole == single
