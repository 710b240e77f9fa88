"""The source of an app view, and its text in the browser, in the app over a real server."""

from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.ui.real_stage import real_app
from tests.unit.addons.apps.map_server import SERVER, to_tools


async def test_a_narrow_page_names_the_view_of_a_tool_too(separate_home: Path):
    async with real_app(separate_home, server("apps", "-c", SERVER), size=(80, 24)) as app:
        await to_tools(app)
        await app.shows("has an app view", "ui://weather/map")


async def test_the_content_of_a_view_is_not_opened_by_another_program_whatever_its_address(
    separate_home: Path,
):
    hostile = SERVER.replace('PAGE = {"uri": "ui://weather/map"', 'PAGE = {"uri": "file:///map.html"')
    async with real_app(separate_home, server("apps", "-c", hostile)) as app:
        await to_tools(app)
        await app.press("U")
        await app.shows("RESOURCE", "<h1>The map</h1>")
        await app.press("o")
        await app.shows("Show the text of this app view in the browser?")


async def test_the_source_is_shown_and_its_text_opened_after_a_yes(
    separate_home: Path, monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []
    monkeypatch.setattr("tui.core.web.open_browser", lambda url: opened.append(url) or False)
    monkeypatch.setattr("tui.ui.dialogs.confirm.CONFIRM_SECONDS", 0.0)
    async with real_app(separate_home, server("apps", "-c", SERVER)) as app:
        await to_tools(app)
        await app.shows("has an app view (not shown here): ui://weather/map")
        await app.press("U")
        await app.shows("RESOURCE", "mcptui does not run apps", "<h1>The map</h1>")
        await app.press("o")
        await app.shows("Show the text of this app view in the browser?", "Its scripts do not run")
        await until(lambda: app.app.screen._delay.accepts_keys, what="the question takes keys")
        await app.press("y")
        await app.shows("Cannot open a browser here.")
    assert len(opened) == 1 and opened[0].startswith("http://127.0.0.1:")
