"""The tool `get_weather` of the sample server without the SDK, whose import takes a second of each start."""

import json
import sys
from typing import Any

WEATHER = {
    "Beijing": "sunny, 25 °C",
    "Shanghai": "cloudy, 28 °C",
    "Hangzhou": "light rain, 22 °C",
    "NYC": "windy, 18 °C",
}
TOOL = {
    "name": "get_weather",
    "description": "Get the current weather of a place: Beijing, Shanghai, Hangzhou or NYC.",
    "inputSchema": {
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
INFO = {"name": "weather", "version": "1.0"}
LISTED = {"ttlMs": 0, "cacheScope": "private"}


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "server/discover":
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **LISTED}
        case "tools/list":
            return {"tools": [TOOL], **LISTED}
        case "tools/call":
            place = params["arguments"]["location"]
            text = f"The weather of {place} is {WEATHER[place]}."
            return {"content": [{"type": "text", "text": text}]}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        found = result_of(request["method"], request.get("params") or {})
        answer = {"error": {"code": -32601, "message": "Method not found"}}
        if found is not None:
            meta = {"io.modelcontextprotocol/serverInfo": INFO}
            answer = {"result": {"resultType": "complete", "_meta": meta, **found}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
