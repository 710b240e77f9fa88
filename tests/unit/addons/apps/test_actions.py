"""The key for the app view of a tool: where it works, and what it says elsewhere."""

from pathlib import Path

from tests.configurations import server
from tests.ui.real_stage import real_app
from tests.unit.addons.apps.map_server import SERVER, to_tools


async def test_a_tool_without_a_view_says_so_and_one_for_apps_is_labelled(separate_home: Path):
    async with real_app(separate_home, server("apps", "-c", SERVER)) as app:
        await to_tools(app)
        await app.press("down", "U")
        await app.shows("The selected tool has no app view.")
        await app.press("down")
        await app.shows("not offered: meant for the app")
