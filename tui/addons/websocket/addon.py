"""What this add-on brings: `transport = "websocket"`."""

BRINGS = {"transport": {"websocket": "tui.addons.websocket.websocket:WebSocket"}}
