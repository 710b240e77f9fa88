"""Resources and prompts in the workbench: read, filled in, subscribed to, listed again."""

from dataclasses import replace

from tests.conftest import until
from tests.ui.app_stage import screen_text, shows
from tests.ui.bench_app import app_of, bench_of, called, opened, rich
from tests.ui.bench_stage import rich_runtime
from tui.core.tools import TextContent, ToolResult
from tui.core.workbench import ResourceInfo, ResourceSubscription


async def test_a_template_is_filled_in_and_read() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations", "template")
        await pilot.press("down", "enter", *"São Paulo", "ctrl+s")
        await called(runtime)
        assert runtime.workbench.called[0][0] == "weather://archive/S%C3%A3o%20Paulo"
        await shows(app_of(screen), "this is weather://archive")


async def test_enter_on_a_resource_reads_it_and_keeps_the_focus_and_a_subscription_does_not_read_it() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations")
        await pilot.press("enter")
        await called(runtime)
        await shows(app_of(screen), "this is weather://stations")
        assert screen.focused is bench_of(screen).list
        await pilot.press("u", "u", "u")
        await shows(app_of(screen), "Subscribed.")
        assert len(runtime.workbench.called) == 1


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
    async with rich() as (runtime, screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3")
        await shows(app, "stations")
        await pilot.press("u")
        await shows(app, "subscribed", "this is weather://stations")
        bench.answers["weather://stations"] = ToolResult((TextContent("Now they are others."),))
        bench.subscribed["weather://stations"] = ResourceSubscription(updates=3)
        await shows(app, "Now they are others.", "resources 1, 1 changed")
        assert [uri for uri, _, _ in bench.called] == ["weather://stations"] * 2
        await pilot.press("u")
        await shows(app, "Unsubscribed.")
        await until(lambda: "subscribed" not in screen_text(app).partition("│")[0])
        assert bench.subscribed == {}


async def test_a_resource_subscribed_to_but_never_read_is_read_when_it_changes() -> None:
    runtime = rich_runtime()
    runtime.workbench.subscribed["weather://stations"] = ResourceSubscription()
    async with opened(runtime) as (screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3")
        await shows(app, "stations", "subscribed")
        assert bench.called == []
        bench.subscribed["weather://stations"] = ResourceSubscription(updates=1)
        await shows(app, "this is weather://stations")


async def test_a_changed_resource_that_is_not_open_is_only_marked_until_it_is_selected() -> None:
    async with rich() as (runtime, screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3")
        await shows(app, "stations")
        await pilot.press("enter", "u", "down")
        bench.subscribed["weather://stations"] = ResourceSubscription(updates=1)
        await shows(app, "resources 1, 1 changed")
        assert len(bench.called) == 1
        await pilot.press("up")
        await until(lambda: len(bench.called) == 2)
        await until(lambda: "1 changed" not in screen_text(app))


async def test_the_reason_for_a_refused_subscription_is_shown() -> None:
    async with rich() as (runtime, screen, pilot):
        app, bench = app_of(screen), runtime.workbench
        await pilot.press("3", "u")
        bench.subscribed["weather://stations"] = ResourceSubscription(problem="Not that one.")
        await shows(app, "! Not subscribed. Not that one.")
        await pilot.press("u")
        bench.problem = "weather does not offer subscriptions to resources."
        await pilot.press("u")
        await shows(app, "! weather does not offer subscriptions")


async def test_the_result_of_a_prompt_is_used_in_the_conversation() -> None:
    async with rich() as (runtime, screen, pilot):
        app = app_of(screen)
        await pilot.press("4")
        await shows(app, "compare")
        await pilot.press("enter", *"Beijing", "tab", *"Hangzhou", "ctrl+s")
        await shows(app, "Two cities", "Compare Beijing with Hangzhou, please.")
        assert runtime.workbench.called[0][1] == {"first": "Beijing", "second": "Hangzhou"}
        await pilot.press("f5")
        await until(lambda: app.main.composer.text == "Compare Beijing with Hangzhou, please.")


async def test_a_failed_list_shows_the_reason() -> None:
    runtime = rich_runtime()
    runtime.workbench.listed = ()
    runtime.workbench.problem = "The server answered resources/list with an error: not today."
    async with opened(runtime) as (screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "not today.")


async def test_resources_that_change_are_listed_again_and_a_failed_request_keeps_the_list() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("3")
        await shows(app_of(screen), "stations")
        runtime.workbench.listed, runtime.workbench.problem = (), "Not today."
        runtime.host.put(replace(runtime.host.status("weather"), resources_revision=1))
        await shows(app_of(screen), "Not today.", "stations", "3 resources 1 !")
        runtime.workbench.listed = (ResourceInfo("weather", "weather://new", "brand_new"),)
        runtime.workbench.problem = ""
        runtime.host.put(replace(runtime.host.status("weather"), resources_revision=2))
        await shows(app_of(screen), "brand_new")


async def test_a_resource_shows_how_long_it_is_fresh_and_can_be_read_again() -> None:
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
    async with rich() as (runtime, screen, pilot):
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
        await shows(app, "Subscribed. The resource is read again", "subscribed")
        assert set(bench.subscribed) == {uri}
        bench.answers[uri] = ToolResult((TextContent("Now it is another."),))
        bench.subscribed[uri] = ResourceSubscription(updates=1)
        await shows(app, "Now it is another.")
        assert [one for one, _, _ in bench.called] == [uri] * 2
        await pilot.press("u")
        await shows(app, "Unsubscribed.")
        assert bench.subscribed == {}
