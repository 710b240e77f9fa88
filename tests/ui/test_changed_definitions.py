"""Reviewing changed tools from the servers pane."""

from dataclasses import replace

from tests.conftest import until
from tests.ui.app_stage import opened, shows
from tests.ui.fake_host import running
from tests.ui.fakes import FakeRuntime


async def test_a_key_in_the_servers_pane_opens_the_review_of_changed_definitions() -> None:
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        runtime.host.put(running("notes"))
        runtime.host.put(replace(running("weather"), changes=2))
        await pilot.press("f3")
        await shows(app, "2 definitions not accepted yet", "D changes")
        await pilot.press("D")
        await until(lambda: runtime.host.asked == [("review", "weather")])
