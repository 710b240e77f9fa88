"""A key that is unavailable says why. Letters are commands in a pane, and text only in the composer."""

import asyncio

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import answered, opened, send, shows
from tests.ui.fakes import FakeRuntime, says
from tui.core.ports import TextPart
from tui.ui.app.app import McptuiApp
from tui.ui.keys.action_table import Action, Context, of_context
from tui.ui.lists.models import ModelsScreen

COMMANDS = {found.keys: found for found in of_context(Context.CONVERSATION) if len(found.keys) == 1}
ANSWERS = {found.keys: found for found in of_context(Context.QUESTION)}
STOPPED_BY_A_TURN = [key for key, found in COMMANDS.items() if found.when == "current.why_not_again"]


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


async def refused(app: McptuiApp, pilot: Pilot[int], key: str, why: str) -> None:
    app.clear_notifications()
    await pilot.press("f2", key)
    await tells(app, why)


async def test_branch_during_a_turn_says_that_a_turn_is_running() -> None:
    async with opened(running()) as (app, pilot):
        await send(pilot, "tell me a story")
        await shows(app, "Once")
        await pilot.press("f2", "b")
        await tells(app, "Cannot branch from the selected message: a turn is running. Press esc to stop it.")
        assert app.main.parts.turns.running


async def test_every_conversation_key_that_a_turn_stops_is_refused_and_not_typed() -> None:
    async with opened(running()) as (app, pilot):
        await send(pilot, "tell me a story")
        await shows(app, "Once")
        for key in STOPPED_BY_A_TURN:
            await refused(app, pilot, key, f"Cannot {cannot(COMMANDS[key])}:")


async def test_in_an_empty_conversation_every_key_says_why_it_does_nothing() -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        for key, found in sorted(COMMANDS.items()):
            await refused(app, pilot, key, f"Cannot {cannot(found)}:")
        for key in sorted(ANSWERS):
            await refused(app, pilot, key, "no tool call is waiting for approval")
        await refused(app, pilot, "z", "Press f5 to write a message.")
        await pilot.press("ctrl+g")
        await notified(app, "Cannot continue after a limit: the last turn did not end at a limit.")
        await pilot.press("f3", "D")
        await notified(
            app, "Cannot review tools that changed: no tools have changed since you accepted them."
        )


async def test_a_configured_key_says_why_it_does_nothing() -> None:
    runtime = FakeRuntime()
    runtime.keys = {"chat.branch": "Z"}
    async with opened(runtime) as (app, pilot):
        await pilot.press("f2", "Z")
        await tells(app, "Cannot branch from the selected message: the conversation is empty.")


async def test_a_command_acts_at_once_whatever_letters_follow() -> None:
    async with answered("go", "First.") as (app, pilot, _):
        await pilot.press("f2", "m", "y")
        await until(lambda: isinstance(app.screen, ModelsScreen))
        assert app.main.composer.text == ""


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


async def test_a_server_key_without_servers_says_why_it_does_nothing() -> None:
    runtime = FakeRuntime()
    runtime.host._statuses.clear()
    async with opened(runtime) as (app, pilot):
        for key in ("s", "r", "l"):
            app.clear_notifications()
            await pilot.press("f3", key)
            await notified(app, "the selected server: there are no servers.")
