"""A question of a call in the app: which keys answer it, and which never do."""

import asyncio

import pytest

from tests.conftest import until
from tests.ui.app_stage import asked, asking, opened, ripen, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tui.ui.keys.action_table import Context


@pytest.mark.parametrize(("key", "ran"), [("y", True), ("t", True), ("a", True), ("n", False)])
async def test_a_key_in_the_conversation_answers(key, ran):
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f2")
        await ripen(app)
        await pilot.press(key)
        await shows(app, "So be it.")
        assert bool(runtime.toolbox.called) is ran


async def test_the_reason_of_a_no_goes_to_the_model():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f2")
        await ripen(app)
        await pilot.press("e")
        await shows(app, "Deny notes › delete_note: reason for the model", "enter deny   esc cancel")
        await pilot.press(*"not milk", "enter")
        await shows(app, "So be it.")
        assert "not milk" in runtime.model.requests[1].messages[-1].text


async def test_escape_in_the_reason_goes_back_to_the_question():
    async with opened(asking()) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f2")
        await ripen(app)
        await pilot.press("e")
        await shows(app, "reason for the model")
        await pilot.press("escape")
        await until(lambda: "reason for the model" not in screen_text(app))
        assert app.main.parts.approvals.current


async def test_an_answer_typed_into_the_composer_is_only_text():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        app.main.regions.go_to(Context.COMPOSER)
        await ripen(app)
        await pilot.press("y", "e", "s")
        assert app.main.composer.text == "yes"
        assert app.main.parts.approvals.current
        assert "f2 answer" in screen_text(app)


async def test_a_question_takes_the_focus_from_an_idle_composer_and_gives_it_back():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("notes__delete_note")], says("So be it."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        app.main.parts.approval_keys.typed_at = -1e9
        gate.set()
        await until(lambda: app.main.parts.approvals.current)
        await until(lambda: app.focused is app.main.regions.conversation)
        await ripen(app)
        await pilot.press("n")
        await until(lambda: app.focused is app.main.composer)


async def test_a_question_leaves_the_focus_to_a_person_who_types():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("notes__delete_note")])
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        app.main.composer.insert("wait, I also")
        gate.set()
        await until(lambda: app.main.parts.approvals.current)
        await pilot.pause()
        assert app.focused is app.main.composer


async def test_a_key_pressed_as_the_question_appears_is_no_answer():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        app.main.regions.go_to(Context.CONVERSATION)
        app.main.parts.approvals._shown_at += 1e6
        await pilot.press("y")
        assert app.main.parts.approvals.current
        assert runtime.toolbox.called == []


async def test_escape_stops_a_turn_that_asks():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("escape")
        await until(lambda: not app.main.parts.turns.running)
        assert app.main.parts.approvals.current is None
        assert runtime.toolbox.called == []
