"""Keys that work anywhere, pressed on a screen over the main screen."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import asked, asking, opened, ripen, send, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.stage import shown
from tests.ui.traffic_stage import some
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.help import HelpScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.footer import Footer
from tui.ui.lists.models import ModelsScreen
from tui.ui.lists.sessions import SessionsScreen
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.traffic.statistics import StatisticsScreen

REGIONS = {
    "f2": Context.CONVERSATION,
    "f3": Context.SERVERS,
    "f5": Context.COMPOSER,
    "f6": Context.TRACE,
}


def recorded() -> FakeRuntime:
    runtime = FakeRuntime(says("hello"))
    runtime.recording = some().recording()
    return runtime


@asynccontextmanager
async def in_the_traffic() -> AsyncIterator[tuple[McptuiApp, Pilot[int]]]:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        yield app, pilot


async def told(app: McptuiApp, words: str) -> None:
    await until(lambda: any(words in one.message for one in app._notifications))


@pytest.mark.parametrize("key", REGIONS)
async def test_a_pane_key_leaves_the_traffic_screen_for_that_pane(key: str) -> None:
    async with opened(recorded()) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "hello")
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await pilot.press(key)
        await until(lambda: app.screen is app.main and app.focus_context is REGIONS[key])


@pytest.mark.parametrize(("key", "screen"), [("f9", SessionsScreen), ("f10", ModelsScreen)])
async def test_a_list_key_leaves_the_statistics_screen_for_that_list(key: str, screen: type[object]) -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4", "S")
        await until(lambda: isinstance(app.screen, StatisticsScreen))
        await pilot.press(key)
        await until(lambda: isinstance(app.screen, screen) and app.screen_stack[-2] is app.main)


async def test_the_keys_of_the_statistics_are_in_the_last_line() -> None:
    async with in_the_traffic() as (app, pilot):
        await pilot.press("S")
        await until(lambda: isinstance(app.screen, StatisticsScreen))
        await until(lambda: app.screen.query_one(Footer).region.bottom == app.size.height)


@pytest.mark.parametrize(
    ("keys", "heading"),
    [(["S"], "Traffic statistics"), (["d", "up", "d"], "Traffic comparison"), (["x"], "In every pane")],
)
async def test_the_help_begins_with_the_keys_of_the_screen(keys: list[str], heading: str) -> None:
    async with in_the_traffic() as (app, pilot):
        await until(lambda: app.screen.list.selected)
        await pilot.press(*keys)
        await until(lambda: len(app.screen_stack) == 3)
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        assert shown(app.screen._lines)[0].strip() == heading


async def test_a_screen_with_an_unfinished_input_line_is_not_left() -> None:
    async with in_the_traffic() as (app, pilot):
        await pilot.press("ctrl+f", "x", "f3")
        await told(app, "Finish the input line first")
        assert isinstance(app.screen, TrafficScreen)


async def test_the_traffic_key_on_the_traffic_screen_says_where_to_select_a_call() -> None:
    async with in_the_traffic() as (app, pilot):
        await pilot.press("f8")
        await told(app, "Select a call in the")


async def test_h_says_why_it_folds_nothing_if_sorted_by_latency() -> None:
    async with in_the_traffic() as (app, pilot):
        await pilot.press("6", "h")
        await told(app, "Nothing to fold")
        assert app.screen.active_filter.folds


@pytest.mark.parametrize(
    ("opens", "keys"), [("ctrl+f", "enter accept   esc cancel"), ("slash", "enter filter   tab complete")]
)
async def test_the_footer_has_the_keys_of_an_open_input_line_and_then_those_of_the_list(
    opens: str, keys: str
) -> None:
    async with in_the_traffic() as (app, pilot):
        footer = app.screen.query_one(Footer)
        before = footer.row(120)
        await pilot.press(opens)
        await shows(app, keys)
        await pilot.press("escape")
        await until(lambda: footer.row(120) == before and isinstance(app.screen, TrafficScreen))


async def test_one_escape_too_many_when_leaving_a_screen_does_not_stop_a_turn_that_waits() -> None:
    runtime = asking()
    runtime.recording = some().recording()
    async with opened(runtime) as (app, pilot):
        await asked(app, pilot)
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        delay = app.main.parts.approvals.answer_delay
        delay._clock = lambda: 0.0  # no time passes after the screen is left
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)
        await pilot.press("escape")
        assert app.main.parts.approvals.current is not None
        delay._clock = time.monotonic
        delay.restart()
        await ripen(app)
        await pilot.press("escape")
        await until(lambda: app.main.parts.approvals.current is None, what="a stopped turn")
