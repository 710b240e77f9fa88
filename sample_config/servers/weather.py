"""Sample MCP server: the weather of four places, made up and always the same.

Two read-only tools, no network, no state on disk: the smallest server that is still a real one.
Run it with `python weather.py`; it speaks MCP on stdin and stdout.
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
"""Only the latest records are kept: a server that runs for weeks must not grow."""

server = Server(
    "weather", version="1.0", instructions="Made-up weather for Beijing, Shanghai, Hangzhou and NYC."
)
records: list[str] = []


def known_place(location: str) -> str | None:
    """Return the name under which the weather of `location` is known, or None."""
    wanted = " ".join(location.split()).casefold()
    by_name = {place.casefold(): place for place in WEATHER} | OTHER_NAMES
    return by_name.get(wanted) or by_name.get(wanted.partition(",")[0].strip())


@server.tool("Weather of a place", {"location": {"type": "string", "title": "Location"}}, READ_ONLY)
def get_weather(location: str) -> str:
    """Get the current weather of a place: Beijing, Shanghai, Hangzhou or NYC."""
    place = known_place(location)
    if place is None:
        shown = location if len(location) <= 80 else location[:79] + "…"
        return f"The weather of {shown!r} is not known here. Known places: {', '.join(WEATHER)}."
    answer = f"The weather of {place} is {WEATHER[place]}."
    records.append(f"{time.strftime('%H:%M:%S')} {answer}")
    del records[:-MAX_RECORDS]
    return answer


@server.tool("Weather asked for so far", {}, READ_ONLY)
def list_get_weather_records() -> str:
    """List the answers that get_weather has given since this server was started."""
    return "\n".join(records) or "No weather has been asked for yet."


if __name__ == "__main__":
    server.run()
