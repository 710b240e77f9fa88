"""Unsaved data is marked on the main screen, explained once, and reported when it is lost."""

import pytest

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, says
from tui.core.conversation.sessions import SessionInfo

FULL = "disk full"


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (30, 10)])
async def test_a_conversation_that_is_not_saved_is_marked(size: tuple[int, int]) -> None:
    runtime = FakeRuntime()
    runtime.unsaved = FULL
    async with opened(runtime, size) as (app, _):
        await shows(app, "not saved")


async def test_the_reason_is_shown_in_the_conversation_once() -> None:
    runtime = FakeRuntime(says("Hello."))
    runtime.unsaved = FULL
    async with opened(runtime) as (app, pilot):
        await shows(app, f"This conversation is not saved: {FULL}.")
        await send(pilot, "hi")
        await shows(app, "Hello.")
        assert screen_text(app).count("This conversation is not saved") == 1


async def test_the_mark_appears_during_the_run_and_disappears_once_everything_is_saved() -> None:
    runtime = FakeRuntime()
    async with opened(runtime) as (app, _):
        await shows(app, "2 of 3")
        assert "not saved" not in screen_text(app)
        runtime.unsaved = FULL
        await shows(app, "not saved   ")
        runtime.unsaved = ""
        await until(lambda: "not saved   " not in screen_text(app))
        await shows(app, "This conversation is saved again. Nothing was lost.")


async def test_traffic_that_is_not_recorded_is_marked_and_explained() -> None:
    runtime = FakeRuntime()
    runtime.unrecorded = FULL
    async with opened(runtime) as (app, _):
        await shows(app, "not recorded   ", f"The traffic is not recorded: {FULL}.")


def unsaved() -> FakeRuntime:
    runtime = FakeRuntime(says("First."), says("Second."))
    runtime.conversations.problem = runtime.unsaved = FULL
    runtime.conversations.info = SessionInfo("20261122T105224Z-eb7d92", "go")
    return runtime


@pytest.mark.parametrize(("key", "wait_for"), [("b", ""), ("r", "Second."), ("w", "")])
async def test_a_branch_says_that_the_unsaved_conversation_is_lost(key: str, wait_for: str) -> None:
    async with opened(unsaved()) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "First.")
        await pilot.press("f2", key)
        await shows(app, f"Some messages of the previous conversation were not saved: {FULL}.", wait_for)
        assert "to return to the original" not in screen_text(app)
        assert app.main.parts.runtime.conversations.parent == ""


async def test_the_branch_command_says_that_the_unsaved_conversation_is_lost() -> None:
    async with opened(unsaved()) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "First.")
        await send(pilot, "/branch")
        await shows(app, f"Some messages of the previous conversation were not saved: {FULL}.")
        assert "The original is unchanged" not in screen_text(app)


async def test_a_new_conversation_says_that_the_unsaved_one_is_lost() -> None:
    async with opened(unsaved()) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "First.")
        await pilot.press("ctrl+n")
        await shows(app, f"Some messages of the previous conversation were not saved: {FULL}.")


async def test_decisions_that_are_not_recorded_are_marked_and_explained() -> None:
    runtime = FakeRuntime()
    runtime.decisions.problem = FULL
    async with opened(runtime) as (app, _):
        await shows(app, "not recorded   ", f"Decisions are not recorded: {FULL}.")
