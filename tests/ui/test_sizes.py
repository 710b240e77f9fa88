"""Large screens and lists survive every size of the terminal, with keys in between."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual._compositor import Compositor
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.conftest import until
from tests.ui import app_stage
from tests.ui.fakes import FakeRuntime
from tests.ui.snapshot_stage import answering, forecast, with_traffic
from tui.ui.app.app import McptuiApp

LARGE = (120, 40)


async def to_chat(app: McptuiApp, pilot: Pilot[int]) -> None:
    await app_stage.send(pilot, "What's the weather in Hangzhou?")
    await app_stage.shows(app, "always")


async def to_entry(app: McptuiApp, pilot: Pilot[int]) -> None:
    await pilot.press("f4", "home", "down", "enter")
    await app_stage.shows(app, "request")


async def to_bench(app: McptuiApp, pilot: Pilot[int]) -> None:
    await pilot.press("f3", "enter", "enter", *"Oslo")
    await app_stage.shows(app, "Oslo")


LISTS = {"the palette": ("ctrl+p",), "a picker": ("ctrl+t",), "sampling": ("f3", "enter", "1", "e")}


@pytest.mark.parametrize("opens", LISTS.values(), ids=LISTS)
async def test_lists_take_every_key_in_a_terminal_without_room(opens: tuple[str, ...]) -> None:
    async with app_stage.opened(forecast(), LARGE) as (app, pilot):
        await pilot.press(*opens)
        await until(lambda: app.screen.query(OptionList) and app.screen.query_one(OptionList).option_count)
        for size in ((1, 1), (4, 2), (1, 60), (200, 1)):
            await pilot.resize_terminal(*size)
            await pilot.press("pageup", "pagedown", "end", "home", "up", "down", "pageup")
            assert app.crash is None, f"a key at {size} ends the app"


@pytest.mark.parametrize("size", [(2, 80), (500, 1)])
async def test_the_app_starts_in_a_terminal_without_room(size: tuple[int, int]) -> None:
    async with app_stage.opened(FakeRuntime(), size) as (app, pilot):
        await pilot.resize_terminal(*LARGE)
        await app_stage.shows(app, "Ask anything", "SERVERS")


async def test_a_window_that_shrank_and_grew_at_once_is_painted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with app_stage.opened(FakeRuntime(), LARGE) as (app, pilot):
        await app_stage.shows(app, "2 of 3")
        await pilot.pause()
        wholly, paint = [], Compositor.render_update

        def seen(compositor: Compositor, *given: Any, **options: Any) -> Any:
            wholly.append(compositor.size.region in compositor._dirty_regions)
            return paint(compositor, *given, **options)

        monkeypatch.setattr(Compositor, "render_update", seen)
        for size in (Size(7, 30), Size(*LARGE)):
            app.post_message(events.Resize(size, size))
        await until(lambda: any(wholly))


sizes = st.tuples(st.integers(0, 140), st.integers(0, 50))
keys = st.sampled_from(["down", "end", "tab", "a", "enter", "f6", "z", "escape"])


@pytest.mark.parametrize(
    ("runtime", "go"), [(answering, to_chat), (with_traffic, to_entry), (forecast, to_bench)]
)
def test_the_large_screens_survive_every_sequence_of_sizes_and_keys(
    runtime: Callable[[], FakeRuntime], go: Callable[[McptuiApp, Pilot[int]], Awaitable[None]]
) -> None:
    stage = app_stage.opened(runtime(), LARGE)
    with asyncio.Runner() as runner:
        app, pilot = runner.run(stage.__aenter__())
        runner.run(go(app, pilot))

        @settings(max_examples=settings.default.max_examples // 6)
        @given(st.lists(st.tuples(sizes, keys), min_size=4, max_size=8))
        def survives(steps: list[tuple[tuple[int, int], str]]) -> None:
            for size, key in steps:
                runner.run(pilot.resize_terminal(*size))
                runner.run(pilot.press(key))
                assert app.crash is None

        survives()
        runner.run(stage.__aexit__(None, None, None))
