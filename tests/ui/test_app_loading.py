"""Keys and messages while the app loads."""

import asyncio

from textual.screen import Screen

from tests.conftest import until
from tests.ui.app_stage import opened, shows
from tests.ui.fakes import FakeRuntime, says
from tui.core.ports import ApprovalRequest
from tui.core.tools import Tool
from tui.ui.lists.sessions import SessionsScreen
from tui.ui.traffic.screen import TrafficScreen


async def test_a_message_typed_during_loading_is_sent_once_the_app_has_loaded():
    gate = asyncio.Event()
    runtime = FakeRuntime(says("Hello."), gate=gate)
    async with opened(runtime) as (app, pilot):
        await pilot.press("h", "i", "enter")
        await shows(app, "loading")
        assert runtime.model.requests == []
        gate.set()
        await shows(app, "Hello.")


async def test_a_note_about_a_message_typed_during_loading_stays_once_the_app_has_loaded():
    gate = asyncio.Event()
    async with opened(FakeRuntime(says("Hello."), gate=gate)) as (app, pilot):
        await pilot.press(*"see @./missing.txt", "enter")
        await shows(app, "Not attached: @./missing.txt (file not found).")
        gate.set()
        await shows(app, "Hello.", "Not attached: @./missing.txt (file not found).")


async def test_a_function_key_pressed_during_loading_works_once_the_app_has_loaded():
    gate = asyncio.Event()
    async with opened(FakeRuntime(says("Hello."), gate=gate)) as (app, pilot):
        await pilot.press(*"hi ", "f4", *"/slow")
        await shows(app, "loading")
        assert app.main.composer.text == "hi " and app.screen is app.main
        gate.set()
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await shows(app, "filter › slow")
        assert app.main.composer.text == "hi "


async def test_the_keys_after_one_that_waits_for_loading_are_dropped_if_a_question_opens_first():
    gate = asyncio.Event()
    async with opened(FakeRuntime(says("Hello."), gate=gate)) as (app, pilot):
        await pilot.press("f9", "n")
        await until(lambda: app.main.parts is not None)
        app.push_screen(Screen())
        gate.set()
        await until(lambda: app.main.parts.runtime.is_ready)
        await pilot.pause()
        assert not isinstance(app.screen, SessionsScreen)
        assert app.main.composer.text == ""


async def test_keys_kept_during_loading_do_not_answer_a_tool_approval():
    gate = asyncio.Event()
    async with opened(FakeRuntime(says("Hello."), gate=gate)) as (app, pilot):
        await pilot.press("f4", "escape", "y")
        await until(lambda: app.main.parts is not None)
        approvals = app.main.parts.approvals
        request = ApprovalRequest("1", Tool("notes", "delete_note"), {}, "a rule asks")
        asking = asyncio.ensure_future(approvals.ask(request))
        await until(lambda: approvals.current is request and approvals.answer_delay.accepts_keys)
        gate.set()
        await until(lambda: app._early_keys.is_released)
        handled = asyncio.Event()
        app.call_later(handled.set)  # after the kept keys
        await handled.wait()
        await pilot.pause()
        assert approvals.current is request
        assert app.main.parts.approvals.keys._held is None
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def test_ctrl_q_during_loading_quits_at_once_also_after_a_key_that_waits():
    async with opened(FakeRuntime(gate=asyncio.Event())) as (app, pilot):
        await pilot.press("f4", "ctrl+q")
        await until(lambda: app.return_value == 0)
