"""The dialog that keeps a call, from each place where a call is selected, with a real server."""

import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.configurations import model, server
from tests.conftest import until
from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import mcptui
from tests.ui.real_stage import RealApp, real_app
from tui.addons.tests.screens.keep_dialog import KeepDialog
from tui.core.workbench import CallKey, CallKind
from tui.runtime.recording_file import RecordingFile
from tui.traffic.filter.query import parse
from tui.ui.app.traffic_app import TrafficApp
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.screen import ServerScreen


@asynccontextmanager
async def workbench(project: Path, home: Path, tool: str, arguments: Any) -> AsyncIterator[RealApp]:
    """Open the form of a tool, filled in."""
    async with real_app(home, server("weather", project / "weather.py")) as app:
        await app.has_state("weather", "RUNNING")
        app.app.main.parts.navigator.open_form("weather", tool, arguments)
        await until(lambda: isinstance(app.app.screen, ServerScreen) and _item(app) == tool)
        yield app


def _item(app: RealApp) -> str:
    """Return the name of the item whose form is open, or ""."""
    bench = app.app.screen.bench
    return bench.item.about.name if bench is not None and bench.item is not None else ""


async def called(app: RealApp, times: int = 1) -> None:
    """Call the tool, and go to its result."""
    bench = app.app.screen.bench
    for number in range(times):
        await app.press("ctrl+s")
        await until(
            lambda number=number: (
                bench.calls.newest is not None
                and bench.calls.newest.number > number
                and bench.calls.newest.result is not None
            )
        )
    app.app.screen.set_focus(bench.page)


async def dialog(app: RealApp) -> KeepDialog:
    """Press the key, and return the dialog once it shows the call."""
    await app.press("C")
    await until(lambda: isinstance(app.app.screen, KeepDialog))
    await app.shows("KEEP AS A TEST", "VARIES")
    found = app.app.screen
    assert isinstance(found, KeepDialog)
    return found


def suite(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


async def test_a_result_of_the_workbench_is_kept_with_what_varies_in_it(project: Path, separate_home: Path):
    async with workbench(project, separate_home, "get_weather", {"location": "Oslo"}) as app:
        await called(app, times=2)
        call = app.app.screen.bench.calls.selected
        shown = await dialog(app)
        assert shown.kept.keeping.draft.exchange.ms == call.took_ms  # one clock
        await app.shows("compared with 1 other result", "<number>", "weather.mcp.toml", "new file")
        await app.press("ctrl+s")
        await app.shows("Kept in weather.mcp.toml. Run it with: mcptui test weather.mcp.toml")
    found = suite(project / "weather.mcp.toml")
    (case,) = found["call"]
    command = {"command": [sys.executable, "weather.py"]}
    assert (found["server"], case["name"]) == (command, "get_weather Oslo")
    assert case["text"] == "Weather in Oslo: light rain, <number> °C."


async def test_without_a_result_the_key_says_what_to_do_and_keeps_the_list_in_the_list(
    project: Path, separate_home: Path
):
    async with workbench(project, separate_home, "get_weather", {"location": "Oslo"}) as app:
        app.app.screen.set_focus(app.app.screen.bench.page)
        await app.press("C")
        await app.shows("No result yet. Press ctrl+s to call, then C to keep the result.")
        app.app.screen.set_focus(app.app.screen.bench.list)
        await dialog(app)
        await app.shows("weather › list of tools")
        await app.press("ctrl+s")
        await app.shows("Kept in weather.mcp.toml")
    (case,) = suite(project / "weather.mcp.toml")["call"]
    assert (case["name"], case["list"]) == ("list of tools", "tools") and '"login"' in case["result"]


async def test_a_part_and_the_server_are_switched_in_the_list(project: Path, separate_home: Path):
    async with workbench(project, separate_home, "create_order", {"sku": "A1"}) as app:
        await called(app)
        shown = await dialog(app)
        await app.shows("create_order is not marked read-only or idempotent")
        assert "ctrl+r" not in app.text and "ctrl+g" not in app.text
        await app.shows("● write the command: ", 'command = ["')
        await app.press("tab", "tab", "space")
        await app.shows("○ write the command", "only where it is configured", 'server = "weather"')
        await app.press("down", "space")
        await until(lambda: '"id": "<id>"' not in shown.kept.preview())
        await app.press("ctrl+s")
        await app.shows("Kept in weather.mcp.toml")
    found = suite(project / "weather.mcp.toml")
    assert found["server"] == "weather"
    assert '"createdAt": "<time>"' in found["call"][0]["result"] and "<id>" not in found["call"][0]["result"]


async def test_a_read_only_tool_is_called_twice_more_after_a_yes(project: Path, separate_home: Path):
    async with workbench(project, separate_home, "get_weather", {"location": "Oslo"}) as app:
        await called(app)
        await dialog(app)
        await app.shows("no other result to compare with", "Call it twice more")
        await app.press("ctrl+r")
        await app.shows("Call “get_weather” twice more, to find what varies?", '{"location": "Oslo"}')
        confirm = app.app.screen
        await until(lambda: confirm._delay.accepts_keys)
        await app.press("ctrl+s")  # keeps in the dialog below, so it is no yes
        assert app.app.screen is confirm
        await until(lambda: confirm._delay.accepts_keys)
        await app.press("y")
        await app.shows("compared with 2 other results", "<number>")
        await app.press("escape")
        assert not (project / "weather.mcp.toml").exists()


async def test_a_call_that_is_kept_says_so_and_another_name_keeps_it_beside(
    project: Path, separate_home: Path
):
    async with workbench(project, separate_home, "fail", {"why": "closed"}) as app:
        await called(app)
        app.app.screen.set_focus(app.app.screen.bench.form)
        await app.shows("esc C keep")
        app.app.screen.set_focus(app.app.screen.bench.page)
        await until(lambda: "C keep" in app.text and "esc C keep" not in app.text)
        shown = await dialog(app)
        await app.press("enter")
        await app.shows("Kept in weather.mcp.toml", "as kept")
        shown = await dialog(app)
        await app.shows("already kept, with this result, as “fail closed” in weather.mcp.toml")
        assert shown.name_field.value == "fail closed"
        before = (project / "weather.mcp.toml").read_text()
        await app.press("ctrl+s")
        await app.shows("Already kept in weather.mcp.toml: fail closed")
        assert (project / "weather.mcp.toml").read_text() == before
        shown = await dialog(app)
        shown.name_field.value = "closed again"
        await app.shows("This name keeps both.")
        await app.press("ctrl+s")
        await until(lambda: not isinstance(app.app.screen, KeepDialog))
    assert [case["name"] for case in suite(project / "weather.mcp.toml")["call"]] == [
        "fail closed",
        "closed again",
    ]


async def test_a_call_of_the_conversation_the_trace_and_the_traffic_is_kept(
    project: Path, separate_home: Path
):
    asked = calls(("weather__get_weather", {"location": "Oslo"}))
    async with Endpoint([asked, says("Light rain.")]) as endpoint:
        config = f'default_model = "scripted"\n{server("weather", project / "weather.py", trusted=True)}'
        async with real_app(separate_home, config + model(endpoint)) as app:
            await app.has_state("weather", "RUNNING")
            await app.press(*"rain?", "enter")
            await app.shows("Light rain.")
            await until(lambda: not app.app.main.parts.turns.running)
            await app.press("f2", "up", "C")
            await until(lambda: isinstance(app.app.screen, KeepDialog))
            await app.shows("weather › get_weather")
            await app.press("ctrl+s")
            await app.shows("Kept in weather.mcp.toml")
            await app.press("f6", "end", "C")
            await app.shows("Select a call in the conversation or the trace first.")
            await app.press("up", "C")
            await until(lambda: isinstance(app.app.screen, KeepDialog))
            await app.press("escape", "f4")
            await until(lambda: isinstance(app.app.screen, TrafficScreen) and app.app.screen.is_whole)
            traffic = app.app.screen
            assert isinstance(traffic, TrafficScreen)
            traffic.active_filter.apply(parse("tool:get_weather kind:response"))
            await until(lambda: len(traffic.list.view) == 1)
            await dialog(app)
            await app.press("ctrl+s")
            await until(lambda: app.app.screen is traffic)
            await app.press("home", "C")
    names = [case["name"] for case in suite(project / "weather.mcp.toml")["call"]]
    assert names == ["get_weather Oslo"]  # it was the same call


async def test_an_entry_of_a_recording_is_kept(project: Path, separate_home: Path):
    await mcptui("call", "get_weather", "location=Oslo", "--", sys.executable, "weather.py")
    (path,) = (separate_home / "state" / "mcptui" / "recordings").glob("*.mcptrace")
    recorded = RecordingFile(path)
    recorded.start()

    async def save_theme(name: str) -> None: ...

    screen = TrafficApp(recorded.recording, theme="harbor", keys={}, save_theme=save_theme)
    try:
        async with screen.run_test(size=(120, 40), notifications=True) as pilot:
            recorded.painted()
            top = screen.screen
            assert isinstance(top, TrafficScreen)
            await until(lambda: top.is_whole)
            top.active_filter.apply(parse("tool:get_weather kind:response"))
            await until(lambda: len(top.list.view) == 1)
            await pilot.press("C")
            await until(lambda: isinstance(screen.screen, KeepDialog))
            await pilot.press("ctrl+s")
            await until(lambda: screen.screen is top)
    finally:
        recorded.close()
    found = suite(project / "weather.mcp.toml")
    assert found["server"] == {"command": [sys.executable, "weather.py"]}
    assert found["call"][0]["args"] == {"location": "Oslo"}


async def test_saved_arguments_are_cases_without_an_expectation_and_old_ones_move_to_the_file(
    project: Path, separate_home: Path
):
    async with workbench(project, separate_home, "get_weather", {"location": "Oslo"}) as app:
        key = CallKey("weather", CallKind.TOOL, "get_weather")
        await app.runtime.calls.change(lambda memory: memory.with_saved(key, "old one", {"location": "NYC"}))
        await called(app)
        await dialog(app)
        await app.press("ctrl+s")
        await app.shows("Kept in weather.mcp.toml")
        await until(lambda: not app.runtime.calls.memory.saved)
        await app.press("ctrl+k")
        await app.shows("SAVED ARGUMENTS   get_weather", "get_weather Oslo  kept", "old one")
        await app.press("down", "down", "enter")
        await app.shows("Save arguments as")
        await app.press(*"usual", "enter")
        await app.shows("Saved as usual in weather.mcp.toml.")
        await app.press("ctrl+k")
        await app.shows("SAVED ARGUMENTS   get_weather", "usual")
        await app.press("enter")
        await until(lambda: app.app.screen.bench.form.form.value()[0] == {"location": "NYC"})
    cases = suite(project / "weather.mcp.toml")["call"]
    assert [case["name"] for case in cases] == ["old one", "get_weather Oslo", "usual"]
    assert cases[0] == {"name": "old one", "tool": "get_weather", "args": {"location": "NYC"}}
