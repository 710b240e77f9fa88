"""Typing a message while a question is open answers nothing by accident."""

import pytest

from tests.conftest import until
from tests.ui.app_stage import asked, asking, opened, ripen, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, says
from tui.ui.chat import question_queue
from tui.ui.keys.action_table import Context


@pytest.mark.parametrize("text", ["what", "add a note", "yes please", "the end", "no, not that one"])
async def test_a_message_typed_while_a_question_has_the_focus_is_still_a_message(text, monkeypatch):
    monkeypatch.setattr(question_queue, "USUAL_SECONDS", 60.0)  # between two letters
    monkeypatch.setattr(question_queue, "STORED_SECONDS", 60.0)
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        app.main.regions.go_to(Context.CONVERSATION)
        await ripen(app)
        await pilot.press(*text)
        await until(lambda: app.main.composer.text == text, what=f"{app.main.composer.text!r}")
        assert app.focused is app.main.composer
        assert app.main.parts.approvals.current is not None
        assert runtime.toolbox.called == []


async def test_after_an_answer_the_focus_returns_to_a_started_message():
    async with opened(asking()) as (app, pilot):
        await asked(app, pilot)
        app.main.composer.insert("begun")
        await pilot.press("f2")
        await ripen(app)
        await pilot.press("n")
        await shows(app, "So be it.")
        assert app.focused is app.main.composer


async def test_the_region_borders_join_after_every_resize():
    async with opened(FakeRuntime(says("hello"))) as (app, pilot):
        await send(pilot, "hi")
        for width in (80, 200, 120, 200, 20, 200):
            await pilot.resize_terminal(width, 40)
            await pilot.pause()
            if not app.main.regions.is_narrow:
                column = app.main.regions.servers.region.x
                await until(lambda column=column: screen_text(app).splitlines()[1][column] == "┬")


async def test_narrowing_the_terminal_shows_the_conversation_if_the_composer_has_the_focus():
    async with opened(FakeRuntime(says("hello"))) as (app, pilot):
        app.main.regions.go_to(Context.SERVERS)
        app.main.regions.go_to(Context.COMPOSER)
        await pilot.resize_terminal(80, 24)
        await until(lambda: app.main.regions.only is Context.CONVERSATION)


@pytest.mark.parametrize(
    "keys", [("ctrl+p", "f1", "ctrl+p"), ("ctrl+p", "ctrl+t", "ctrl+p"), ("f1", "ctrl+p", "f1", "ctrl+p")]
)
async def test_the_palette_is_never_opened_twice(keys):
    async with opened(FakeRuntime(says("hello"))) as (app, pilot):
        await pilot.press(*keys)
        await pilot.pause()
        assert app.crash is None and app.is_running
        await pilot.press("escape", "escape", "escape")
        await until(lambda: app.screen is app.main)
