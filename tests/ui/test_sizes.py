"""Every screen and dialog survives every size of the terminal, and resizes while it is open."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual._compositor import Compositor
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.clocks import FrozenTime, freeze_time
from tests.conftest import until
from tests.ui import app_stage, bench_stage
from tests.ui.fakes import FakeRuntime
from tests.ui.snapshot_stage import answering, forecast, with_traffic
from tests.ui.snapshot_tour import TOURS, Tour, Visit
from tests.ui.tours import chat, lists, questions, traffic, trust, workbench
from tui.ui.app.app import McptuiApp

PLACES = (chat, lists, questions, traffic, trust, workbench)
"""Importing them registers their tours."""

LARGE = (120, 40)
EXTREMES = ((4, 2), (7, 30), (2, 80), (1, 1), (0, 0), (300, 1))
"""One for each screen in turn: a screen takes about 0.1 s to lay out."""


class ResizedVisit(Visit):
    """A visit that resizes the terminal at each screen, instead of comparing it."""

    async def see(self, name: str, *texts: str) -> None:
        await self.shows(*texts)
        self.seen.append(name)
        size = EXTREMES[len(self.seen) % len(EXTREMES)]
        await self.pilot.resize_terminal(*size)
        assert self.app.crash is None, f"{name} does not survive {size}"
        await self.pilot.resize_terminal(*LARGE)
        await self.pilot.pause()
        await self.shows(*texts)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FrozenTime:
    frozen = freeze_time(monkeypatch, "tui.ui", "tui.core")
    monkeypatch.setattr(bench_stage, "time", frozen)
    return frozen


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.walk.__name__)
async def test_every_screen_survives_extreme_sizes_and_shows_the_same_after(
    tour: Tour, clock: FrozenTime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("milk")
    monkeypatch.chdir(tmp_path)
    runtime = tour.runtime()
    async with app_stage.opened(runtime, LARGE) as (app, pilot):
        app.animation_level = "none"
        await tour.walk(ResizedVisit(app, pilot, runtime, LARGE, "harbor", clock))


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
