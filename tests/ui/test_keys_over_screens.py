"""Keys that work anywhere, pressed on a screen over the main screen."""

import pytest

from tests.conftest import until
from tests.ui.app_stage import opened, send, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.traffic_stage import some
from tui.ui.keys.action_table import Context
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


@pytest.mark.parametrize("key", REGIONS)
async def test_a_key_of_a_pane_leaves_the_traffic_for_that_pane(key: str) -> None:
    async with opened(recorded()) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "hello")
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await pilot.press(key)
        await until(lambda: app.screen is app.main and app.focus_context is REGIONS[key])


@pytest.mark.parametrize(("key", "screen"), [("f9", SessionsScreen), ("f10", ModelsScreen)])
async def test_a_key_of_a_list_leaves_the_statistics_for_that_list(key: str, screen: type[object]) -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4", "S")
        await until(lambda: isinstance(app.screen, StatisticsScreen))
        await pilot.press(key)
        await until(lambda: isinstance(app.screen, screen) and app.screen_stack[-2] is app.main)


async def test_a_line_that_is_being_entered_keeps_its_screen() -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("ctrl+f", "x", "f3")
        await until(lambda: any("Finish the input line first" in one.message for one in app._notifications))
        assert isinstance(app.screen, TrafficScreen)


async def test_traffic_of_a_call_says_in_the_traffic_where_to_select_one() -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("f8")
        await until(lambda: any("Select a call in the" in one.message for one in app._notifications))


async def test_sorted_by_latency_h_says_why_it_folds_nothing() -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("6", "h")
        await until(lambda: any("Nothing to fold" in one.message for one in app._notifications))
        assert not app.screen.filtering.folds
