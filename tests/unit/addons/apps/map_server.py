"""A server with an app view, and the app at its tools."""

from tests.ui.real_stage import RealApp
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
