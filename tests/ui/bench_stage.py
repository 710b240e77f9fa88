"""A server with all kinds of tools, resources and prompts, for the tests of the workbench."""

import time
from dataclasses import replace
from typing import Any

from tests.ui.fake_host import FakeHost, crashed, running
from tests.ui.fakes import FakeRuntime
from tui.core.servers import ServerSpec
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, Tool, ToolResult
from tui.core.workbench import (
    PromptArgument,
    PromptInfo,
    PromptMessage,
    PromptResult,
    ResourceInfo,
    ServerIdentity,
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

FORECAST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Name of the city, in any language", "minLength": 1},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
        "unit": {"enum": ["celsius", "fahrenheit", "kelvin"], "default": "celsius"},
        "detailed": {"type": "boolean", "description": "Hour by hour"},
        "where": {
            "anyOf": [
                {
                    "title": "by name",
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                },
                {
                    "title": "by place",
                    "type": "object",
                    "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
                    "required": ["lat", "lon"],
                },
            ]
        },
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
        "note": {"type": ["string", "null"]},
    },
    "required": ["city"],
}
LOCATION = {
    "type": "object",
    "properties": {"location": {"type": "string", "description": "Name of the city, in any language"}},
    "required": ["location"],
}
SAID = (
    "Get the weather of a city as it is now.\n\nThe answer has temperature, wind and a word on the sky. "
    "Cities are found by name in any language; where several have the same name the largest is taken."
)


def tool(name: str, schema: dict[str, Any] | None = None, **fields: Any) -> Tool:
    """Return a tool of that server."""
    return Tool("weather", name, schema=schema or {"type": "object", "properties": {}}, **fields)


TOOLS = (
    tool(
        "get_weather",
        LOCATION,
        description=SAID,
        title="Weather now",
        read_only=True,
        idempotent=True,
        trusted=True,
    ),
    tool("get_forecast", FORECAST, description="The days to come.", read_only=True, trusted=True),
    tool("delete_station", LOCATION, description="Take a station away.", destructive=True, trusted=True),
    tool("get_radar", description="A picture of the rain.", read_only=True, trusted=True),
    tool("slow_report", description="Takes its time.", trusted=True),
)


def rich_runtime() -> FakeRuntime:
    """Return a runtime whose server "weather" has tools, resources and prompts of all kinds."""
    now = time.monotonic_ns()
    spec = ServerSpec("weather", "python", ("weather.py", "--verbose"), env={"WEATHER_TOKEN": "s", "TZ": "x"})
    status = replace(
        running("weather", len(TOOLS)),
        spec=spec,
        launch="python weather.py --verbose",
        since_ns=now - 64_000_000_000,
        start_ms=312.0,
        protocol="2026-07-28",
        quarantined=(("evil\x1b[31mtool", "its name has control characters"),),
        restarts=1,
    )
    host = FakeHost(status, running("notes", 4), replace(crashed("slow"), since_ns=now))
    runtime = FakeRuntime(host=host, tools=TOOLS)
    bench = runtime.workbench
    bench.who = ServerIdentity(
        name="weather",
        title="Weather of the World",
        version="1.4.0",
        protocol="2026-07-28",
        capabilities={
            "tools": {"listChanged": True},
            "resources": {"subscribe": True},
            "prompts": {},
            "logging": {},
        },
        instructions="Ask for one city at a time.\nTemperatures are in degrees Celsius.",
        environment=("TZ", "WEATHER_TOKEN"),
        pids=(4000, 4001),
        memory=48_300_000,
        cpu_seconds=1.4,
    )
    bench.schemas["get_weather"] = {"type": "object"}
    bench.answers = {
        "get_weather": lambda given: ToolResult(
            (TextContent(f"The weather of {given.get('location')} is sunny, 25 °C."),),
            structured={"city": given.get("location"), "temperature": 25 + len(bench.called), "sky": "sunny"},
        ),
        "get_forecast": ToolResult(
            (
                TextContent('{"days": [{"day": "Monday", "high": 27}, {"day": "Tuesday", "high": 24}]}'),
                LinkContent("weather://archive/beijing", "archive", "Ten years of weather"),
                ResourceContent("weather://today", "text/markdown", "# Today\nSunny."),
            )
        ),
        "get_radar": ToolResult((BinaryContent("image", "image/png", 70, PIXEL),)),
        "delete_station": ToolResult((TextContent("there is no such station"),), is_error=True),
    }
    bench.listed = (
        ResourceInfo(
            "weather", "weather://stations", "stations", description="All of them", mime="text/csv", size=481
        ),
        ResourceInfo("weather", "weather://archive/{city}{?year}", "archive", template=True),
    )
    bench.known_prompts = (
        PromptInfo(
            "weather",
            "compare",
            description="Compare the weather of two cities",
            arguments=(PromptArgument("first", "a city", True), PromptArgument("second", "another", True)),
        ),
    )
    bench.said = PromptResult(
        "Two cities", (PromptMessage("user", TextContent("Compare Beijing with Hangzhou, please.")),)
    )
    return runtime
