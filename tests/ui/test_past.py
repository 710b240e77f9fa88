"""A saved conversation, shown again: its messages and calls, fast at any length."""

import pytest

from tests.conftest import until
from tests.ui.stage import row_with
from tests.ui.talk_stage import HOSTILE, talk
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.tools import BinaryContent, ToolResult
from tui.ui.chat.transcript.markdown_stream import parts

SILENT = {"notice": lambda model: "", "remarks": (), "note": lambda remark: ("", "")}


def call(call_id: str = "c1", name: str = "weather__get_weather", **more: object) -> CallRequest:
    return CallRequest(call_id, name, '{"location": "Beijing"}', **more)


def told(text: str, *, is_error: bool = False, call_id: str = "c1") -> ToolMessage:
    return ToolMessage(call_id, "weather__get_weather", text, is_error)


async def test_each_call_shows_its_outcome():
    endings = {
        "done": told("25 °C", call_id="done"),
        "failed": told("no such town", is_error=True, call_id="failed"),
        "denied": told("denied by the user", is_error=True, call_id="denied"),
        "cancelled": told("cancelled by the user", is_error=True, call_id="cancelled"),
        "outcome unknown": told(UNKNOWN_OUTCOME, is_error=True, call_id="outcome unknown"),
        "not run": told(NEVER_SENT, is_error=True, call_id="not run"),
    }
    async with talk(columns=100, rows=30) as it:
        asked = tuple(call(name, f"s__{name.replace(' ', '_')}_") for name in endings)
        it.pane.show_past(
            [UserMessage("all"), AssistantMessage("", calls=asked), *endings.values()], (), **SILENT
        )
        lines = await it.lines()
        for name in list(endings)[1:]:
            assert name in row_with(lines, f" {name.replace(' ', '_')}_ ")
        assert "mcptui exited during this call" in "\n".join(lines)


async def test_a_call_without_any_answer_is_unknown_only_if_it_was_sent():
    async with talk(columns=100) as it:
        asked = (call("sent", "s__sent"), call("unsent", "s__unsent"))
        it.pane.show_past([UserMessage("x"), AssistantMessage("", calls=asked)], {"sent"}, **SILENT)
        lines = await it.lines()
        assert "outcome unknown" in row_with(lines, "› sent")
        assert "not run" in row_with(lines, "› unsent")


async def test_reasoning_is_folded_and_shows_no_unknown_duration():
    async with talk() as it:
        it.pane.show_past([UserMessage("x"), AssistantMessage("y", reasoning="hidden thought")], (), **SILENT)
        lines = await it.lines()
        assert "thought  ▸" in lines
        assert not any("hidden" in line for line in lines)


async def test_truncated_replies_and_calls_recovered_from_text_are_marked():
    async with talk(columns=100) as it:
        messages: list[Message] = [
            UserMessage("x"),
            AssistantMessage("I was abou", partial=True),
            UserMessage("y"),
            AssistantMessage("", calls=(call(recovered=True),)),
            told("ok"),
        ]
        it.pane.show_past(messages, (), **SILENT)
        lines = await it.lines()
        assert "· truncated" in lines
        assert "recovered" in row_with(lines, "get_weather")


async def test_attachments_are_shown_below_the_question():
    async with talk() as it:
        note = Attachment("text", "text/markdown", "README.md", 2048)
        it.pane.show_past([UserMessage("read this", (note,))], (), **SILENT)
        assert "▌ @ README.md   text/markdown, 2.0 kB" in await it.lines()


async def test_the_notice_of_a_model_is_shown_once_below_its_reply():
    async with talk() as it:
        messages = [UserMessage("a"), AssistantMessage("b", model="demo"), UserMessage("c")]
        it.pane.show_past(
            messages,
            (),
            **SILENT | {"notice": lambda model: "not a language model" if model == "demo" else ""},
        )
        assert (await it.lines()).count("not a language model") == 1


async def test_a_conversation_of_thousands_of_messages_opens_at_its_end():
    messages: list[Message] = []
    for turn in range(500):
        messages.append(UserMessage(f"question {turn}"))
        for step in range(2):
            name = f"{turn}-{step}"
            messages.append(AssistantMessage(f"## Look {name}\n\n- one\n- two\n" * 8, calls=(call(name),)))
            messages.append(told('{"a": 1}\n' * 40, call_id=name))
        messages.append(AssistantMessage(f"answer {turn}", model="demo"))
    async with talk(rows=24) as it:
        it.pane.show_past(messages, (), **SILENT)
        await it.shows("answer 499")
        assert it.pane.following


async def test_a_saved_conversation_can_be_opened_at_a_message():
    messages: list[Message] = []
    for turn in range(100):
        messages += [UserMessage(f"question {turn}"), AssistantMessage(f"answer {turn}.\n\nmore " * 5)]
    async with talk() as it:
        it.pane.show_past(messages, (), **SILENT)
        it.pane.focus()
        it.pane.show_message(40)
        await it.shows("question 20")
        assert it.pane.marked_label is not None and it.pane.marked_label.said == "question 20"


async def test_a_new_turn_is_added_after_the_saved_messages():
    async with talk() as it:
        it.pane.show_past([UserMessage("a"), AssistantMessage("b", model="demo")], (), **SILENT)
        it.pane.add_user("c")
        it.pane.begin_reply("demo")
        it.pane.add_text("d")
        it.pane.end_reply(0.1)
        lines = [line for line in await it.lines() if line]
        assert [line.split() for line in lines[:5]] == [["▌", "a"], ["b"], ["demo"], ["▌", "c"], ["d"]]


async def test_texts_from_a_session_file_are_cleaned():
    async with talk(columns=100, rows=40) as it:
        asked = CallRequest("c1", HOSTILE, HOSTILE)
        messages: list[Message] = [
            UserMessage(HOSTILE, (Attachment("blob", HOSTILE, HOSTILE, 1),)),
            AssistantMessage(HOSTILE, reasoning=HOSTILE, calls=(asked,), model=HOSTILE),
            ToolMessage("c1", HOSTILE, HOSTILE, True),
        ]
        it.pane.show_past(messages, (), **SILENT)
        await until(lambda: it.pane.row_count() > 5)
        text = "\n".join(await it.lines())
        assert not set(text) & set("\x1b\x07\x9b\u202e\x00")


async def test_the_summary_of_older_turns_is_a_row_that_can_be_expanded():
    async with talk() as it:
        it.pane.show_past([UserMessage("a"), AssistantMessage("b")], (), **SILENT)
        it.pane.show_summary("12 turns summarized for the model", "They spoke of milk.")
        assert any("12 turns summarized" in line for line in await it.lines())
        it.pane.focus()
        await it.pilot.press("end", "enter")
        await it.shows("They spoke of milk.")
        it.pane.show_summary("", "")
        assert not any("summarized" in line for line in await it.lines())


async def test_only_the_newest_large_results_are_kept_in_full(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.ui.chat.transcript.transcript.MOST_GIVEN", 100)
    async with talk(rows=30) as it:
        for name in ("a", "b", "c"):
            it.pane.add_call(name, "s", "draw", {})
            it.pane.give_result(name, ToolResult((BinaryContent("image", "image/png", 45, "A" * 60),)))
        kept = [card.gave is not None for card in map(it.pane.cards.get, "abc") if card is not None]
        assert kept == [False, False, True]
        assert sum("▣" in line for line in await it.lines()) == 3


# ---- parts of a long text ----


def test_a_long_text_is_split_between_its_blocks():
    text = "\n\n".join(f"paragraph {number} " + "word " * 60 for number in range(200))
    cut = list(parts(text))
    assert all(len(part) <= 8 * 1024 for part in cut)
    assert "\n".join(cut) == text


def test_a_split_code_fence_is_closed_and_reopened():
    text = "before\n\n```python\n" + "x = 1\n" * 4000 + "```\n\nafter"
    cut = list(parts(text))
    assert len(cut) > 2
    assert all(part.count("```") % 2 == 0 for part in cut)
    assert all(part.startswith("```python") for part in cut[1:-1])
    assert cut[-1].rstrip().endswith("after")


def test_a_line_of_any_length_is_split_too():
    cut = list(parts("x" * 100_000))
    assert all(len(part) <= 8 * 1024 for part in cut)
    assert "".join(cut).replace("\n", "") == "x" * 100_000
