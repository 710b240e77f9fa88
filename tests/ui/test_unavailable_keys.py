"""A command key that is unavailable says why. Only text is typed into the composer."""

import asyncio

import pytest
from textual.events import Key

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, says
from tui.core.ports import TextPart
from tui.ui.app.app import McptuiApp
from tui.ui.keys.action_table import Action, Context, of_context
from tui.ui.keys.situation import BETWEEN_TURNS

COMMANDS = {found.keys: found for found in of_context(Context.CONVERSATION) if len(found.keys) == 1}
ANSWERS = {found.keys: found for found in of_context(Context.QUESTION)}
STOPPED_BY_A_TURN = [key for key, found in COMMANDS.items() if found.id in BETWEEN_TURNS]


def running() -> FakeRuntime:
    return FakeRuntime([TextPart("Once"), asyncio.Event()])


async def notified(app: McptuiApp, why: str) -> None:
    """Wait for a notification. On screen its text is wrapped."""
    await until(lambda: any(why in one.message for one in app._notifications), what=why)


def cannot(found: Action) -> str:
    """Return the description of an action as used when it is unavailable."""
    what = found.help.partition(",")[0]
    return what[0].lower() + what[1:]


async def tells(app: McptuiApp, why: str) -> None:
    """Wait until the reason is shown. Nothing is typed, and the focus stays."""
    await notified(app, why)
    assert app.main.composer.text == ""
    assert app.focused is app.main.regions.conversation


async def test_branch_during_a_turn_says_that_a_turn_is_running() -> None:
    async with opened(running()) as (app, pilot):
        await send(pilot, "tell me a story")
        await shows(app, "Once")
        await pilot.press("f2", "b")
        await tells(app, "Cannot branch from the selected message: a turn is running. Press esc to stop it.")
        assert app.main.parts.turns.running


@pytest.mark.parametrize("key", STOPPED_BY_A_TURN)
async def test_a_conversation_key_during_a_turn_is_refused_and_not_typed(key: str) -> None:
    async with opened(running()) as (app, pilot):
        await send(pilot, "tell me a story")
        await shows(app, "Once")
        await pilot.press("f2", key)
        await tells(app, f"Cannot {cannot(COMMANDS[key])}:")


@pytest.mark.parametrize("key", sorted(COMMANDS))
async def test_in_an_empty_conversation_every_key_says_why_it_does_nothing(key: str) -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f2", key)
        await tells(app, f"Cannot {cannot(COMMANDS[key])}:")


@pytest.mark.parametrize("key", sorted(ANSWERS))
async def test_an_answer_key_without_a_question_says_that_there_is_none(key: str) -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f2", key)
        await tells(app, "no tool call is waiting for approval")


async def test_a_configured_key_says_why_it_does_nothing() -> None:
    runtime = FakeRuntime()
    runtime.keys = {"chat.branch": "Z"}
    async with opened(runtime) as (app, pilot):
        await pilot.press("f2", "Z")
        await tells(app, "Cannot branch from the selected message: the conversation is empty.")


@pytest.mark.parametrize("text", ["because", "please", "yes", "tell me"])
async def test_a_message_that_starts_with_a_command_key_is_typed(text: str) -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f2", *("space" if letter == " " else letter for letter in text))
        await until(lambda: app.main.composer.text == text, what=f"{app.main.composer.text!r}")
        assert "Cannot" not in screen_text(app)


@pytest.mark.parametrize("text", ["because", "Please", "zero", "yes"])
async def test_a_burst_of_letters_over_the_conversation_is_typed_in_full(text: str) -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f2")
        for letter in text:
            app.post_message(Key(letter, letter))
        await until(lambda: len(app.main.composer.text) >= len(text), what=f"{app.main.composer.text!r}")
        assert app.main.composer.text == text
        assert "Cannot" not in screen_text(app)


async def test_a_letter_that_is_not_a_command_is_typed() -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f2", "z")
        await until(lambda: app.main.composer.text == "z")


async def test_the_menu_of_a_message_says_why_it_cannot_retry_during_a_turn() -> None:
    async with opened(FakeRuntime(says("First."), [TextPart("Once"), asyncio.Event()])) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "First.")
        await send(pilot, "tell me a story")
        await shows(app, "Once")
        await pilot.press("f2", "up", "up", "enter")
        await shows(app, "THIS MESSAGE")
        await pilot.press("down", "enter")
        await tells(app, "Cannot retry the selected question: a turn is running. Press esc to stop it.")


async def test_continue_without_a_limit_says_why_it_does_nothing() -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("ctrl+g")
        await notified(app, "Cannot continue after a limit: the last turn did not end at a limit.")


@pytest.mark.parametrize("key", ["s", "r", "l"])
async def test_a_server_key_without_servers_says_why_it_does_nothing(key: str) -> None:
    runtime = FakeRuntime()
    runtime.host._statuses.clear()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f3", key)
        await notified(app, "the selected server: there are no servers.")


async def test_the_key_for_changed_tools_says_that_nothing_has_changed() -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f3", "D")
        await notified(
            app, "Cannot review tools that changed: no tools have changed since you accepted them."
        )
