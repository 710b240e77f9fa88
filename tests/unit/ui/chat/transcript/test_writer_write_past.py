"""Saved messages become blocks in the order in which they were shown."""

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.ui.chat.transcript.flow import Flow
from tui.ui.chat.transcript.writer import PastWriter, Writer

TALK: list[Message] = [
    UserMessage("Add a note."),
    AssistantMessage("I add it.", calls=(CallRequest("c1", "notes__add_note", "{}"),), model="m"),
    ToolMessage("c1", "notes__add_note", "added"),
    AssistantMessage("Done.", model="m"),
]


def kinds(*remarks: Remark) -> list[str]:
    flow = Flow()
    writer = Writer(flow, flow.append, lambda: None, lambda: None, lambda: 0.0)
    PastWriter(writer, TALK, (), lambda model: "", remarks, lambda one: (one.text, one.kind), 0.0).write()
    names = [type(block).__name__ for block in flow.blocks]
    return [name for name in names if name in ("Prose", "Note", "Card")]


def test_a_warning_about_a_reply_stays_above_its_calls():
    assert kinds(Remark(2, "warn", "The call was repaired.")) == ["Prose", "Note", "Card", "Prose"]


def test_a_notice_during_calls_stays_below_them():
    assert kinds(Remark(2, "notice", "Loaded a tool.")) == ["Prose", "Card", "Note", "Prose"]
