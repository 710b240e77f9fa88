"""The tool `get_weather` of the sample server without the SDK."""

from answering_loop import Answer, serve, text  # beside this script

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


def answer(method: str, params: dict[str, object], ident: object) -> Answer:
    if method != "tools/call":
        return None
    place = params["arguments"]["location"]
    return text(f"The weather of {place} is {WEATHER[place]}.")


serve(answer, [TOOL], modern=True)
