"""Messages typed during a turn: queued and sent after it, or sent at the next step. None is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import McptuiError
from tui.core.ports import NO_MODEL, TextPart
from tui.ui.app.app import McptuiApp


def said(runtime: FakeRuntime) -> list[str]:
    return [one.text for one in runtime.conversation.messages if isinstance(one, UserMessage)]


@asynccontextmanager
async def holding(*texts: str) -> AsyncIterator[tuple[McptuiApp, Pilot[int]]]:
    """Open the app with messages that are queued behind the first one."""
    async with opened(FakeRuntime([asyncio.Event()])) as (app, pilot):
        await send(pilot, "one")
        for text in texts:
            await send(pilot, text)
        await until(lambda: app.main.composer.holding)
        yield app, pilot


async def test_queued_messages_are_shown_above_the_composer_with_their_keys():
    async with holding("two", "three") as (app, _):
        await shows(app, "2 messages, sent after this turn", "three", "ctrl+up edit", "ctrl+x discard")
        await shows(app, "enter queue", "ctrl+s steer")


async def test_queued_messages_are_sent_one_by_one_after_the_turn():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *says("First.")], says("Second."), says("Third."))
    async with opened(runtime) as (app, pilot):
        for text in ("one", "two", "three"):
            await send(pilot, text)
        gate.set()
        await shows(app, "First.", "Second.", "Third.")
        assert said(runtime) == ["one", "two", "three"]
        await until(lambda: not app.main.regions.held_box.display)


async def test_the_last_queued_message_can_be_edited_in_the_composer():
    async with holding("two", "three") as (app, pilot):
        await pilot.press("ctrl+up")
        await until(lambda: app.main.composer.text == "three")
        await shows(app, "1 message, sent after this turn")


async def test_up_in_an_empty_composer_recalls_the_last_queued_message():
    async with holding("two") as (app, pilot):
        await pilot.press("up")
        await until(lambda: app.main.composer.text == "two")
        assert app.main.parts.turns.held == []


async def test_a_discarded_message_is_still_in_the_history():
    async with holding("two") as (app, pilot):
        await pilot.press("ctrl+x")
        await shows(app, "Discarded. up restores it.")
        await until(lambda: not app.main.composer.holding)
        await pilot.press("up")
        assert app.main.composer.text == "two"


async def test_with_text_in_the_composer_the_discard_key_cuts():
    async with holding("two") as (app, pilot):
        app.main.composer.insert("three")
        await pilot.press("ctrl+x")
        assert app.main.composer.text == "" and app.main.parts.turns.held == ["two"]


async def test_a_click_on_the_line_recalls_the_queued_message():
    async with holding("two") as (app, pilot):
        await shows(app, "1 message, sent after this turn")
        await pilot.click("#held", offset=(3, 0))
        await until(lambda: app.main.composer.text == "two")


async def test_a_steering_message_is_sent_at_the_next_step_and_shown_in_the_conversation():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("weather__get_weather")], says("In Oslo then."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "weather?")
        await until(lambda: app.main.parts.turns.running)
        app.main.composer.insert("I mean Oslo")
        await pilot.press("ctrl+s")
        await shows(app, "1 message, sent at the next step")
        assert app.main.composer.text == ""
        gate.set()
        await shows(app, "In Oslo then.", "I mean Oslo")
        assert said(runtime) == ["weather?", "I mean Oslo"]
        assert len(runtime.conversations.asked) == 1
        await until(lambda: not app.main.regions.held_box.display)


async def test_a_queued_message_can_become_a_steering_message():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("weather__get_weather")], says("In Oslo then."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "weather?")
        await send(pilot, "I mean Oslo")
        await shows(app, "1 message, sent after this turn")
        await pilot.press("ctrl+s")
        await shows(app, "1 message, sent at the next step")
        gate.set()
        await shows(app, "In Oslo then.")
        assert said(runtime) == ["weather?", "I mean Oslo"]


async def test_without_a_running_turn_the_steer_key_sends_the_message():
    runtime = FakeRuntime(says("Hello."))
    async with opened(runtime) as (app, pilot):
        app.main.composer.insert("hi")
        await pilot.press("ctrl+s")
        await shows(app, "Hello.")


async def test_stopping_returns_every_unsent_message():
    runtime = FakeRuntime([TextPart("Once"), asyncio.Event()])
    async with opened(runtime) as (app, pilot):
        await send(pilot, "one")
        await shows(app, "Once")
        await send(pilot, "held")
        app.main.composer.insert("steered")
        await pilot.press("ctrl+s")
        await until(lambda: app.main.parts.turns.steered == ["steered"])
        app.main.composer.insert("draft")
        await pilot.press("escape")
        await until(lambda: not app.main.parts.turns.running)
        assert sorted(app.main.composer.text.split("\n")) == ["draft", "held", "steered"]
        assert said(runtime) == ["one"] and "queued" not in screen_text(app)


async def test_a_steering_message_that_came_too_late_is_sent_next():
    class DeafTurn:
        """Ends without sending the steering message."""

        def __init__(self, turn: object) -> None:
            self._turn = turn

        def __getattr__(self, name: str) -> object:
            return getattr(self._turn, name)

        def steer(self, text: str) -> None:
            pass

    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *says("First.")], says("Second."))
    ask = runtime.conversations.ask
    runtime.conversations.ask = lambda *args: DeafTurn(ask(*args))  # type: ignore[method-assign, assignment, return-value]
    async with opened(runtime) as (app, pilot):
        await send(pilot, "one")
        await until(lambda: app.main.parts.turns.running)
        app.main.composer.insert("now")
        await pilot.press("ctrl+s")
        await until(lambda: app.main.parts.turns.steered == ["now"])
        gate.set()
        await shows(app, "First.", "Second.")
        assert said(runtime) == ["one", "now"]


def without_key(label: str = NO_MODEL) -> FakeRuntime:
    runtime = FakeRuntime()

    def refuse(*_: object) -> None:
        raise McptuiError("OPENAI_API_KEY is not set", next_step="Set it.")

    runtime.model.label, runtime.model.notice = label, ""
    runtime.conversations.ask = refuse  # type: ignore[method-assign, assignment]
    return runtime


async def test_without_a_model_the_message_returns_to_the_input():
    async with opened(without_key()) as (app, pilot):
        await shows(app, "No model is selected. Select one (f10), or add one (f10, ctrl+n).")
        await send(pilot, "hello")
        await shows(app, "OPENAI_API_KEY is not set. Set it. Press f10 to select another model.")
        assert app.main.composer.text == "hello" and app.main.parts.turns.held == []
