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


def unsaved() -> FakeRuntime:
    runtime = FakeRuntime(says("First."), says("Second."))
    runtime.conversations.problem = runtime.unsaved = FULL
    runtime.conversations.info = SessionInfo("20261122T105224Z-eb7d92", "go")
    return runtime


@pytest.mark.parametrize("keys", [("f2", "b"), ("f2", "r"), ("f2", "w"), (*"/branch", "enter"), ("ctrl+n",)])
async def test_what_replaces_the_unsaved_conversation_says_that_it_is_lost(keys: tuple[str, ...]) -> None:
    async with opened(unsaved()) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "First.")
        await pilot.press(*keys)
        await shows(app, f"Some messages of the previous conversation were not saved: {FULL}.")
        assert "the original" not in screen_text(app).lower()
        assert app.main.parts.runtime.conversations.parent == ""


@pytest.mark.parametrize("what", ["The traffic is", "Decisions are"])
async def test_what_is_not_recorded_is_marked_and_explained(what: str) -> None:
    runtime = FakeRuntime()
    if what == "Decisions are":
        runtime.decisions.problem = FULL
    else:
        runtime.unrecorded = FULL
    async with opened(runtime) as (app, _):
        await shows(app, "not recorded   ", f"{what} not recorded: {FULL}.")


async def test_telemetry_that_is_not_exported_is_explained() -> None:
    runtime = FakeRuntime()
    runtime.traffic.unsent = "collector does not respond"
    async with opened(runtime) as (app, _):
        await shows(app, "Telemetry is not exported: collector does not respond.")
