"""The workbench as a person uses it: keys in, tabs, calls and results out."""

import re
import time
from dataclasses import replace

import pytest

from tests.conftest import until
from tests.ui.app_stage import app_over, screen_text, shows
from tests.ui.bench_app import EVIL, app_of, bench_of, called, opened
from tests.ui.bench_stage import rich_runtime, tool
from tui.core.servers import ServerState, StopReason
from tui.core.tools import TextContent, ToolResult
from tui.core.workbench import CacheHint, ResourceInfo, ResourceSubscription
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.screen import ServerScreen

# ---- opening and leaving ----


async def test_enter_on_a_server_opens_its_workbench_and_escape_leaves_it() -> None:
    runtime = rich_runtime()
    app = app_over(runtime)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: app.main.parts and runtime.is_ready)
        await pilot.press("f3", "enter")
        await until(lambda: isinstance(app.screen, ServerScreen))
        await shows(app, "WORKBENCH", "weather", "get_forecast")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await app.close()


async def test_the_palette_opens_the_workbench_of_each_server() -> None:
    runtime = rich_runtime()
    app = app_over(runtime)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: app.main.parts and runtime.is_ready)
        titles = [command.title for command in app.commands()]
        assert "Open the workbench of “weather”" in titles
        assert "Show the resources" not in titles
        app.main.parts.navigator.open_server("weather")
        await until(lambda: isinstance(app.screen, ServerScreen))
        assert "Show the resources" in [command.title for command in app.commands()]
        await pilot.press("escape")
        await app.close()


async def test_digits_and_arrows_switch_tabs() -> None:
    async with opened(rich_runtime()) as (screen, pilot):
        assert screen.tab is BenchTab.TOOLS
        for key, tab in (("1", "overview"), ("3", "resources"), ("right", "prompts"), ("5", "log")):
            await pilot.press(key)
            await until(lambda tab=tab: screen.tab == tab)
        await pilot.press("left", "left", "left")
        await until(lambda: screen.tab is BenchTab.TOOLS)


async def test_a_tool_that_the_model_is_not_offered_is_marked_with_the_reason() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        assert "For the model" not in screen_text(app_of(screen))
        runtime.conversations.marks = {
            ("weather", "get_weather"): "not offered: its schema has no type " + "at all " * 20 + "anywhere",
            ("weather", "get_radar"): "pinned",
        }
        await pilot.press("escape")
        app = app_of(screen)
        await until(lambda: app.screen is app.main)
        app.main.parts.navigator.open_server("weather")
        await shows(app, "For the model: not offered: its schema has no type", "anywhere")
        row = next(line for line in screen_text(app).splitlines() if "get_weather" in line)
        assert row.partition("│")[0].split()[1:] == ["get_weather", "not", "offered", "read-only"]


async def test_o_turns_a_tool_off_for_the_model_and_it_can_still_be_called() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("o")
        await shows(app_of(screen), "For the model: off: disabled by you")
        row = next(line for line in screen_text(app_of(screen)).splitlines() if "get_weather" in line)
        assert "off" in row.partition("│")[0]
        assert runtime.host.status("weather").spec.off == ("get_weather",)
        runtime.server_choices.problem = "weather is not in the configuration file."
        await pilot.press("o")
        await shows(app_of(screen), "weather is not in the configuration file.")
        await until(lambda: "For the model" not in screen_text(app_of(screen)))
        await pilot.press("O")
        await until(lambda: runtime.host.status("weather").spec.off == ("*",))


async def test_where_there_is_little_room_a_tool_that_is_off_has_a_sign() -> None:
    runtime = rich_runtime()
    runtime.workbench.offered["weather"] = [tool("research_with_a_long_name")]
    async with opened(runtime, size=(60, 24)) as (screen, pilot):
        await pilot.press("o")
        await until(lambda: runtime.host.status("weather").spec.off)
        await until(lambda: re.search(r"▸ research\w*… +- +│", screen_text(app_of(screen))))


async def test_a_tool_that_no_model_can_run_says_why_and_o_does_not_change_that() -> None:
    runtime = rich_runtime()
    why = "it runs only as a task"
    runtime.workbench.offered["weather"] = [tool("research", withheld=why, has_icon=True, read_only=True)]
    async with opened(runtime) as (screen, pilot):
        await shows(app_of(screen), f"For the model: not offered: {why}", "has an icon")
        await pilot.press("o")
        await shows(app_of(screen), f"Not offered to the model: {why}.")
        assert runtime.host.status("weather").spec.off == ()


async def test_o_on_a_tool_that_changed_reviews_the_change() -> None:
    runtime = rich_runtime()
    why = "changed since it was accepted"
    changed = tool("research", withheld=why, is_unaccepted=True)
    runtime.workbench.offered["weather"] = [changed]
    async with opened(runtime) as (screen, pilot):
        await shows(app_of(screen), f"For the model: not offered: {why}")
        await pilot.press("o")
        await until(lambda: runtime.host.asked == [("review", "weather/research")])
        assert runtime.host.status("weather").spec.off == ()


# ---- the overview ----


async def test_the_overview_says_who_the_server_is_and_what_it_costs() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        app = app_of(screen)
        await shows(app, "Weather of the World 1.4.0", "2026-07-28", "python weather.py --verbose")
        await shows(app, "TZ, WEATHER_TOKEN", "4000, 4001", "48 MB", "1.4 s in total", "listChanged")
        await shows(app, "its name has control characters", "Ask for one city at a time.")
        await shows(app, "1, after it exited unexpectedly")


async def test_the_overview_says_how_fresh_lists_are_and_what_is_not_used() -> None:
    runtime = rich_runtime()
    now = time.monotonic_ns()
    who = runtime.workbench.who
    runtime.workbench.who = replace(
        who,
        capabilities={**who.capabilities, "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["a"]}}},
        hints={"tools": CacheHint(300_000, "public", now), "prompts": CacheHint(1, "", now - 10**9)},
    )
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await shows(app_of(screen), "listChanged, fresh for 4 m 5", "(public)", "stale")
        await shows(app_of(screen), "EXTENSIONS", "not used", "io.modelcontextprotocol/ui   mimeTypes")
        await pilot.press("R")
        assert runtime.workbench.relisted == ["weather"]


async def test_i_gives_the_instructions_to_the_model() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await shows(app_of(screen), "INSTRUCTIONS  not sent to the model, i changes that")
        await pilot.press("i")
        await shows(app_of(screen), "INSTRUCTIONS  sent to the model, i changes that")
        assert runtime.host.status("weather").spec.instructions


async def test_a_key_lets_the_model_read_resources() -> None:
    runtime = rich_runtime()
    runtime.host.put(replace(runtime.host.status("weather"), resources=2))
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await shows(app_of(screen), "not read by the model   X sets it")
        await pilot.press("X")
        await until(lambda: runtime.host.status("weather").spec.offer_resources)
        await until(lambda: "not read by the model" not in screen_text(app_of(screen)))


async def test_v_sets_the_log_level() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("5", "v")
        await shows(app_of(screen), "Log level", "emergency")
        await pilot.press("down", "enter")
        await until(lambda: runtime.host.status("weather").spec.log_level == "notice")


async def test_the_processor_share_is_measured_between_two_looks() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await until(lambda: screen.overview.identity.identity is not None)
        screen.overview.identity._asked = float("-inf")
        runtime.workbench.who = replace(runtime.workbench.who, cpu_seconds=99.0)
        await until(lambda: screen.overview.identity.share is not None)
        assert screen.overview.identity.share and screen.overview.identity.share > 0


async def test_a_stopped_server_is_shown_as_stopped_and_s_starts_it() -> None:
    runtime = rich_runtime()
    async with opened(runtime, server="slow") as (screen, pilot):
        app = app_of(screen)
        assert screen.tab is BenchTab.OVERVIEW
        await shows(app, "exited with code 1 after 12 s", "starts it here", "asked to crash")
        await pilot.press("2")
        await shows(app, "The server is stopped.")
        await pilot.press("s")
        await until(lambda: runtime.host.asked == [("start", "slow")])
        await shows(app, "This server has no")


async def test_tools_that_appear_while_the_screen_is_open_are_listed() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, _):
        runtime.workbench.offered["weather"].append(tool("brand_new"))
        runtime.host.revision += 1
        await shows(app_of(screen), "brand_new")
        assert bench_of(screen).item is not None
        assert bench_of(screen).item.label == "get_weather"


# ---- resources and prompts ----


async def test_a_template_is_filled_in_and_read() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations", "template")
        await pilot.press("down", "enter", *"São Paulo", "ctrl+s")
        await called(runtime)
        assert runtime.workbench.called[0][0] == "weather://archive/S%C3%A3o%20Paulo"
        await shows(app_of(screen), "this is weather://archive")


async def test_enter_on_a_resource_reads_it_and_the_list_keeps_the_focus() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations")
        await pilot.press("enter")
        await called(runtime)
        await shows(app_of(screen), "this is weather://stations")
        assert screen.focused is bench_of(screen).list


async def test_many_resources_are_a_tree_whose_folders_fold() -> None:
    runtime = rich_runtime()
    runtime.workbench.listed = [
        ResourceInfo("weather", f"weather://{where}/{number}", f"{where} {number}")
        for where in ("asia", "europe")
        for number in range(10)
    ]
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        app = app_of(screen)
        await shows(app, "weather://asia/", "weather://europe/", "resources 20")
        assert bench_of(screen).item is not None
        assert bench_of(screen).item.label == "asia 0"
        await pilot.press("up")
        await shows(app, "weather://asia/   10 resources")
        await pilot.press("enter")
        await until(lambda: "asia 5" not in screen_text(app))
        await pilot.press("down", "down")
        await shows(app, "The content of europe 0")
        await pilot.press("slash", *"asia 5")
        await shows(app, "The content of asia 5")


async def test_a_subscribed_resource_is_marked_and_read_again_when_it_changes() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3")
        await shows(app, "stations")
        await pilot.press("u", "enter")
        await shows(app, "subscribed", "this is weather://stations")
        bench.answers["weather://stations"] = ToolResult((TextContent("Now they are others."),))
        bench.subscribed["weather://stations"] = ResourceSubscription(updates=3)
        await shows(app, "Now they are others.", "resources 2, 1 changed")
        assert [uri for uri, _, _ in bench.called] == ["weather://stations"] * 2
        await pilot.press("u")
        await shows(app, "Unsubscribed.")
        await until(lambda: "subscribed" not in screen_text(app).partition("│")[0])
        assert bench.subscribed == {}


async def test_a_resource_that_changes_elsewhere_is_only_marked_until_the_person_goes_there() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3")
        await shows(app, "stations")
        await pilot.press("enter", "u", "down")
        bench.subscribed["weather://stations"] = ResourceSubscription(updates=1)
        await shows(app, "resources 2, 1 changed")
        assert len(bench.called) == 1
        await pilot.press("up")
        await until(lambda: len(bench.called) == 2)
        await until(lambda: "1 changed" not in screen_text(app))


async def test_why_a_server_refuses_a_subscription_is_shown() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3", "u")
        bench.subscribed["weather://stations"] = ResourceSubscription(problem="Not that one.")
        await shows(app, "! Not subscribed. Not that one.")
        await pilot.press("u")
        bench.problem = "weather does not offer subscriptions to resources."
        await pilot.press("u")
        await shows(app, "! weather does not offer subscriptions")


async def test_what_has_changed_is_marked_until_the_person_has_been_there() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        app, tools = app_of(screen), runtime.workbench.offered["weather"]
        await shows(app, "get_weather")
        tools[1] = replace(tools[1], description="Otherwise now.")
        tools.append(tool("brand_new"))
        runtime.host.revision += 1
        await shows(app, "tools 6, 2 changed", "changed", "brand_new")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        app.main.parts.navigator.open_server("weather")
        await shows(app, "tools 6, 2 changed")
        await pilot.press("down")
        await shows(app, "tools 6, 1 changed")
        await pilot.press("end")
        await until(lambda: "changed" not in screen_text(app))


async def test_the_result_of_a_prompt_is_used_in_the_conversation() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        await pilot.press("4")
        await shows(app, "compare")
        await pilot.press("enter", *"Beijing", "tab", *"Hangzhou", "ctrl+s")
        await shows(app, "Two cities", "Compare Beijing with Hangzhou, please.")
        assert runtime.workbench.called[0][1] == {"first": "Beijing", "second": "Hangzhou"}
        await pilot.press("f5")
        await until(lambda: app.main.composer.text == "Compare Beijing with Hangzhou, please.")


async def test_a_list_that_failed_says_why() -> None:
    runtime = rich_runtime()
    runtime.workbench.listed = ()
    runtime.workbench.problem = "The server answered resources/list with an error: not today."
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "not today.")


async def test_resources_that_change_while_the_screen_is_open_are_listed_again() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations")
        runtime.workbench.listed = (ResourceInfo("weather", "weather://new", "brand_new"),)
        runtime.host.put(replace(runtime.host.status("weather"), resources_revision=1))
        await shows(app_of(screen), "brand_new")


async def test_a_failed_request_after_a_change_keeps_the_list() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations")
        runtime.workbench.listed, runtime.workbench.problem = (), "Not today."
        runtime.host.put(replace(runtime.host.status("weather"), resources_revision=1))
        await shows(app_of(screen), "Not today.", "stations", "3 resources 2 !")


# ---- traffic ----


async def test_the_traffic_tab_shows_only_the_server() -> None:
    runtime = rich_runtime()
    runtime.recorded.call("get_weather")
    runtime.recorded.call("add_note", source="notes")
    async with opened(runtime) as (screen, pilot):
        await pilot.press("6")
        await until(lambda: len(screen.traffic.list.view) == 2)
        assert "get_weather" in screen_text(app_of(screen))
        assert "add_note" not in screen_text(app_of(screen))


async def test_the_headings_of_the_traffic_tab_stand_over_their_columns_after_a_resize() -> None:
    runtime = rich_runtime()
    runtime.recorded.call("get_weather")
    async with opened(runtime) as (screen, pilot):
        await pilot.press("6")
        await until(lambda: len(screen.traffic.list.view) == 2)

        def heading() -> str:
            return text_of(screen.traffic.list.heading()).rstrip()

        for width in (80, 120, 80):
            await pilot.resize_terminal(width, 30)
            await until(lambda: heading() in screen_text(app_of(screen)), what=f"the headings of {width}")


# ---- what must never be ----


async def test_a_filter_narrows_the_list_while_it_is_typed() -> None:
    async with opened(rich_runtime()) as (screen, pilot):
        bench = bench_of(screen)
        await pilot.press("slash", *"rain")
        await until(lambda: bench.list.counts == (1, 5))
        assert bench.item is not None
        await until(lambda: bench.item.label == "get_radar")
        await pilot.press("escape")
        await until(lambda: bench.list.counts == (5, 5))
        assert screen.is_current


async def test_hostile_text_is_shown_and_never_interpreted() -> None:
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


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12)])
async def test_every_size_shows_the_form_and_the_result(size: tuple[int, int]) -> None:
    runtime = rich_runtime()
    async with opened(runtime, size) as (screen, pilot):
        await pilot.press("enter", "x", "ctrl+s")
        await shows(app_of(screen), "get_weather" if size[0] > 40 else "▸ get_", "✓ done")
        for tab in BenchTab:
            screen.show_tab(tab)
            await pilot.pause()


async def test_a_server_that_stops_while_it_is_open_is_shown_as_stopped() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        status = runtime.host.status("weather")
        runtime.host.put(replace(status, state=ServerState.STOPPED, reason=StopReason.REQUESTED))
        await shows(app_of(screen), "STOPPED", "starts it")
        await pilot.press("ctrl+s", "enter", "d", "f5", "ctrl+k", "ctrl+e")
        assert not runtime.workbench.called


async def test_the_result_of_a_resource_says_how_long_it_stays_fresh_and_is_read_again_all_the_same() -> None:
    runtime = rich_runtime()
    text = (TextContent("All stations."),)
    runtime.workbench.answers["weather://stations"] = ToolResult(
        text, raw={"contents": [], "ttlMs": 300_000, "cacheScope": "private"}
    )
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations")
        await pilot.press("enter")
        await shows(app_of(screen), "All stations.", "fresh for 4 m 5", "(private)")
        await pilot.press("enter")
        await until(lambda: len(runtime.workbench.called) == 2)


async def test_the_resource_of_a_template_is_subscribed_to_with_the_values_of_its_form() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3")
        await shows(app, "stations")
        await pilot.press("down", "u")
        await shows(app, "city is required")
        assert bench.subscribed == {}
        await pilot.press("enter", *"hz", "ctrl+s")
        uri = "weather://archive/hz"
        await shows(app, f"this is {uri}")
        screen.set_focus(bench_of(screen).list)
        await pilot.press("u")
        await shows(app, "Subscribed. It is read again", "subscribed")
        assert set(bench.subscribed) == {uri}
        bench.answers[uri] = ToolResult((TextContent("Now it is another."),))
        bench.subscribed[uri] = ResourceSubscription(updates=1)
        await shows(app, "Now it is another.")
        assert [one for one, _, _ in bench.called] == [uri] * 2
        await pilot.press("u")
        await shows(app, "Unsubscribed.")
        assert bench.subscribed == {}
