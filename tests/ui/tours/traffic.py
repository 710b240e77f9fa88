"""The traffic: the list, one entry, and resending a request."""

import os

from tests.ui.snapshot_stage import with_traffic
from tests.ui.snapshot_tour import SIZES, Visit, tour


@tour(
    with_traffic,
    "traffic",
    "traffic-filter-bar",
    "traffic-filtered",
    "traffic-filters",
    "traffic-search",
    "traffic-note",
    "traffic-marked",
    "traffic-copy",
    "traffic-export-which",
    "traffic-export-form",
    "traffic-statistics",
    "traffic-waterfall",
    "traffic-comparison",
)
async def traffic(visit: Visit) -> None:
    os.chdir("/")  # the path of an export is shown
    await visit.press("f4")
    await visit.see("traffic", "warning")
    await visit.press("slash", *"serv")
    await visit.see("traffic-filter-bar", "server:")
    await visit.press(*"er", "colon", *"notes", "enter")
    await visit.see("traffic-filtered", "4 of 13")
    await visit.press("f")
    await visit.see("traffic-filters")
    await visit.press("escape", "escape", "ctrl+f", *"beijing", "enter")
    await visit.see("traffic-search", "beijing")
    await visit.press("escape", "home", "down", "M", *"look")
    await visit.see("traffic-note", "look")
    await visit.press("enter", "m", "down", "down", "m")
    await visit.see("traffic-marked", "◆")
    await visit.press("c")
    await visit.see("traffic-copy", "TypeScript")
    await visit.press("escape", "x")
    await visit.see("traffic-export-which")
    await visit.press("enter")
    await visit.see("traffic-export-form", "Contains: 13 entries")
    await visit.press("escape", "S")
    await visit.see("traffic-statistics", "STATISTICS")
    await visit.press("escape", "home", "down", "w")
    await visit.see("traffic-waterfall", "get_weather")
    await visit.press("escape", "d", "end", "d")
    await visit.see("traffic-comparison", "difference")


@tour(
    with_traffic,
    "entry-pair",
    "entry-raw",
    "entry-timing",
    "entry-explanation",
    "entry-findings",
    "entry-tree",
    "entry-search",
    "entry-copy",
    "entry-maximized",
    "entry-bytes",
)
async def entry(visit: Visit) -> None:
    await visit.press("f4")
    await visit.shows("warning")
    await visit.press("home", "down", "down", "enter")
    if visit.size == SIZES[0]:
        await visit.press("right")  # only a wide screen opens with both sides of a call
    await visit.see("entry-pair", "tools/call", "resultType")
    for name, text in (
        ("raw", '"jsonrpc": "2.0"'),
        ("timing", "turn 1"),
        ("explanation", "tools/call"),
        ("findings", "no-result-type"),
        ("tree", "25 °C"),
    ):
        await visit.press("right")
        await visit.see(f"entry-{name}", text)
    await visit.press("slash", *"content", "enter")
    await visit.see("entry-search", "content")
    await visit.press("c")
    await visit.see("entry-copy", "TypeScript")
    await visit.press("escape", "z")
    await visit.see("entry-maximized", "25 °C")
    await visit.press("z", "escape", "down", "down", "down", "down", "enter")
    await visit.see("entry-bytes", "warning")


@tour(with_traffic, "edit-request", "edit-request-wrong", "confirm-call")
async def resending(visit: Visit) -> None:
    recorded = visit.runtime.recorded
    recorded.call("delete_note", source="notes", arguments={"id": "milk"})
    await visit.press("f4")
    await visit.shows("delete_n")
    await visit.press("end", "up", "e")
    await visit.see("edit-request", '"milk"')
    await visit.press("comma")
    await visit.see("edit-request-wrong", "✗ not JSON")
    await visit.press("escape", "escape", "R")
    await visit.see("confirm-call", "delete_note")
