"""From a call in the traffic to the form of its tool."""

import pytest
from textual import events

from tests.conftest import until
from tests.ui.app_stage import opened, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.traffic_stage import some
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.items import item_key
from tui.ui.workbench.screen import ServerScreen


async def test_a_key_opens_the_form_with_the_arguments_of_the_call() -> None:
    runtime = FakeRuntime(says("hello"))
    runtime.recording = some().recording()
    async with opened(runtime) as (app, pilot):
        app.post_message(events.Key("f4", None))
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.list.select(2))
        await pilot.press("E")
        await until(lambda: isinstance(app.screen, ServerScreen))
        assert app.screen.server == "weather"
        drafts = app.main.parts.navigator.call_book.drafts
        assert drafts["weather", item_key("tool", "get_weather")] == ({"location": "Beijing"}, "")


@pytest.mark.parametrize("server", ["weather", "notes"], ids=["same server", "another server"])
async def test_the_key_works_over_the_workbench_of_a_server(server: str) -> None:
    runtime = FakeRuntime(says("hello"))
    runtime.recording = some().recording()
    async with opened(runtime) as (app, pilot):
        navigator = app.main.parts.navigator
        navigator.open_form(server, "get_weather" if server == "weather" else "add_note", {})
        await until(lambda: isinstance(app.screen, ServerScreen))
        app.screen.show_filtered("")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.list.select(2))
        await pilot.press("E")
        await until(lambda: isinstance(app.screen, ServerScreen) and app.screen.server == "weather")
        assert sum(isinstance(screen, ServerScreen) for screen in app.screen_stack) == 1
        await shows(app, "Beijing")
