"""The app with an open workbench, over a fake runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import app_over
from tests.ui.bench_stage import rich_runtime
from tests.ui.fakes import FakeRuntime
from tui.ui.app.app import McptuiApp
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.screen import ServerScreen

EVIL = "\x1b]52;c;x\x07\x9b31m\u202e[@click=app.quit]x[/]"


@asynccontextmanager
async def opened(
    runtime: FakeRuntime, size: tuple[int, int] = (120, 40), server: str = "weather"
) -> AsyncIterator[tuple[ServerScreen, Pilot[int]]]:
    app = app_over(runtime)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: app.main.parts and runtime.is_ready, what="ready")
        app.main.parts.navigator.open_server(server)
        await until(lambda: isinstance(app.screen, ServerScreen) and app.screen.is_mounted)
        screen = app.screen
        assert isinstance(screen, ServerScreen)
        await until(lambda: screen.focused is not None)
        try:
            yield screen, pilot
        finally:
            await app.close()


@asynccontextmanager
async def rich(
    size: tuple[int, int] = (120, 40),
) -> AsyncIterator[tuple[FakeRuntime, ServerScreen, Pilot[int]]]:
    """Open the workbench of a server with all kinds of tools, resources and prompts."""
    runtime = rich_runtime()
    async with opened(runtime, size) as (screen, pilot):
        yield runtime, screen, pilot


def app_of(screen: ServerScreen) -> McptuiApp:
    assert isinstance(screen.app, McptuiApp)
    return screen.app


def bench_of(screen: ServerScreen) -> Bench:
    assert screen.bench is not None
    return screen.bench


async def called(runtime: FakeRuntime, times: int = 1) -> None:
    await until(lambda: len(runtime.workbench.called) == times, what=f"{times} calls")
