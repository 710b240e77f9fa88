"""Redaction of the events of a turn and of messages, for screens and commands."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.events import (
    ApprovalAsked,
    ApprovalGiven,
    EndReason,
    Event,
    Notice,
    Steered,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import Answer, ApprovalRequest, CallPart, ReasoningPart, RetryPart, TextPart, Usage
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.tools import TextContent, Tool, ToolResult
from tui.runtime.redaction import EventRedactor, ShownMessages, redacted

SECRET = "configured-value"
TOOL = Tool("srv", "t")


@each_case(
    "event",
    [
        TurnError(f"failed with {SECRET}", "model", f"Check {SECRET}."),
        TurnError("failed", f"http://h/{SECRET}"),
        RetryPart(1, 4, 0.5, f"overloaded {SECRET}", step=1),
        Notice(f"The older turns could not be summarized: {SECRET}", "warn"),
        TurnStarted("m", 1, f"not offered: {SECRET}"),
        TurnEnded(EndReason.ANSWERED, f"it is {SECRET}", 1, 0, Usage(), 1.0),
        Steered(1, f"use {SECRET}"),
        CallPart(SECRET, 3, step=1),
        ToolCallProposed(1, "c", "srv", "t", {"a": [f"with {SECRET}"]}),
        ApprovalAsked(1, "c", ApprovalRequest("c", TOOL, {"a": SECRET}, "why")),
        ApprovalGiven(1, "c", Answer.NO, f"not {SECRET}"),
        ToolProgress(1, "c", 1, 2, f"at {SECRET}"),
        ToolCallEnded(1, "c", "srv", "t", False, f"it is {SECRET}", 1.0),
        ToolCallEnded(1, "c", "srv", "t", False, "cut", 1.0, ToolResult((TextContent(SECRET),), as_is=True)),
    ],
)
def test_no_event_contains_a_configured_secret(event: Event):
    found = redacted(event, Redactor({"K": SECRET}))
    assert type(found) is type(event) and "[redacted:K]" in str(found) and SECRET not in str(found)


@pytest.mark.parametrize(
    "event",
    [
        TextPart("sk-abcdefghijklmnop1234", step=1),
        ToolCallProposed(1, "c", "srv", "t", {"a": ["b", 1]}),
        ToolCallEnded(1, "c", "srv", "t", False, "text", 1.0, ToolResult((TextContent("text"),))),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_without_secrets_is_not_changed(event: Event):
    assert redacted(event, Redactor({"K": SECRET})) is event


def shown(*events: Event) -> list[Event]:
    redaction = EventRedactor(Redactor({"K": SECRET}))
    return [found for event in events for found in redaction.take(event)]


END = TurnEnded(EndReason.ANSWERED, "", 1, 0, Usage(), 1.0)


@given(st.lists(st.integers(1, len(f"It is {SECRET}, really.") - 1), unique=True).map(sorted))
def test_a_secret_in_any_pieces_is_redacted(cuts: list[int]):
    text = f"It is {SECRET}, really."
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    found = shown(*(TextPart(piece, step=1) for piece in pieces), END)
    said = "".join(event.text for event in found[:-1] if isinstance(event, TextPart))
    assert said == "It is [redacted:K], really." and found[-1] == END


def test_text_that_starts_like_a_secret_is_shown_with_the_next_event():
    assert shown(TextPart("a conf", step=1), END) == [TextPart("a ", step=1), TextPart("conf", step=1), END]
    assert shown(TextPart("a conf", step=1), TextPart("etti", step=1)) == [
        TextPart("a ", step=1),
        TextPart("confetti", step=1),
    ]


@each_case("cut", range(1, len(SECRET)))
def test_a_secret_across_reasoning_and_answer_is_redacted(cut: int):
    found = shown(
        ReasoningPart(f"It is {SECRET[:cut]}", step=1), TextPart(f"{SECRET[cut:]}, really.", step=1), END
    )
    assert "".join(event.text for event in found[:-1]) == "It is [redacted], really."


def test_reasoning_and_answer_that_start_like_a_secret_stay_separate():
    found = shown(ReasoningPart("the con", step=1), TextPart("fig is here", step=1))
    assert found == [
        ReasoningPart("the ", step=1),
        ReasoningPart("con", step=1),
        TextPart("fig is here", step=1),
    ]


@pytest.mark.parametrize("size", [8, 9, len(SECRET) - 1])
def test_a_long_prefix_of_a_secret_at_the_end_of_a_text_is_redacted(size: int):
    found = shown(TextPart(f"It is {SECRET[:size]}", step=1), END)
    assert found == [TextPart("It is ", step=1), TextPart("[redacted]", step=1), END]
    ended = TurnEnded(EndReason.ANSWERED, f"It is {SECRET[:size]}", 1, 0, Usage(), 1.0)
    assert shown(ended) == [replace(ended, text="It is [redacted]")]


def test_text_reclassified_as_reasoning_is_redacted_once():
    assert shown(TextPart("conf", step=1), ReasoningPart(SECRET, replaces_text=True, step=1)) == [
        ReasoningPart("[redacted:K]", replaces_text=True, step=1)
    ]


def test_a_remark_contains_no_configured_secret():
    remark = Remark(0, "error", SECRET, f"http://h/{SECRET}", SECRET)
    (found,) = without_secrets([remark], Redactor({"K": SECRET}).redact)
    assert SECRET not in str(found) and found.where == "http://h/[redacted:K]"


def test_an_argument_named_like_a_secret_is_not_shown():
    found = redacted(ToolCallProposed(1, "c", "srv", "t", {"password": "hunter2", "a": 1}), Redactor())
    assert isinstance(found, ToolCallProposed)
    assert found.arguments == {"password": "[redacted:password]", "a": 1}


def messages():
    return [
        UserMessage(f"use {SECRET}", (Attachment("text", "text/plain", SECRET, 3, SECRET),), at=5.0),
        AssistantMessage(SECRET, f"so {SECRET}", (CallRequest("c", "srv__t", f'{{"a": "{SECRET}"}}'),)),
        ToolMessage("c", "srv__t", f"it is {SECRET}", seconds=2.0),
        UserMessage("fine"),
    ]


def test_messages_are_shown_without_secrets_and_otherwise_unchanged():
    said = messages()
    shown = ShownMessages(said, Redactor({"K": SECRET}))
    assert len(shown) == 4
    assert SECRET not in "".join(map(repr, shown))
    first, second = shown[0], shown[1]
    assert isinstance(first, UserMessage) and first.at == 5.0 and first.attachments[0].data == "[redacted:K]"
    assert isinstance(second, AssistantMessage) and second.calls[0].arguments == '{"a": "[redacted:K]"}'
    assert shown[3] is said[3] and shown[-1] is said[3]
    assert shown[1:3] == [shown[1], shown[2]] and shown[2] is shown[2]


def test_new_messages_and_new_secrets_are_taken_into_account():
    said, redactor = messages(), Redactor()
    shown = ShownMessages(said, redactor)
    assert shown == said
    said.append(UserMessage(f"and {SECRET}"))
    redactor.add({"K": SECRET})
    assert len(shown) == 5 and SECRET not in repr(list(shown))
