"""Copying a call that is selected in the conversation, the trace, the traffic and the workbench."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from textual.widgets import OptionList

from tests.configurations import model, server
from tests.conftest import until
from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import mcptui
from tests.ui.real_stage import RealApp, real_app
from tui.traffic.filter.query import parse
from tui.traffic.spans.span_values import CallSpan
from tui.ui.dialogs.picker import Picker
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.screen import ServerScreen


async def copied(app: RealApp, label: str) -> str:
    """Choose a format in the picker, and return what is copied."""
    await until(lambda: isinstance(app.app.screen, Picker) and isinstance(app.app.focused, OptionList))
    picker, options = app.app.screen, app.app.focused
    place = [content.plain for _, content in picker._choices].index(label)
    app.app._copied = ""
    await app.press(*["down"] * place)
    await until(lambda: options.highlighted == place)
    await app.press("enter")
    # While the picker is open, it would take the keys that follow.
    await until(lambda: app.app.clipboard and app.app.screen is not picker)
    return app.app.clipboard


def run(text: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", text], capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_a_call_is_copied_from_the_conversation_the_trace_and_the_traffic(
    project: Path, separate_home: Path
) -> None:
    asked = calls(("weather__get_weather", {"location": "it's Oslo"}))
    async with Endpoint([asked, says("Light rain.")]) as endpoint:
        config = f'default_model = "scripted"\n{server("weather", project / "weather.py", trusted=True)}'
        async with real_app(separate_home, config + model(endpoint)) as app:
            await app.has_state("weather", "RUNNING")
            await app.press(*"rain?", "enter")
            await app.shows("Light rain.")
            await until(lambda: not app.app.main.parts.turns.running)
            parts = app.app.main.parts
            await app.press("f2", "up")
            await until(lambda: parts.regions.conversation.marked_call, what="the call is marked")
            await until(lambda: isinstance(parts.navigator.selected, CallSpan), what="the call is selected")
            await app.press("c")
            line = await copied(app, "mcptui call …")
            await app.press("f6", "end", "up", "c")
            assert await copied(app, "mcptui call …") == line
            await app.press("f2", "c")
            case = await copied(app, "test case")
            await app.press("f4")
            await until(lambda: isinstance(app.app.screen, TrafficScreen) and app.app.screen.is_whole)
            traffic = app.app.screen
            traffic.active_filter.apply(parse("tool:get_weather kind:response"))
            await until(lambda: len(traffic.list.view) == 1)
            await app.press("c")
            assert await copied(app, "mcptui call …") == line
            await app.press("c")
            assert json.loads(await copied(app, "JSON, indented"))["result"]
            traffic.active_filter.apply(parse("kind:model_request"))
            await until(lambda: len(traffic.list.view) == 2)
            await app.press("escape", "home", "c")
            assert (await copied(app, "curl")).startswith("curl -sSgN http://127.0.0.1")
    assert line.startswith("mcptui call weather get_weather --args ")
    assert "it's Oslo" in await asyncio.to_thread(run, line)
    (project / "copied.mcp.toml").write_text(case)
    done = await mcptui("test", "copied.mcp.toml", "--trust-config")
    assert "get_weather it's Oslo" in done.out  # it runs: what passes is up to the weather


async def test_without_a_call_the_message_is_copied(project: Path, separate_home: Path) -> None:
    async with Endpoint([says("Light rain.")]) as endpoint:
        async with real_app(separate_home, f'default_model = "scripted"\n{model(endpoint)}') as app:
            await app.press(*"rain?", "enter")
            await app.shows("Light rain.")
            await until(lambda: not app.app.main.parts.turns.running)
            await app.press("f2", "c")
            await until(lambda: app.app.clipboard == "Light rain.")
            await app.press("f6", "end", "c")
            await app.shows("Select a call in the conversation or the trace first.")


async def test_a_call_and_an_item_with_the_arguments_in_its_form_are_copied(
    project: Path, separate_home: Path
) -> None:
    async with real_app(separate_home, server("weather", project / "weather.py")) as app:
        await app.has_state("weather", "RUNNING")
        app.app.main.parts.navigator.open_form("weather", "get_weather", {"location": "Rome"})
        await until(
            lambda: (
                isinstance(app.app.screen, ServerScreen)
                and app.app.screen.bench is not None
                and app.app.screen.bench.item is not None
                and app.app.screen.bench.item.about.name == "get_weather"
            )
        )
        bench = app.app.screen.bench
        app.app.screen.set_focus(bench.list)
        await app.press("c")
        item = await copied(app, "mcptui call …")
        await app.press("ctrl+s")
        await until(lambda: bench.calls.newest is not None and bench.calls.newest.result is not None)
        app.app.screen.set_focus(bench.page)
        await app.press("c")
        assert await copied(app, "mcptui call …") == item
        await app.press("c")
        assert 'tool = "get_weather"' in await copied(app, "test case")
    assert "Rome" in await asyncio.to_thread(run, item)
