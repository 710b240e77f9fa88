"""The dialog that shows project instructions and asks whether to use them."""

from textual.widgets import Static

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage
from tui.core.context.instructions import project_instructions
from tui.ui.dialogs.context_dialogs import ProjectDialog

INSTRUCTIONS = project_instructions("/demo", "Be brief.\n" * 100)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_yes_typed_before_the_text_could_be_read_is_ignored():
    clock = Clock()
    answers: list[bool | None] = []
    assert INSTRUCTIONS is not None
    async with Stage(Static()).run_test() as pilot:
        pilot.app.push_screen(
            ProjectDialog(INSTRUCTIONS, "~3 tokens", used=False, clock=clock), answers.append
        )
        await until(lambda: isinstance(pilot.app.screen, ProjectDialog))
        await pilot.press("y")
        assert answers == []
        clock.now = 1.0
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
        assert (
            "AGENTS.md in /demo" in shown and "Not in use. It would add ~3 tokens to each request." in shown
        )
        await pilot.press("escape")
        await until(lambda: answers == [None])
