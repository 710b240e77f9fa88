"""The rows of the sessions screen."""

from tui.core.conversation.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from tui.ui.lists.items import preview_rows
from tui.ui.widgets.rows import text_of


def test_the_preview_names_tools_as_server_and_tool() -> None:
    call = CallRequest("1", "notes__search_notes", "{}")
    reply = AssistantMessage(calls=(call,), model="demo")
    rows = preview_rows([UserMessage("Milk?"), reply, ToolMessage("1", "notes__search_notes", "none")])
    assert [text_of(row) for row in rows if row] == [
        "you",
        "Milk?",
        "demo",
        "→ notes/search_notes",
        "notes/search_notes",
        "none",
    ]
