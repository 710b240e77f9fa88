"""The tool `get_weather` of the sample server without the SDK, whose import takes a second of each start."""

from typing import Any

from answering_loop import serve  # beside this script

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


serve(result_of, _meta={"io.modelcontextprotocol/serverInfo": INFO})
