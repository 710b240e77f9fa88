"""The approval question of a call: which keys answer it, and which never do."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import asked, asking, keys, opened, ripen, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tui.core.conversation.conversation import CallRequest
from tui.core.forms.form import Form
from tui.core.ports import Answer, Decision, ReplyPart
from tui.ui.app.app import McptuiApp
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FormHead


@pytest.mark.parametrize(("key", "ran"), [("y", True), ("t", True), ("a", True), ("n", False)])
async def test_an_answer_key_works_while_the_conversation_has_the_focus(key, ran):
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f2")
        await ripen(app)
        await pilot.press(key)
        remembered = "delete_note runs without approval until"
        if key == "a":
            await shows(app, remembered)
        await shows(app, "So be it.")
        assert bool(runtime.toolbox.called) is ran
        assert key == "a" or remembered not in screen_text(app), "only what is stored is explained"


async def test_the_reason_for_a_denial_is_sent_to_the_model():
    runtime = asking()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f2")
        await ripen(app)
        await pilot.press("e")
        await shows(app, "DENY WITH A REASON   notes › delete_note", "enter deny   esc cancel")
        await pilot.press("escape")
        await until(lambda: "DENY WITH A REASON" not in screen_text(app))
        assert app.main.parts.approvals.current
        await ripen(app)
        await pilot.press("e")
        await shows(app, "DENY WITH A REASON")
        await pilot.press(*"not milk", "enter")
        await shows(app, "So be it.")
        assert "not milk" in runtime.model.requests[1].messages[-1].text


async def test_a_question_takes_the_focus_from_an_idle_composer_and_returns_it():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("notes__delete_note")], says("So be it."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        app.main.parts.approvals.typed_at = -1e9
        gate.set()
        await until(lambda: app.main.parts.approvals.current)
        await until(lambda: app.focused is app.main.regions.conversation)
        await ripen(app)
        await pilot.press("n")
        await until(lambda: app.focused is app.main.composer)


@asynccontextmanager
async def asked_while_typing(*replies):
    """Open the app with a draft in the composer, and its caret after "wait", when an approval comes."""
    gate = asyncio.Event()
    runtime = FakeRuntime(
        [gate, *(replies[0] if replies else calls("notes__delete_note"))], says("So be it.")
    )
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await keys(pilot, "wait, I also")
        app.main.composer.move_cursor((0, 4))
        gate.set()
        await until(lambda: app.main.parts.approvals.current)
        yield app, pilot, runtime


@asynccontextmanager
async def asked_over_a_draft(*replies):
    """Open the app with a draft when an approval has come, and wait until it has the keys."""
    async with asked_while_typing(*replies) as (app, pilot, runtime):
        stop_typing(app)
        await has_keys(app)
        yield app, pilot, runtime


def stop_typing(app: McptuiApp) -> None:
    app.main.parts.approvals.typed_at = -1e9


async def has_keys(app: McptuiApp) -> None:
    """Wait until the card of the approval has the keys, and is no longer deaf."""
    await until(lambda: app.focused is app.main.regions.conversation)
    await ripen(app)


async def test_a_question_does_not_appear_while_the_user_types():
    async with asked_while_typing() as (app, pilot, _):
        await pilot.press("s")
        assert app.focused is app.main.composer
        assert "y once" not in screen_text(app)
        assert app.main.composer.text == "waits, I also"


async def test_a_question_has_the_keys_once_the_user_stops_typing_and_the_draft_is_kept():
    async with asked_while_typing() as (app, pilot, runtime):
        stop_typing(app)
        await shows(app, "y once")
        await has_keys(app)
        await pilot.press("y")
        await shows(app, "So be it.")
        assert len(runtime.toolbox.called) == 1
        await until(lambda: app.focused is app.main.composer)
        assert (app.main.composer.text, app.main.composer.cursor_location) == ("wait, I also", (0, 4))


async def test_letters_pressed_as_the_question_appears_change_neither_it_nor_the_draft():
    async with asked_while_typing() as (app, pilot, runtime):
        stop_typing(app)
        await until(lambda: app.focused is app.main.regions.conversation)
        app.main.parts.approvals.answer_delay._shown += 1e6
        await pilot.press("y", "e", "s", "x")
        assert app.main.parts.approvals.current
        assert runtime.toolbox.called == []
        assert app.main.composer.text == "wait, I also"


async def test_a_question_has_the_keys_again_after_text_typed_without_looking():
    async with asked_over_a_draft() as (app, pilot, runtime):
        await pilot.press("n", "o", "w")
        assert app.focused is app.main.composer
        assert app.main.composer.text == "waitnow, I also"
        stop_typing(app)
        await has_keys(app)
        await pilot.press("n")
        await shows(app, "So be it.")
        assert runtime.toolbox.called == []
        assert app.main.composer.text == "waitnow, I also"


async def test_two_questions_in_a_row_are_answered_over_a_draft():
    two = (
        CallRequest("a", "notes__delete_note", '{"id": "1"}'),
        CallRequest("b", "notes__delete_note", "{}"),
    )
    async with asked_while_typing([ReplyPart(calls=two, finish="tool_calls")]) as (app, pilot, runtime):
        stop_typing(app)
        for _ in two:
            await until(lambda: app.main.parts.approvals.current)
            asked_now = app.main.parts.approvals.current
            await has_keys(app)
            await shows(app, "y once")  # a call is only approved once it was painted
            await pilot.press("y")
            await until(lambda before=asked_now: app.main.parts.approvals.current is not before)
        await shows(app, "So be it.")
        assert len(runtime.toolbox.called) == 2
        assert app.main.composer.text == "wait, I also"


async def test_keys_after_a_withdrawn_question_are_not_written_into_the_draft():
    async with asked_over_a_draft() as (app, pilot, _):
        parts = app.main.parts
        parts.approvals.settle(parts.approvals.current, Decision(Answer.NO))  # not by a key of the user
        await until(lambda: app.focused is app.main.composer)
        await pilot.press("y")
        assert app.main.composer.text == "wait, I also"


async def test_text_typed_after_the_turn_was_stopped_is_not_lost():
    async with asked_over_a_draft() as (app, pilot, _):
        await pilot.press("escape")
        await until(lambda: app.focused is app.main.composer)
        await pilot.press("s")
        assert app.main.composer.text == "waits, I also"


async def test_text_pasted_while_a_question_is_open_goes_into_the_draft():
    async with asked_over_a_draft() as (app, _, runtime):
        app.post_message(Paste(" y"))
        await until(lambda: app.main.composer.text == "wait y, I also")
        assert runtime.toolbox.called == []
        stop_typing(app)
        await has_keys(app)
        assert app.main.parts.approvals.current


async def test_a_user_who_returns_from_another_screen_does_not_answer_with_its_keys():
    async with asked_over_a_draft() as (app, pilot, runtime):
        await pilot.press("f4")
        await until(lambda: app.screen is not app.main)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        assert not app.main.parts.approvals.answer_delay.accepts_keys
        await has_keys(app)
        await pilot.press("y")
        await shows(app, "So be it.")
        assert len(runtime.toolbox.called) == 1


async def test_another_screen_says_that_a_call_is_waiting_and_which_key_goes_there():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("notes__delete_note")], says("So be it."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await pilot.press("f4")
        await until(lambda: app.screen is not app.main)
        gate.set()
        await shows(app, "notes › delete_note is waiting for approval. Press f2 to answer.")
        await pilot.press("f2")
        await until(lambda: app.screen is app.main and app.focused is app.main.regions.conversation)


async def test_a_question_shows_only_keys_that_work():
    answers, way = "y once", "f2 answer"
    async with asked_over_a_draft() as (app, pilot, _):
        await shows(app, answers, "esc stop   f5 input   f4")
        assert way not in screen_text(app)
        await pilot.press("tab")
        await until(lambda: answers not in screen_text(app))
        assert f"│ {way}" in screen_text(app)
        await pilot.press("f2")
        await shows(app, answers)
        await pilot.press("f5")
        await until(lambda: answers not in screen_text(app))
        await pilot.press("s")
        assert app.main.composer.text == "waits, I also"


async def test_a_click_on_a_key_of_a_question_answers_it():
    async with asked_over_a_draft() as (app, pilot, runtime):
        await shows(app, "n deny")
        lines = screen_text(app).split("\n")
        y = next(number for number, line in enumerate(lines) if "n deny" in line)
        await pilot.click(offset=(lines[y].index("n deny") + 2, y))
        await shows(app, "So be it.")
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
    await until(lambda: app.main.parts.approvals.keys._held is None)


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


async def test_typing_into_a_form_of_the_workbench_counts_as_typing():
    async with opened(asking()) as (app, pilot):
        keys_of_questions = app.main.parts.approvals
        form = FormPane(app.overrides)
        await app.main.mount(form)
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        form.show(Form(schema), FormHead())
        form.focus()
        await until(lambda: form.has_focus and form.caret is not None)
        before = keys_of_questions.typed_at
        await pilot.press("x")
        assert keys_of_questions.typed_at > before
