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


async def test_a_screen_with_an_unfinished_input_line_is_not_left() -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("ctrl+f", "x", "f3")
        await until(lambda: any("Finish the input line first" in one.message for one in app._notifications))
        assert isinstance(app.screen, TrafficScreen)


async def test_the_traffic_key_on_the_traffic_screen_says_where_to_select_a_call() -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("f8")
        await until(lambda: any("Select a call in the" in one.message for one in app._notifications))


async def test_h_says_why_it_folds_nothing_if_sorted_by_latency() -> None:
    async with opened(recorded()) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("6", "h")
        await until(lambda: any("Nothing to fold" in one.message for one in app._notifications))
        assert not app.screen.active_filter.folds
