"""Whether the workbench of a server has the tab."""

from tests.ui.real_stage import real_app
from tests.unit.addons.events.stage import hub


async def test_a_server_without_events_has_no_tab(separate_home):
    async with real_app(separate_home, hub(era="legacy")) as app:
        await app.has_state("hub", "RUNNING")
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "2 tools 2")
        assert "9 events" not in app.text
        await app.press("9")
        await app.shows("This server does not offer events.")


async def test_the_key_of_the_tab_shows_it(separate_home):
    async with real_app(separate_home, hub()) as app:
        await app.has_state("hub", "RUNNING")
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "9 events")
        await app.press("9")
        await app.shows("EVENT TYPES")
