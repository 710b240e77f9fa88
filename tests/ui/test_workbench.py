"""The workbench as a user runs it: keys in, tabs, calls and results out."""

import re
import time
from dataclasses import replace

import pytest
from textual.dom import DOMNode

from tests.conftest import until
from tests.ui.app_stage import app_over, screen_text, shows
from tests.ui.bench_app import EVIL, app_of, bench_of, called, opened, rich
from tests.ui.bench_stage import rich_runtime, tool
from tui.core.jsonrpc.extensions import OurSide
from tui.core.jsonrpc.protocol import MODERN
from tui.core.tools import TextContent, ToolResult
from tui.core.workbench import CacheHint
from tui.ui.app.app import McptuiApp
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.screen import ServerScreen

# ---- opening and leaving ----


async def test_enter_on_a_server_or_the_palette_opens_its_workbench_and_escape_closes_it() -> None:
    runtime = rich_runtime()
    app = app_over(runtime)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: app.main.parts and runtime.is_ready)
        titles = [command.title for command in app.commands()]
        assert "Open the workbench of “weather”" in titles
        assert "Show the resources" not in titles
        await pilot.press("f3", "enter")
        await until(lambda: isinstance(app.screen, ServerScreen))
        await shows(app, "WORKBENCH", "weather", "get_forecast")
        assert "Show the resources" in [command.title for command in app.commands()]
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await app.close()


async def test_digits_and_arrows_switch_tabs_also_from_the_button_where_enter_calls() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("down", "down", "down", "enter")
        await shows(app_of(screen), "enter call   esc back")
        await pilot.press("enter")
        await called(runtime)
        for key, tab in (("1", "overview"), ("3", "resources"), ("right", "prompts"), ("5", "log")):
            await pilot.press(key)
            await until(lambda tab=tab: screen.tab == tab)
        await pilot.press("left", "left", "left")
        await until(lambda: screen.tab is BenchTab.TOOLS)


async def test_a_tool_that_the_model_is_not_offered_is_marked_with_the_reason() -> None:
    async with rich() as (runtime, screen, pilot):
        assert "For the model" not in screen_text(app_of(screen))
        runtime.request.marks = {
            ("weather", "get_weather"): "not offered: its schema has no type " + "at all " * 20 + "anywhere",
            ("weather", "get_radar"): "pinned",
        }
        await pilot.press("escape")
        app = app_of(screen)
        await until(lambda: app.screen is app.main)
        app.main.parts.navigator.open_server("weather")
        await shows(app, "For the model   not offered: its schema has no type", "anywhere")
        row = next(line for line in screen_text(app).splitlines() if "get_weather" in line)
        assert row.partition("│")[0].split()[1:] == ["get_weather", "not", "offered", "read-only"]


async def test_keys_turn_one_tool_or_all_tools_off_for_the_model() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("o")
        await shows(app_of(screen), "For the model   off: disabled by you")
        row = next(line for line in screen_text(app_of(screen)).splitlines() if "get_weather" in line)
        assert "off" in row.partition("│")[0]
        assert runtime.host.status("weather").spec.off == ("get_weather",)
        runtime.configuration.problem = "weather is not in the configuration file."
        await pilot.press("o")
        await shows(app_of(screen), "weather is not in the configuration file.")
        await until(lambda: "For the model" not in screen_text(app_of(screen)))
        await pilot.press("O")
        await until(lambda: runtime.host.status("weather").spec.off == ("*",))


async def test_in_a_narrow_list_a_disabled_tool_has_a_symbol() -> None:
    runtime = rich_runtime()
    runtime.workbench.offered["weather"] = [tool("research_with_a_long_name")]
    async with opened(runtime, size=(60, 24)) as (screen, pilot):
        await pilot.press("o")
        await until(lambda: runtime.host.status("weather").spec.off)
        await until(lambda: re.search(r"▸ research\w*… +- +│", screen_text(app_of(screen))))


async def test_o_on_a_tool_that_no_model_can_run_shows_why_and_on_a_changed_one_opens_the_review() -> None:
    runtime = rich_runtime()
    why, changed = "it runs only as a task", "changed since it was accepted"
    runtime.workbench.offered["weather"] = [
        tool("research", withheld=why, has_icon=True, read_only=True),
        tool("other", withheld=changed, is_unaccepted=True),
    ]
    async with opened(runtime) as (screen, pilot):
        await shows(app_of(screen), f"For the model   not offered: {why}", "has an icon")
        await pilot.press("o")
        await shows(app_of(screen), f"Not offered to the model: {why}.")
        await pilot.press("down")
        await shows(app_of(screen), f"For the model   not offered: {changed}")
        await pilot.press("o")
        await until(lambda: runtime.host.asked == [("review", "weather/other")])
        assert runtime.host.status("weather").spec.off == ()


# ---- the overview ----


async def test_the_overview_shows_the_identity_and_resource_use_of_the_server() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("1")
        app = app_of(screen)
        await shows(app, "Weather of the World 1.4.0", "2026-07-28", "python weather.py --verbose")
        await shows(app, "TZ, WEATHER_TOKEN", "4000, 4001", "48 MB", "1.4 s in total", "listChanged")
        await shows(app, "its name has control characters", "Ask for one city at a time.")
        await shows(app, "1, after it exited unexpectedly")
        screen.overview._asked = float("-inf")
        runtime.workbench.who = replace(runtime.workbench.who, cpu_seconds=99.0)
        await shows(app, "% now, 99.0 s in total")


async def test_the_overview_shows_the_age_of_lists_and_unused_features() -> None:
    runtime = rich_runtime()
    now = time.monotonic_ns()
    who = runtime.workbench.who
    runtime.workbench.who = replace(
        who,
        extensions=tuple(OurSide(MODERN).uses({"io.modelcontextprotocol/ui": {"mimeTypes": ["a"]}})),
        hints={"tools": CacheHint(300_000, "public", now), "prompts": CacheHint(1, "", now - 10**9)},
    )
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await shows(app_of(screen), "listChanged, fresh for 4 m 5", "(public)", "stale")
        await shows(app_of(screen), "EXTENSIONS", "not used      Apps", "mimeTypes")
        await shows(app_of(screen), "logging       yes   deprecated")
        await pilot.press("R")
        assert runtime.workbench.relisted == ["weather"]


async def test_keys_give_the_model_the_instructions_and_the_resources_and_set_the_log_level() -> None:
    runtime = rich_runtime()
    runtime.host.put(replace(runtime.host.status("weather"), resources=2))
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await shows(app_of(screen), "INSTRUCTIONS  not sent to the model, i changes that")
        await pilot.press("i")
        await shows(app_of(screen), "INSTRUCTIONS  sent to the model, i changes that")
        assert runtime.host.status("weather").spec.instructions
        await shows(app_of(screen), "the model cannot read them   X changes it")
        await pilot.press("X")
        await until(lambda: runtime.host.status("weather").spec.offer_resources)
        await until(lambda: "the model cannot read them" not in screen_text(app_of(screen)))
        await pilot.press("5", "v")
        await shows(app_of(screen), "LOG LEVEL", "emergency")
        await pilot.press("down", "enter")
        await until(lambda: runtime.host.status("weather").spec.log_level == "notice")


async def test_a_stopped_server_is_shown_as_stopped_and_s_starts_it() -> None:
    runtime = rich_runtime()
    async with opened(runtime, server="slow") as (screen, pilot):
        app = app_of(screen)
        assert screen.tab is BenchTab.OVERVIEW
        await shows(app, "exited with code 1 after 12 s", "Press s to start it.", "asked to crash")
        await pilot.press("2")
        await shows(app, "The server is stopped:", "exited with code 1 after")
        at_left = " ".join(line.split("│")[0].strip() for line in screen_text(app).splitlines())
        assert ". Press s to start it." in at_left
        await pilot.press("s")
        await until(lambda: runtime.host.asked == [("start", "slow")])
        await shows(app, "This server has no")


async def test_a_changed_tool_is_marked_until_it_was_selected() -> None:
    async with rich() as (runtime, screen, pilot):
        app, tools = app_of(screen), runtime.workbench.offered["weather"]
        await shows(app, "get_weather")
        tools[1] = replace(tools[1], description="Otherwise now.", digest="another")
        tools.append(tool("brand_new"))
        runtime.host.revision += 1
        await shows(app, "tools 6, 2 changed", "changed", "brand_new")
        assert bench_of(screen).item is not None and bench_of(screen).item.label == "get_weather"
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        app.main.parts.navigator.open_server("weather")
        await shows(app, "tools 6, 2 changed")
        await pilot.press("down")
        await shows(app, "tools 6, 1 changed")
        await pilot.press("end")
        await until(lambda: "changed" not in screen_text(app))


# ---- traffic ----


async def test_the_traffic_tab_shows_only_the_server_and_its_headings_are_aligned_after_a_resize() -> None:
    runtime = rich_runtime()
    runtime.recorded.call("get_weather")
    runtime.recorded.call("add_note", source="notes")
    async with opened(runtime) as (screen, pilot):
        await pilot.press("6")
        await until(lambda: len(screen.traffic.list.view) == 2)
        assert "get_weather" in screen_text(app_of(screen))
        assert "add_note" not in screen_text(app_of(screen))

        def heading() -> str:
            return text_of(screen.traffic.list.heading()).rstrip()

        for width in (80, 120, 80):
            await pilot.resize_terminal(width, 30)
            await until(lambda: heading() in screen_text(app_of(screen)), what=f"the headings of {width}")


# ---- hostile and extreme input ----


async def test_a_filter_narrows_the_list_while_typing() -> None:
    async with opened(rich_runtime()) as (screen, pilot):
        bench = bench_of(screen)
        await pilot.press("slash", *"rain")
        await until(lambda: bench.list.counts == (1, 5))
        assert bench.item is not None
        await until(lambda: bench.item.label == "get_radar")
        await pilot.press("escape")
        await until(lambda: bench.list.counts == (5, 5))
        assert screen.is_current


async def test_escape_sequences_are_shown_as_text() -> None:
    runtime = rich_runtime()
    bench = runtime.workbench
    schema = {
        "type": "object",
        "properties": {EVIL: {"enum": [EVIL], "description": EVIL}},
        "required": [EVIL],
    }
    bench.offered["weather"].insert(0, tool(EVIL, schema, description=EVIL, title=EVIL))
    bench.answers[EVIL] = ToolResult((TextContent(EVIL),), structured={EVIL: EVIL}, warning=EVIL)
    bench.who = replace(bench.who, title=EVIL, instructions=EVIL, capabilities={EVIL: EVIL})
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        await pilot.press("home", "ctrl+s", "ctrl+s")
        await called(runtime)
        await shows(app, "]52;c;x")
        for key in ("enter", "escape", "1"):
            await pilot.press(key)
            text = screen_text(app)
            assert not any(sign in text for sign in "\x1b\x07\x9b\u202e")
            assert "[@click=app.quit]" in text


async def test_opening_the_workbench_styles_no_tab_a_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    styled: list[object] = []
    style = McptuiApp.update_styles

    def counted(app: McptuiApp, node: DOMNode, animate: bool = True) -> None:
        styled.append(node)
        style(app, node, animate=animate)

    monkeypatch.setattr(McptuiApp, "update_styles", counted)
    async with opened(rich_runtime()) as (screen, _):
        assert screen.benches
        assert not [node for node in styled if isinstance(node, Bench)]
