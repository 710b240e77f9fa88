"""The screen always shows the open conversation, and says why it cannot be replaced now."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.scripted_model import Reply
from tests.scripted_model import says as model_says
from tests.ui.app_stage import app_over, keys, opened, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tests.ui.test_conversing import with_milk
from tests.unit.runtime.test_conversations_more import SlowStage
from tui.core.turn.limits import Limits
from tui.ui.app.app import McptuiApp
from tui.ui.chat import turn_queue
from tui.ui.chat.turn_queue import read_attachments
from tui.ui.lists.sessions import SessionsScreen


def hold(runtime: FakeRuntime, name: str, busy: str) -> tuple[asyncio.Event, asyncio.Event]:
    """Block a method of the conversations. Return the events "started" and "may continue"."""
    conversations = runtime.conversations
    begun, go, work = asyncio.Event(), asyncio.Event(), getattr(conversations, name)

    async def held(*args: object) -> object:
        conversations.busy = busy
        begun.set()
        try:
            await go.wait()
            return await work(*args)
        finally:
            conversations.busy = ""

    setattr(conversations, name, held)
    return begun, go


async def say_hi(app: McptuiApp, pilot: Pilot[int]) -> None:
    """Run a first turn, and wait until it has ended."""
    await send(pilot, "hi")
    await shows(app, "Hello.")
    await until(lambda: not app.main.parts.turns.running)


async def test_a_new_conversation_is_refused_with_the_reason_while_a_command_runs() -> None:
    runtime = with_milk(says("Hello."))
    async with opened(runtime) as (app, pilot):
        await say_hi(app, pilot)
        begun, go = hold(runtime, "compact", "the conversation is being summarized")
        await send(pilot, "/compact")
        await begun.wait()
        await pilot.press("ctrl+n")
        await shows(app, "The conversation is being summarized. esc stops", "Hello.")
        go.set()
        await until(lambda: not app.main.parts.outbox.sent.busy)
        await pilot.press("ctrl+n")
        await until(lambda: "Hello." not in screen_text(app))
        assert app.is_running


async def test_a_message_waits_until_the_conversation_is_free() -> None:
    runtime = with_milk(says("Hello."))
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        runtime.conversations.busy = "a session is being opened"
        await send(pilot, "hi")
        await until(lambda: app.main.parts.turns.held == ["hi"])
        assert runtime.conversations.asked == []
        runtime.conversations.busy = ""
        await shows(app, "Hello.")


async def test_a_turn_does_not_continue_after_a_limit_while_a_command_runs() -> None:
    runtime = FakeRuntime(calls("weather__get_weather"), says("So far."), limits=Limits(max_steps=1))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "So far.")
        await until(lambda: app.main.parts.bridge.can_continue and not app.main.parts.turns.running)
        runtime.conversations.busy = "a session is being opened"
        await pilot.press("ctrl+g")
        await shows(app, "A session is being opened. Wait until it finishes.")
        assert not app.main.parts.turns.running
        runtime.conversations.busy = ""
        await pilot.press("ctrl+g")
        await until(lambda: runtime.turns == 2)


async def test_a_message_with_an_unread_attachment_is_not_sent_to_a_new_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a")
    runtime = with_milk(says("Hello."))
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        go = asyncio.Event()

        async def slow(*given: Any) -> object:
            await go.wait()
            return await read_attachments(*given)

        monkeypatch.setattr(turn_queue, "read_attachments", slow)
        await keys(pilot, "@a.txt x")
        await pilot.press("enter")
        await until(lambda: app.main.parts.turns.reading)
        await pilot.press("ctrl+n")
        await shows(app, "Attachments are still being read. esc stops it.")
        go.set()
        await shows(app, "Hello.")


async def test_closing_the_list_while_a_session_opens_keeps_the_current_conversation() -> None:
    runtime = with_milk(says("Hello."), says("Still here."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "Hello.")
        begun, _ = hold(runtime, "resume", "a session is being opened")
        await pilot.press("f9")
        await shows(app, "2 sessions")
        await pilot.press("enter")
        await begun.wait()
        await pilot.press("escape")
        await until(lambda: app.screen is app.main and not runtime.conversations.busy)
        await shows(app, "Hello.")
        await send(pilot, "and now?")
        await shows(app, "Hello.", "Still here.")


async def test_a_session_opened_just_before_the_list_closes_is_shown() -> None:
    runtime = with_milk(says("Hello."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "Hello.")
        resume, taken = runtime.conversations.resume, asyncio.Event()

        async def slow(session: str) -> None:
            await resume(session)
            taken.set()
            await asyncio.Event().wait()  # the previous one is being closed

        runtime.conversations.resume = slow  # type: ignore[method-assign]
        await pilot.press("f9")
        await until(lambda: isinstance(app.screen, SessionsScreen))
        await shows(app, "2 sessions")
        await pilot.press("enter")
        await taken.wait()
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await shows(app, "Two of them.")
        assert "Hello." not in screen_text(app)


async def test_a_system_text_is_not_applied_to_another_conversation_opened_under_its_dialog() -> None:
    runtime = with_milk(says("Hello."))
    async with opened(runtime) as (app, pilot):
        await say_hi(app, pilot)
        begun, go = hold(runtime, "compact", "the conversation is being summarized")
        await send(pilot, "/compact")
        await begun.wait()
        await send(pilot, "/clear")
        await pilot.press("f12", *"Be brief.")
        go.set()
        await until(lambda: runtime.conversations.info is None, what="a new conversation under the dialog")
        await pilot.press("ctrl+s")
        await shows(app, "You switched to another conversation.")
        assert runtime.conversations.system == ""


# ---- with conversations saved to disk


@asynccontextmanager
async def real(folder: Path, *replies: Reply) -> AsyncIterator[tuple[SlowStage, McptuiApp, Pilot[int]]]:
    """The app over two conversations on disk. The second is on screen."""
    stage, runtime = SlowStage(folder / "sessions", *replies), FakeRuntime()
    await stage.saved("first question")
    await stage.ask("second question")
    runtime.conversations = stage.conversations  # type: ignore[assignment]
    async with opened(runtime) as (app, pilot):
        await shows(app, "second question")
        yield stage, app, pilot
    await stage.conversations.close()


async def test_closing_the_list_while_a_session_is_read_releases_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with real(tmp_path, model_says("One."), model_says("Two."), model_says("Three.")) as found:
        stage, app, pilot = found
        session = stage.conversations.info.id
        read, go = stage.slow_reopen(monkeypatch)
        other = next(info.id for info in await stage.conversations.sessions() if info.id != session)
        await pilot.press("f9")
        await shows(app, "2 sessions")
        await pilot.press("down", "enter")
        await shows(app, "opening…")
        await asyncio.to_thread(read.wait, 10)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        go.set()
        await until(lambda: not stage.is_locked(other) and not stage.conversations.busy)
        await stage.ask("third question")
        assert stage.conversations.info.id == session and len(await stage.conversations.sessions()) == 2
        await pilot.press("f9")
        await shows(app, "2 sessions", "● second question  current")
        await pilot.press("down", "enter")
        await shows(app, "first question", "One.")


async def test_quitting_while_a_command_runs_prints_no_traceback() -> None:
    runtime = with_milk(says("Hello."))
    app = app_over(runtime)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: app.main.parts and runtime.is_ready)
        await say_hi(app, pilot)
        begun, _ = hold(runtime, "compact", "the conversation is being summarized")
        await send(pilot, "/compact")
        await begun.wait()
    await app.close()
    assert app.crash is None
