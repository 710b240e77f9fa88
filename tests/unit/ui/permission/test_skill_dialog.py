"""The question whether a skill may be loaded."""

import asyncio
import dataclasses

import pytest

from tests.ui.app_stage import shows
from tests.ui.question_stage import dialog_alone, painted, ripe
from tui.core.errors import McptuiError
from tui.core.questions import Action, SkillQuestion
from tui.ui.widgets.rows import text_of

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")


async def skill_md() -> str:
    return "---\nname: forms\n---\n[b]Fill[/b] \x1b[31mit"


async def failed() -> str:
    raise McptuiError("SKILL.md was not used, because its digest is another.")


QUESTION = SkillQuestion(
    "docs",
    "forms",
    "skill://forms/SKILL.md",
    "Fill [b]forms[/b]",
    "uvx docs-server",
    [("SKILL.md", 2048), ("scripts/fill.py", 12)],
    remarks=("It asks for permission to use tools, which mcptui ignores: Bash",),
    read=skill_md,
)


async def test_server_skill_files_and_the_effects_of_yes_and_no_are_shown():
    async with dialog_alone(QUESTION) as (app, _, _):
        await shows(app, "Load the skill “forms” from the server “docs”?", "Fill [b]forms[/b]")
        await shows(app, "docs: uvx docs-server", "2 files, 2.1 kB", "scripts/fill.py  12 B", "Bash")
        await shows(
            app, "Yes: the model gets its instructions", "No: it is not loaded.", "ctrl+s yes, load it"
        )


async def test_a_changed_skill_says_what_has_changed():
    changed = dataclasses.replace(QUESTION, changes=("scripts/fill.py added",))
    async with dialog_alone(changed) as (app, _, _):
        await shows(app, "which has changed since you approved it?", "~ scripts/fill.py added")


async def test_a_dynamic_skill_says_that_it_is_asked_about_each_time():
    async with dialog_alone(dataclasses.replace(QUESTION, files=())) as (app, _, _):
        await shows(app, "not listed", "so mcptui asks each time.")


async def test_the_skill_can_be_read_before_the_answer_and_its_text_is_only_text():
    async with dialog_alone(QUESTION) as (app, pilot, _):
        await pilot.press("ctrl+r")
        await shows(app, "forms / SKILL.md", "name: forms", "[b]Fill[/b] ␛[31mit")
        await pilot.press("escape")
        await shows(app, "ctrl+s yes, load it")


async def test_hidden_characters_of_the_text_are_shown_as_code_points():
    async def hides() -> str:
        return "Fill\u200b\u200bit"

    async with dialog_alone(dataclasses.replace(QUESTION, read=hides)) as (app, pilot, _):
        await pilot.press("ctrl+r")
        await shows(app, "Fill[U+200B ×2]it")


async def test_a_text_that_does_not_match_is_not_shown():
    async with dialog_alone(dataclasses.replace(QUESTION, read=failed)) as (app, pilot, _):
        await pilot.press("ctrl+r")
        await shows(app, "! SKILL.md was not used, because its digest is another.")


async def test_while_the_server_is_read_the_question_says_so():
    async def never() -> str:
        return await asyncio.get_running_loop().create_future()

    async with dialog_alone(dataclasses.replace(QUESTION, read=never)) as (app, pilot, _):
        await pilot.press("ctrl+r")
        await shows(app, "Reading SKILL.md…")


async def test_no_text_of_a_server_begins_a_line():
    forged = "files     1 file, 10 B " * 20
    question = dataclasses.replace(QUESTION, description=forged, remarks=(forged,), changes=(forged,))
    async with dialog_alone(question) as (app, _, _):
        pane = await painted(app)
        lines = [text_of(row) for row in pane._shown_rows]
    assert [line for line in lines if line.startswith("files")] == ["files     2 files, 2.1 kB"]
    assert len([line for line in lines if line.startswith("          ")]) > 4


async def test_a_yes_counts_only_once_all_of_it_was_on_screen():
    long = dataclasses.replace(QUESTION, files=[(f"file-{at}", 1) for at in range(200)])
    async with dialog_alone(long) as (app, pilot, answer):
        await pilot.press("ctrl+s")
        await shows(app, "Read all of it first.")
        assert not answer.done()


@pytest.mark.parametrize(
    ("key", "action"), [("ctrl+s", Action.ACCEPT), ("ctrl+x", Action.DECLINE), ("escape", Action.CANCEL)]
)
async def test_keys_answer_as_in_other_questions(key: str, action: Action):
    async with dialog_alone(QUESTION) as (app, pilot, answer):
        await painted(app, whole=True)
        await pilot.press(key)
        assert (await answer).action is action


async def test_a_question_that_nobody_would_read_cannot_be_answered_with_yes():
    endless = dataclasses.replace(QUESTION, files=[("x" * 2_000, 1)] * 60)
    async with dialog_alone(endless) as (app, pilot, answer):
        await painted(app)
        await pilot.press("ctrl+s")
        await shows(app, "This is too long to review here, so you cannot approve it.")
        assert not answer.done()
