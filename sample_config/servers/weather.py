"""Sample MCP server: made-up weather in four places, always the same.

Two read-only tools, no network, no state on disk: a minimal but complete server.
Run it with `python weather.py`. It speaks MCP on stdin and stdout.
"""

import sys
import time

try:
    from plain_server import READ_ONLY, Server
except ModuleNotFoundError:
    sys.exit("weather.py needs plain_server.py in the same directory.")

WEATHER = {
    "Beijing": "sunny, 25 °C",
    "Shanghai": "cloudy, 28 °C",
    "Hangzhou": "light rain, 22 °C",
    "NYC": "windy, 18 °C",
}
OTHER_NAMES = {
    "peking": "Beijing",
    "北京": "Beijing",
    "北京市": "Beijing",
    "上海": "Shanghai",
    "上海市": "Shanghai",
    "杭州": "Hangzhou",
    "杭州市": "Hangzhou",
    "new york": "NYC",
    "new york city": "NYC",
    "纽约": "NYC",
}
MAX_RECORDS = 200
"""Only the latest records are kept, so that a server that runs for weeks does not grow."""

server = Server(
    "weather", version="1.0", instructions="Made-up weather in Beijing, Shanghai, Hangzhou and NYC."
)
records: list[str] = []


def known_place(location: str) -> str | None:
    """Return the name of a place in `WEATHER`, or None if it is unknown."""
    wanted = " ".join(location.split()).casefold()
    by_name = {place.casefold(): place for place in WEATHER} | OTHER_NAMES
    return by_name.get(wanted) or by_name.get(wanted.partition(",")[0].strip())


@server.tool("Get weather", {"location": {"type": "string", "title": "Location"}}, READ_ONLY)
def get_weather(location: str) -> str:
    """Get the current weather in Beijing, Shanghai, Hangzhou or NYC."""
    place = known_place(location)
    if place is None:
        shown = location if len(location) <= 80 else location[:79] + "…"
        return f"No weather for {shown!r}. Known places: {', '.join(WEATHER)}."
    answer = f"Weather in {place}: {WEATHER[place]}."
    records.append(f"{time.strftime('%H:%M:%S')} {answer}")
    del records[:-MAX_RECORDS]
    return answer


@server.tool("List weather requests", {}, READ_ONLY)
def list_get_weather_records() -> str:
    """List recent weather requests."""
    return "\n".join(records) or "No weather requests yet."


if __name__ == "__main__":
    server.run()
