"""Opening the traffic from the main screen, and returning to it from the turn of an entry."""

from textual import events

from tests.conftest import until
from tests.ui.app_stage import opened, send, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.stage import shown
from tests.ui.traffic_stage import some
from tui.traffic.filter.query import parse
from tui.ui.traffic.entry_list import TrafficTail
from tui.ui.traffic.screen import TrafficScreen


async def test_filter_and_selection_are_restored_after_a_visit_to_the_turn() -> None:
    runtime = FakeRuntime(says("hello"))
    runtime.recording = some().recording()
    async with opened(runtime) as (app, pilot):
        await send(pilot, "hi")
        await shows(app, "hello")
        app.post_message(events.Key("f4", None))
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        app.screen.active_filter.apply(parse("tool:get_weather"))
        await until(lambda: app.screen.list.select(2))
        navigator = app.main.parts.navigator
        app.screen.go_to_turn()
        await until(lambda: app.screen is app.main and navigator._place == ("tool:get_weather", 2))
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.list.selected == 2)
        assert app.screen.active_filter.query.text == "tool:get_weather"
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main and navigator._place == ("", 0))
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.list.has_focus)
        assert app.screen.active_filter.query.text == ""


async def test_a_click_on_the_latest_traffic_opens_the_traffic_screen() -> None:
    runtime = FakeRuntime()
    runtime.recording = some().recording()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f7")
        await until(lambda: app.screen.query(TrafficTail) and app.screen.query_one(TrafficTail).size)
        await pilot.click(TrafficTail, offset=(4, 0))
        await until(lambda: isinstance(app.screen, TrafficScreen))


async def test_the_latest_traffic_is_folded_as_on_its_screen() -> None:
    recorded = some()
    for _ in range(10):
        recorded.call("", method="tools/list")
    runtime = FakeRuntime()
    runtime.recording = recorded.recording()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f7")
        await until(lambda: app.screen.query(TrafficTail))
        tail = app.screen.query_one(TrafficTail)
        await until(lambda: "setup" in "".join(shown(tail)))


async def test_the_key_that_opened_the_traffic_closes_it_unless_text_is_typed() -> None:
    runtime = FakeRuntime()
    runtime.recording = some().recording()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await pilot.press("slash", "t", "f4")
        assert isinstance(app.screen, TrafficScreen)
        await pilot.press("escape", "f4")
        await until(lambda: app.screen is app.main)
