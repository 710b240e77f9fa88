"""The dialog that shows the errors of a configuration."""

import asyncio

import pytest

from tests.conftest import until
from tests.ui.app_stage import shows
from tests.ui.question_stage import app_with_person, ripe, shown
from tui.ui.dialogs.question_dialog import QuestionDialog
from tui.ui.keys import answer_pause

__all__ = ["ripe"]

ERRORS = [f"config.toml:{number} servers.a: wrong" for number in range(1, 9)]


@pytest.mark.parametrize(("key", "again"), [("ctrl+s", True), ("escape", False), ("ctrl+x", False)])
@pytest.mark.usefixtures("ripe")
async def test_a_key_edits_the_file_again_or_closes_the_errors(key: str, again: bool) -> None:
    async with app_with_person() as (app, pilot, person):
        waiting = asyncio.create_task(person.config_errors(ERRORS))
        await shown(app, QuestionDialog)
        await shows(app, "config.toml:1", "and 3 more errors", "edit again")
        await pilot.press(key)
        assert await waiting is again


@pytest.mark.usefixtures("ripe")
async def test_no_letter_answers() -> None:
    async with app_with_person() as (app, pilot, person):
        waiting = asyncio.create_task(person.config_errors(ERRORS))
        await shown(app, QuestionDialog)
        await pilot.press(*"yesterday no quit", "enter")
        assert app.screen.is_current and not waiting.done()
        await pilot.press("escape")
        await waiting


@pytest.mark.parametrize("size", [(1, 1), (30, 2), (20, 4), (60, 10)])
@pytest.mark.usefixtures("ripe")
async def test_it_fits_every_size(size: tuple[int, int]) -> None:
    async with app_with_person(size) as (app, pilot, person):
        waiting = asyncio.create_task(person.config_errors(ERRORS))
        await shown(app, QuestionDialog)
        await pilot.press("down", "escape")
        assert await waiting is False


async def test_its_first_keys_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 60.0)
    async with app_with_person() as (app, pilot, person):
        waiting = asyncio.create_task(person.config_errors(ERRORS))
        await shown(app, QuestionDialog)
        await pilot.press("escape", "ctrl+s")
        assert isinstance(app.screen, QuestionDialog)
        monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 0.0)
        await pilot.press("escape")
        assert await waiting is False


async def test_withdrawn_errors_disappear() -> None:
    async with app_with_person() as (app, _, person):
        waiting = asyncio.create_task(person.config_errors(ERRORS))
        await shown(app, QuestionDialog)
        waiting.cancel()
        await until(lambda: app.screen is app.main)
        assert not app._notifications
