"""Calls by hand: arguments, confirmation, cancelling, comparing, saving, using the result."""

import asyncio
import time
from pathlib import Path

import pytest
from textual import events

from tests.conftest import until
from tests.ui.app_stage import screen_text, shows
from tests.ui.bench_app import EVIL, app_of, bench_of, called, opened, rich
from tests.ui.bench_stage import rich_runtime
from tui.core.permission.rules import Rules
from tui.core.ports import USER
from tui.core.tasks import Task
from tui.core.tools import TextContent, ToolResult
from tui.ui.dialogs.confirm import Confirm
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.widgets.rows import text_of


async def test_a_tool_is_called_with_the_typed_arguments() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("enter", *"Beijing", "enter", "enter")
        await called(runtime)
        assert runtime.workbench.called == [("get_weather", {"location": "Beijing"}, "hand-1")]
        await shows(app_of(screen), "✓ done", "matches its output schema", "sunny, 25 °C", 'city  "Beijing"')
        (one,) = runtime.decided
        assert (one.server, one.subject) == ("weather", "get_weather (by hand)")
        assert (one.allowed, one.by, one.asked_by, one.asked) == (True, "key", USER, False)


async def test_keys_in_one_burst_are_handled_in_order() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("enter")
        await until(lambda: bench_of(screen).form.has_focus)
        for key in [*"Hangzhou", "backspace", "ctrl+s"]:
            screen.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await called(runtime)
        assert runtime.workbench.called[0][1] == {"location": "Hangzho"}


async def test_a_problem_is_shown_first_and_the_same_key_calls_anyway() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("ctrl+s")
        await shows(app_of(screen), "location is required", "ctrl+s sends anyway")
        bench = bench_of(screen)
        for width in (30, 45, 60):
            assert text_of(bench.line.row(width)).endswith(" ctrl+s sends anyway "), width
        assert not runtime.workbench.called
        await pilot.press("ctrl+s")
        await called(runtime)
        assert runtime.workbench.called[0][1] == {}


async def test_arguments_are_validated_against_the_whole_schema_before_a_call() -> None:
    runtime = rich_runtime()
    runtime.workbench.wrong = "location must be one of a, b"
    async with opened(runtime) as (screen, pilot):
        await pilot.press("enter", "c", "ctrl+s")
        await shows(app_of(screen), "location must be one of a, b")
        assert not runtime.workbench.called
        await pilot.press("x")
        await until(lambda: "one of a, b" not in screen_text(app_of(screen)))


async def test_escape_cancels_a_running_call() -> None:
    runtime = rich_runtime()
    runtime.workbench.gate = asyncio.Event()
    runtime.workbench.progress = [(3, 10, f"counting {EVIL}")]
    async with opened(runtime) as (screen, pilot):
        await pilot.press("end", "ctrl+s")
        await shows(app_of(screen), "running", "30 %", "counting ␛]52", "esc stops it")
        await pilot.press("ctrl+s")
        await shows(app_of(screen), "The call is still running.")
        await pilot.press("escape")
        await until(lambda: runtime.workbench.cancelled == 1)
        await shows(app_of(screen), "Cancelled.")
        assert len(runtime.workbench.called) == 1


async def test_a_destructive_tool_is_confirmed_before_its_first_call_only() -> None:
    async with rich() as (runtime, screen, pilot):
        app = app_of(screen)
        await pilot.press("down", "down", "enter", "x", "ctrl+s")
        await until(lambda: isinstance(app.screen, Confirm))
        assert "delete_station may delete or overwrite data" in screen_text(app)
        assert '{"location": "x"}' in screen_text(app)
        await pilot.press("n")
        await until(lambda: app.screen is screen)
        assert not runtime.workbench.called
        await pilot.press("ctrl+s")
        await until(lambda: isinstance(app.screen, Confirm))
        app.screen._delay._shown += 60
        await pilot.press("y")  # typed before the question was visible
        assert isinstance(app.screen, Confirm) and not runtime.workbench.called
        app.screen._delay._shown -= 61  # ripe
        await pilot.press("y")
        await shows(app, "The tool reported an error.", "there is no such station")
        await pilot.press("ctrl+s")
        await called(runtime, 2)


async def test_a_call_that_a_rule_denies_the_model_is_confirmed_with_the_rule() -> None:
    runtime = rich_runtime()
    runtime.turn_context.policy.rules = Rules.parsed(["deny weather/get_* *=x"])
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        await pilot.press("enter", "x", "ctrl+s")
        await until(lambda: isinstance(app.screen, Confirm))
        assert "A rule denies the model this call: deny weather/get_* *=x" in screen_text(app)
        await pilot.press("n")
        await until(lambda: app.screen is screen)
        await pilot.press("y", "ctrl+s")
        await called(runtime, 1)


async def test_calls_are_listed_and_two_results_can_be_compared() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("enter", "x", "ctrl+s")
        await called(runtime)
        await until(lambda: not screen.calls.running)
        await pilot.press("ctrl+s")
        await called(runtime, 2)
        await until(lambda: not screen.calls.running)
        await pilot.press("escape", "d")
        await shows(app_of(screen), "COMPARED", '"temperature": 26 ', '"temperature": 27')
        await pilot.press("escape")
        await shows(app_of(screen), "RESULT")


async def test_enter_fills_in_the_arguments_of_an_earlier_call() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("enter", *"old", "ctrl+s")
        await called(runtime)
        await pilot.press("backspace", "backspace", "backspace", *"new")
        bench_of(screen).calls.focus()
        await pilot.press("enter")
        await until(lambda: bench_of(screen).form.has_focus)
        assert bench_of(screen).form.form.value()[0] == {"location": "old"}


async def test_one_key_inserts_the_result_into_the_message() -> None:
    async with rich() as (runtime, screen, pilot):
        app = app_of(screen)
        app.main.composer.insert("Look:")
        await pilot.press("enter", "x", "ctrl+s")
        await called(runtime)
        await until(lambda: not screen.calls.running)
        await pilot.press("f5")
        await until(lambda: app.screen is app.main)
        result = 'Result of weather › get_weather with {"location": "x"}:\n> The weather of x'
        assert app.main.composer.text.startswith(f"Look:\n\n{result}")
        await until(lambda: app.main.composer.has_focus)


async def test_an_image_is_shown_with_its_size_and_can_be_saved_to_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "mcptui-hand-1.png"
    there.write_text("mine")
    async with opened(rich_runtime()) as (screen, pilot):
        await pilot.press("down", "down", "down", "ctrl+s")
        await shows(app_of(screen), "PNG image, 1 × 1", "70 B", "image/png")
        bench_of(screen).page.focus()
        await pilot.press("w")
        await shows(app_of(screen), "save as", "mcptui-hand-1-2.png")
        await pilot.press("ctrl+u", *there.name, "enter")
        await shows(app_of(screen), "save as", "File exists")
        await pilot.press("x", "enter")
        await until(lambda: (tmp_path / "mcptui-hand-1.pngx").exists())
    assert there.read_text() == "mine"
    assert (tmp_path / "mcptui-hand-1.pngx").read_bytes()[:4] == b"\x89PNG"


async def test_a_key_shows_the_schemas_of_a_tool_and_the_result_again() -> None:
    async with opened(rich_runtime()) as (screen, pilot):
        await shows(app_of(screen), "The result of get_weather appears here.")
        await pilot.press("J")
        await shows(app_of(screen), "SCHEMA", "inputSchema", "outputSchema", "location")
        await pilot.press("J")
        await shows(app_of(screen), "The result of get_weather appears here.")


async def test_an_image_is_shown_as_a_picture_if_the_terminal_can(monkeypatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    async with opened(rich_runtime()) as (screen, pilot):
        await pilot.press("down", "down", "down", "ctrl+s")
        await shows(app_of(screen), "PNG image, 1 × 1", "▀")
        bench_of(screen).page.focus()
        page = bench_of(screen).page
        rows = [text_of(page.sheet.row(index, 80)) for index in range(page.sheet.count())]
        page.move_cursor(next(index for index, row in enumerate(rows) if "PNG image" in row))
        await pilot.press("space")
        await until(lambda: "▀" not in screen_text(app_of(screen)))


async def test_only_the_first_rows_of_a_result_of_many_megabytes_are_shown() -> None:
    runtime = rich_runtime()
    runtime.workbench.answers["slow_report"] = ToolResult((TextContent("line\n" * 4_000_000),))
    async with opened(runtime) as (screen, pilot):
        await pilot.press("end", "ctrl+s")
        await shows(app_of(screen), "20 MB", "line")
        await pilot.press("tab", "end")
        assert bench_of(screen).page.row_count() < 5_000


# ---- tasks ----


def left() -> Task:
    return Task("weather", "o", "t-1", "slow_report", time.time())


async def test_a_task_of_an_earlier_run_is_fetched_and_its_result_is_kept() -> None:
    runtime = rich_runtime()
    runtime.workbench.left = [left()]
    async with opened(runtime) as (screen, pilot):
        bench_of(screen).list.select("task t-1")
        await shows(app_of(screen), "slow_report", "task", "running on the server")
        await pilot.press("ctrl+s")
        await called(runtime)
        await shows(app_of(screen), "fetched")
        runtime.host.revision += 1
        await pilot.pause()
        await shows(app_of(screen), "fetched", "running on the server")


@pytest.mark.parametrize(("key", "names"), [("escape", ["t-1", "cancel t-1"]), ("q", ["t-1"])])
async def test_a_task_is_cancelled_with_its_call_but_not_by_leaving_the_workbench(
    key: str, names: list[str]
) -> None:
    runtime = rich_runtime()
    runtime.workbench.left = [left()]
    runtime.workbench.gate = asyncio.Event()
    async with opened(runtime) as (screen, pilot):
        bench_of(screen).list.select("task t-1")
        await shows(app_of(screen), "running on the server")
        await pilot.press("ctrl+s")
        await called(runtime)
        app = app_of(screen)
        await pilot.press(key)
        await until(lambda: runtime.workbench.cancelled == 1)
        await until(lambda: (app.screen is app.main) == (key == "q"))
        await until(lambda: [name for name, _, _ in runtime.workbench.called] == names)


async def test_without_calls_by_hand_the_list_points_to_calls_of_the_model() -> None:
    runtime = rich_runtime()
    runtime.recorded.call("get_weather")
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        await shows(app, "No calls by hand", "f4 for those")
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        assert app.screen.active_filter.query.text == "server:weather tool:get_weather"
        await pilot.press("escape", "down")
        await shows(app, "No calls yet")
