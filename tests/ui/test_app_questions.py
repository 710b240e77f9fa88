"""The approval question of a call: which keys answer it, and which never do."""

import asyncio
import json

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import asked, asking, opened, ripen, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tui.ui.app.app import McptuiApp
from tui.ui.keys.action_table import Context


@pytest.mark.parametrize(("key", "ran"), [("y", True), ("t", True), ("a", True), ("n", False)])
async def test_an_answer_key_works_while_the_conversation_has_the_focus(key, ran):
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f2")
        await ripen(app)
        await pilot.press(key)
        await shows(app, "So be it.")
        assert bool(runtime.toolbox.called) is ran


async def test_the_reason_for_a_denial_is_sent_to_the_model():
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


async def test_escape_in_the_reason_dialog_returns_to_the_question():
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


async def test_a_question_takes_the_focus_from_an_idle_composer_and_returns_it():
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


async def test_a_question_does_not_take_the_focus_while_the_user_types():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("notes__delete_note")])
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        app.main.composer.insert("wait, I also")
        gate.set()
        await until(lambda: app.main.parts.approvals.current)
        await pilot.pause()
        assert app.focused is app.main.composer


async def test_a_key_pressed_as_the_question_appears_is_ignored():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        app.main.regions.go_to(Context.CONVERSATION)
        app.main.parts.approvals._shown_at += 1e6
        await pilot.press("y")
        assert app.main.parts.approvals.current
        assert runtime.toolbox.called == []


async def test_escape_stops_a_turn_that_waits_for_approval():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("escape")
        await until(lambda: not app.main.parts.turns.running)
        assert app.main.parts.approvals.current is None
        assert runtime.toolbox.called == []


LONG = json.dumps({"id": "\n".join(f"line {number}" for number in range(60))})


async def press_and_settle(app: McptuiApp, pilot: Pilot[None], key: str) -> None:
    """Press an answer key, and wait until it can no longer be part of a word."""
    await pilot.press(key)
    await until(lambda: app.main.parts.answer_keys._held is None)


async def test_a_call_can_be_approved_only_after_all_arguments_were_on_screen():
    runtime = FakeRuntime(calls("notes__delete_note", LONG), says("So be it."))
    async with opened(runtime, (80, 24)) as (app, pilot):
        await pilot.press("x", "enter")
        await shows(app, "60 lines   enter expand")
        await pilot.press("f2")
        await ripen(app)
        for _ in range(2):  # the first y expands it
            await press_and_settle(app, pilot, "y")
            await shows(app, "line 9", "Read the whole call first:")
            assert app.main.parts.approvals.current and runtime.toolbox.called == []
        await pilot.press("end")  # jumps over the middle
        await shows(app, "line 59")
        await press_and_settle(app, pilot, "a")
        assert app.main.parts.approvals.current and runtime.toolbox.called == []
        conversation = app.main.regions.conversation
        while conversation._asked.unseen:
            await pilot.press("pageup")
            screen_text(app)
            await pilot.pause()
        await pilot.press("y")
        await shows(app, "So be it.")
        assert len(runtime.toolbox.called) == 1


async def test_a_call_can_be_denied_before_all_of_it_was_on_screen():
    runtime = FakeRuntime(calls("notes__delete_note", LONG), says("So be it."))
    async with opened(runtime, (80, 24)) as (app, pilot):
        await pilot.press("x", "enter")
        await shows(app, "60 lines   enter expand")
        await pilot.press("f2")
        await ripen(app)
        await pilot.press("n")
        await shows(app, "So be it.")
        assert runtime.toolbox.called == []


@pytest.mark.parametrize("text", ["x" * 50_000, "漢" * 20_000])
async def test_long_arguments_are_laid_out_off_the_event_loop_and_read_before_approval(text: str):
    runtime = FakeRuntime(calls("notes__delete_note", json.dumps({"id": text})), says("So be it."))
    async with opened(runtime, (100, 30)) as (app, pilot):
        await pilot.press("x", "enter")
        await until(lambda: app.main.parts.approvals.current)
        app.main.parts.approval_keys.typed_at = -1e9
        await pilot.press("f2")
        await shows(app, "enter expand")
        await ripen(app)
        await pilot.press("y")
        await shows(app, "Read the whole call first:")
        assert not runtime.toolbox.called
        await pilot.press("n")
        await shows(app, "So be it.")
