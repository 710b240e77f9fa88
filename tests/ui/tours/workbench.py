"""The workbench of one server: calls, tabs, the log."""

from tests.ui.snapshot_stage import forecast, logging, with_result
from tests.ui.snapshot_tour import Visit, tour


@tour(
    forecast,
    "bench-tools",
    "bench-form",
    "bench-json",
    "bench-result",
    "bench-keep",
    "bench-maximized",
    "bench-calls",
    "bench-compared",
    "bench-filter",
    "bench-confirm",
    "bench-failed",
)
async def bench_calls(visit: Visit) -> None:
    await visit.press("f3", "enter")
    await visit.see("bench-tools", "WORKBENCH", "get_forecast")
    await visit.press("enter", *"Oslo", "tab", "9")
    await visit.see("bench-form", "must be at most 7")
    await visit.press("backspace", "tab", "enter", "ctrl+e")
    await visit.see("bench-json", '"city": "Oslo"')
    await visit.press("ctrl+e", "ctrl+s")
    await visit.see("bench-result", "done", "Tuesday")
    await visit.press("ctrl+k")
    await visit.see("bench-keep", "Save arguments as")
    await visit.press("escape", "escape", "z")
    await visit.see("bench-maximized", "Ten years of weather")
    await visit.press("z", "2", "home", "down", "enter", *"Oslo", "ctrl+s")
    await visit.shows("temperature  27")
    await visit.press("ctrl+s")
    await visit.see("bench-calls", "temperature  28")
    await visit.press("escape", "d")
    await visit.see("bench-compared", "COMPARED")
    await visit.press("escape", "slash", *"station")
    await visit.see("bench-filter", "delete_station")
    await visit.press("enter", "enter", "x", "ctrl+s")
    await visit.see("bench-confirm", "delete_station")
    visit.clock.advance(10)
    await visit.press("y")
    await visit.see("bench-failed", "there is no such station")


@tour(
    forecast,
    "bench-overview",
    "bench-resources",
    "bench-resource",
    "bench-prompts",
    "bench-prompt",
    "bench-log",
    "bench-traffic",
    "bench-stopped",
)
async def bench_tabs(visit: Visit) -> None:
    await visit.press("f3", "enter")
    await visit.shows("get_forecast")
    await visit.press("1")
    await visit.see("bench-overview", "Weather of the World")
    await visit.press("3")
    await visit.see("bench-resources", "stations")
    await visit.press("ctrl+s")
    await visit.see("bench-resource", "this is weather://stations")
    await visit.press("4")
    await visit.see("bench-prompts", "compare")
    await visit.press("enter", *"Beijing", "tab", *"Hangzhou", "ctrl+s")
    await visit.see("bench-prompt", "Two cities")
    await visit.press("escape", "5")
    await visit.see("bench-log", "GET /beijing 200")
    await visit.press("6")
    await visit.see("bench-traffic", "tools/call")
    await visit.press("1", "s")
    await visit.see("bench-stopped", "STOPPED")


@tour(logging, "log", "log-search", "log-empty")
async def log(visit: Visit) -> None:
    await visit.press("f3", "l")
    await visit.see("log", "line 59")
    await visit.press("slash", *"line 3", "enter")
    await visit.see("log-search", "line 3")
    await visit.press("escape", "escape", "f3", "down", "l")
    await visit.see("log-empty", "No log output from this server yet")


@tour(with_result, "result")
async def result(visit: Visit) -> None:
    await visit.ask("What's the weather?")
    await visit.shows("It rains.")
    await visit.press("f2", "v")
    await visit.see("result", "The rain of today.")
