"""The rows of the lists: sessions, models, rules."""

import pytest

from tests.cases import each_case
from tui.core.conversation.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from tui.core.conversation.sessions import SessionInfo
from tui.core.permission.rules import parse_rule
from tui.core.ports import ModelChoice
from tui.ui.lists.items import (
    FinderItem,
    choice_item,
    free_item,
    id_item,
    preview_rows,
    rule_item,
    session_cells,
    session_item,
)
from tui.ui.widgets.rows import text_of, width_of

EVIL = "\x1b[2J\u202e" + "x" * 500
MODEL = ModelChoice(EVIL, EVIL, EVIL, "found", facts=(EVIL,), problem=EVIL, learned=(EVIL,))
RULE = parse_rule("deny a/\x1b[2J*" + "x" * 500)


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


@each_case(
    ("item", "width"),
    [
        *((choice_item(MODEL), width) for width in (60, 76, 130)),
        *((rule_item("key", RULE), width) for width in (22, 40, 100)),
    ],
)
def test_a_hostile_text_is_cleaned_and_fits_in_its_rows(item: FinderItem, width: int):
    for row in item.draw(width):
        assert not {"\x1b", "\u202e"} & set(text_of(row)) and width_of(row) <= width


@pytest.mark.parametrize("in_use", [False, True])
def test_a_long_title_gives_room_to_whether_the_session_is_open(in_use: bool):
    info = SessionInfo("a", "Delete the note 2026-11-30-buy-milk and all others", turns=2, in_use=in_use)
    here = "" if in_use else "a"
    (row,) = session_item(info, here, 0.0, session_cells([info], here, 0.0)).draw(66)
    assert ("open in another mcptui" if in_use else "current  ") in text_of(row) and width_of(row) <= 66


def test_the_notes_of_a_session_with_a_short_title_are_whole():
    info = SessionInfo("a", "Delete it all", parent="b", turns=2, model="demo", tokens=12_000, cost=0.02)
    (row,) = session_item(info, "a", 0.0, session_cells([info], "a", 0.0)).draw(50)
    assert "branch  current  " in text_of(row)


def test_hostile_ids_and_typed_text_are_cleaned():
    for item in (id_item(EVIL, current=True), free_item(EVIL)):
        assert not {"\x1b", "\u202e"} & set(text_of(item.draw(80)[0]))
