"""Dialogs: at most one of each kind, up to date while open. Keys without effect say why."""

import asyncio

import pytest
from textual import events
from textual.css.stylesheet import Stylesheet
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets._toast import Toast

from tests.conftest import until
from tests.ui.app_stage import asked, opened, ripen, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tui.core.tools import TextContent, ToolResult
from tui.ui.dialogs.text_dialogs import SayWhy
from tui.ui.keys.footer import Footer
from tui.ui.traffic.screen import TrafficScreen


@pytest.mark.parametrize(
    "keys",
    [
        ("ctrl+t", "ctrl+t", "ctrl+t"),
        ("f3", "l", "ctrl+l", "ctrl+l"),
        ("ctrl+t", "f1", "ctrl+t"),
        ("f1", "ctrl+t", "f1"),
    ],
)
async def test_a_dialog_is_never_open_twice(keys):
    async with opened(FakeRuntime()) as (app, pilot):
        for key in keys:  # all at once, as with a key held down
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(lambda: len(app.screen_stack) > 1)
        await pilot.pause()
        kinds = [type(screen) for screen in app.screen_stack]
        assert len(kinds) == len(set(kinds))
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)


async def test_a_new_conversation_during_a_turn_is_refused_with_the_reason():
    end = asyncio.Event()
    async with opened(FakeRuntime([end, *says("done")])) as (app, pilot):
        await send(pilot, "go")
        await until(lambda: app.main.parts.turns.running)
        await pilot.press("ctrl+n")
        await shows(app, "A turn is running. esc stops it")
        assert app.main.parts.turns.running
        end.set()
        await shows(app, "done")


async def test_a_reason_typed_at_once_is_not_lost():
    async with opened(FakeRuntime(calls("notes__delete_note", '{"id": "milk"}'), says("No."))) as (
        app,
        pilot,
    ):
        await asked(app, pilot)
        await ripen(app)
        await app.action_act("question.why")
        await until(lambda: isinstance(app.screen, SayWhy))
        for letter in "mine":
            app.post_message(events.Key(letter, letter))
        await until(lambda: bool(app.screen.query(Input)) and app.screen.query_one(Input).value == "mine")
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)


@pytest.mark.parametrize("size", [(80, 24), (80, 20), (120, 40)])
async def test_a_notification_covers_neither_the_composer_nor_the_servers(size):
    async with opened(FakeRuntime(), size) as (app, _):
        app.notify("A longer message, so that it takes several lines in a narrow terminal. " * 2)
        await until(lambda: bool(app.main.query(Toast)) and app.main.query_one(Toast).region.height > 0)
        toast = app.main.query_one(Toast).region
        assert (toast.x, toast.y) == (0, 0) and toast.bottom <= app.main.query_one("#body").region.y + 3
        assert not app.main.regions.servers.region.overlaps(toast)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_notification_covers_its_whole_line_and_is_shown_once(size):
    async with opened(FakeRuntime(), size) as (app, pilot):
        await shows(app, "mcptui   ")
        await pilot.press("ctrl+c", "ctrl+c")
        await shows(app, "Press ctrl+q to quit.")
        await until(lambda: len(app.main.query(Toast)) == 1)
        await until(lambda: screen_text(app).splitlines()[0].strip("▌ ") == "Press ctrl+q to quit.")
        assert screen_text(app).splitlines()[1].startswith("──")


async def test_a_notification_that_two_keys_of_a_burst_ask_for_is_shown_once():
    async with opened(FakeRuntime()) as (app, _):
        await shows(app, "mcptui   ")
        app.notify("Press f5 to write a message.")
        app.notify("Press f5 to write a message.")
        app.notify("The last one.")
        await shows(app, "The last one.")
        assert screen_text(app).count("Press f5 to write a message.") == 1


async def test_a_notification_disappears_with_its_screen_and_stays_under_a_dialog():
    async with opened(FakeRuntime()) as (app, pilot):
        app.notify("Copied.")
        await until(lambda: bool(app.main.query(Toast)))
        await pilot.press("f1")
        await until(lambda: app.screen is not app.main and bool(app.screen.query(Toast)))
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await until(lambda: not app.screen.query(Toast))
        await pilot.press("escape")
        await until(lambda: app.screen is app.main and not app.main.query(Toast))
        app.notify("Saved.")
        await until(lambda: screen_text(app).startswith("▌ Saved."))


async def test_only_the_screen_on_top_shows_a_footer():
    async with opened(FakeRuntime()) as (app, pilot):
        footer = app.main.query_one(Footer)
        assert footer.visible
        await pilot.press("f1")
        await until(lambda: app.screen is not app.main and not footer.visible)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main and footer.visible)


async def test_a_dialog_that_opens_or_closes_restyles_nothing_of_the_screen_below(monkeypatch):
    async with opened(FakeRuntime()) as (app, pilot):
        apply, styled = Stylesheet.apply, set()
        monkeypatch.setattr(
            Stylesheet, "apply", lambda sheet, node, **how: (styled.add(node), apply(sheet, node, **how))[1]
        )
        await pilot.press("f1")
        await shows(app, "change keys under")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await pilot.pause()
        below = {node for node in styled if isinstance(node, Widget) and app.main in node.ancestors_with_self}
        assert styled and not below


async def test_the_meter_counts_a_call_from_its_start():
    hold = asyncio.Event()
    runtime = FakeRuntime(calls("weather__get_weather", '{"location": "Oslo"}'), says("Cold."))

    async def call(tool, arguments, **rest):
        await hold.wait()
        return ToolResult((TextContent("cold"),))

    runtime.toolbox.call = call
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "calls 1 of 100")
        hold.set()
        await shows(app, "Cold.")
