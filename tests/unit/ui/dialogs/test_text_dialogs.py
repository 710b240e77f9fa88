"""The dialogs that show the parts of a request, and project instructions."""

import pytest
from textual.widgets import Static

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage
from tui.core.context.context_parts import ContextPart
from tui.core.context.instructions import project_instructions
from tui.ui.dialogs import text_dialogs
from tui.ui.dialogs.text_dialogs import ProjectDialog, context_rows
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.widgets.rows import width_of

INSTRUCTIONS = project_instructions("/demo", "Be brief.\n" * 100)


async def test_a_yes_typed_before_the_text_could_be_read_is_ignored(monkeypatch: pytest.MonkeyPatch):
    answers: list[bool | None] = []
    assert INSTRUCTIONS is not None
    monkeypatch.setattr(text_dialogs, "CONFIRM_SECONDS", 60.0)
    async with Stage(Static()).run_test() as pilot:
        dialog = ProjectDialog(INSTRUCTIONS, "~3 tokens", used=False)
        pilot.app.push_screen(dialog, answers.append)
        await until(lambda: pilot.app.screen is dialog)
        await pilot.press("y")
        assert answers == []
        dialog._delay = AnswerDelay(seconds=0.0)
        await pilot.press("y")
        await until(lambda: answers == [True])


async def test_the_dialog_shows_the_added_tokens_and_escape_changes_nothing():
    answers: list[bool | None] = []
    assert INSTRUCTIONS is not None
    async with Stage(Static()).run_test() as pilot:
        pilot.app.push_screen(ProjectDialog(INSTRUCTIONS, "~3 tokens", used=False), answers.append)
        await until(lambda: isinstance(pilot.app.screen, ProjectDialog))
        await until(lambda: "Be brief." in screen_text(pilot.app))
        shown = screen_text(pilot.app)
        assert "AGENTS.md   /demo" in shown and "Not in use. It would add ~3 tokens to each request." in shown
        await pilot.press("escape")
        await until(lambda: answers == [None])


PARTS = [
    ContextPart("System prompt", 80),
    ContextPart("2 tools", 7_700, "crm"),
    ContextPart("1 tool", 5, "evil\x1b[2J" + "x" * 100),
]


def shown(width: int, window: int | None = 32_768) -> list[str]:
    return ["".join(text for text, _ in row) for row in context_rows(PARTS, window, width, sign="~")]


def test_each_part_has_a_line_with_its_tokens_and_the_last_line_is_the_total():
    lines = shown(78)
    assert lines[0].startswith("System prompt") and lines[0].endswith("~80")
    assert lines[1].startswith("crm, 2 tools") and "━" in lines[1]
    assert lines[-1].startswith("Total") and lines[-1].endswith("~7.8 k of 33 k (24%)")


def test_without_a_known_window_there_is_no_share():
    assert shown(78, None)[-1].endswith("~7.8 k")


def test_a_narrow_dialog_has_no_bars_and_truncates_a_long_name():
    rows = context_rows(PARTS, None, 40, sign="")
    assert all(width_of(row) <= 40 for row in rows)
    assert "━" not in "".join(shown(40)) and "\x1b" not in "".join(shown(78))


def test_an_empty_context_has_no_tokens():
    assert ["".join(text for text, _ in row) for row in context_rows([], None, 40, sign="")][-1].endswith("0")
