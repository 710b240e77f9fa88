"""The key for the app view of a tool, in the app over a real server."""

from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.ui.real_stage import RealApp, real_app
from tui.core.jsonrpc.app_views import APP_MIME

SERVER = """\
import json, sys
SCHEMA = {"type": "object", "properties": {}}
VIEW = {"ui": {"resourceUri": "ui://weather/map"}}
PAGE = {"uri": "ui://weather/map", "mimeType": "%s", "text": "<!doctype html><h1>The map</h1>"}
SAID = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
                   "serverInfo": {"name": "apps", "version": "1"}},
    "tools/list": {"tools": [
        {"name": "show_map", "description": "Map.", "inputSchema": SCHEMA, "_meta": VIEW},
        {"name": "plain", "description": "No view.", "inputSchema": SCHEMA},
        {"name": "refresh", "description": "For the app.", "inputSchema": SCHEMA,
         "_meta": {"ui": {"visibility": ["app"]}}}]},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [PAGE]},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": SAID.get(message["method"], {})}
        print(json.dumps(answer), flush=True)
""".replace("%s", APP_MIME)


async def to_tools(app: RealApp) -> None:
    await app.has_state("apps", "RUNNING")
    await app.press("f3", "enter")
    await app.shows("WORKBENCH", "show_map")


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


async def test_a_tool_without_a_view_says_so_and_one_for_apps_is_labelled(separate_home: Path):
    async with real_app(separate_home, server("apps", "-c", SERVER)) as app:
        await to_tools(app)
        await app.press("down", "U")
        await app.shows("The selected tool has no app view.")
        await app.press("down")
        await app.shows("not offered: meant for the app")
