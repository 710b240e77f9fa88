"""A server that leaves the configuration while one of its screens is open: no key ends the app."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests import programs
from tests.conftest import until
from tests.ui.real_stage import RealApp, real_app
from tui.ui.chat.screen import ChatScreen
from tui.ui.keys.action_table import ACTIONS, Context
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.log_screen import LogScreen
from tui.ui.workbench.screen import ServerScreen

OFFERING = Path(__file__).parents[1] / "protocol" / "offering_server.py"
LASTING = f'[servers.other]\ncommand = "{programs.interpreter()}"\nargs = ["{OFFERING}"]\nautostart = false\n'
LEAVING = f'[servers.gone]\ncommand = "{programs.interpreter()}"\nargs = ["{OFFERING}"]\ntrusted = false\n'

LEAVES_THE_APP = {"app.quit", "config.edit", "composer.editor", "app.suspend"}
EXPECTED = "is no longer configured"


def keys_of(*contexts: Context) -> list[str]:
    """Return the keys of every action of some contexts, each once."""
    found = [
        key
        for one in ACTIONS
        if one.context in contexts and one.id not in LEAVES_THE_APP
        for key in one.keys.split(",")
        if key
    ]
    return list(dict.fromkeys(found))


@asynccontextmanager
async def running(home: Path) -> AsyncIterator[RealApp]:
    """Open the app with a server that runs, and one that is not started."""
    async with real_app(home, LEAVING + LASTING) as app:
        await app.has_state("gone", "RUNNING")
        await until(lambda: app.app.main.regions.servers.selected == "gone", what="gone is selected")
        yield app


async def leaves(app: RealApp) -> None:
    """Remove the server from the file, and reload it."""
    app.write(LASTING)
    await app.runtime.configuration.reload()
    assert app.state("gone") == ""


async def press_all(app: RealApp, keys: list[str], back: Callable[[], Awaitable[None]]) -> None:
    """Press keys one after the other, each on the screen that `back` returns to."""
    for key in keys:
        await back()
        await app.press(key)
        assert app.app.crash is None and app.app.is_running, f"{key} ended the app"


async def to_chat(app: RealApp) -> None:
    """Close every screen over the chat."""
    for _ in range(12):
        if isinstance(app.app.screen, ChatScreen):
            return
        await app.press("escape")
    raise AssertionError(f"cannot be closed: {app.app.screen}\n{app.text}")


async def test_the_log_screen_keeps_its_lines_says_so_and_takes_every_key(separate_home: Path) -> None:
    async with running(separate_home) as app:
        app.app.main.parts.navigator.open_form("gone", "show", {"text": "x"})
        await app.press("ctrl+s")
        await app.shows("done")
        await app.press("escape", "escape", "escape", "escape", "f3", "l")
        await app.shows("calling show", "RUNNING")
        await leaves(app)
        await app.shows(EXPECTED, "q close", "calling show")

        async def back() -> None:
            if not isinstance(app.app.screen, LogScreen):
                await to_chat(app)
                app.app.main.parts.navigator.open_log("gone")
                await app.shows("LOG gone", EXPECTED)

        await press_all(app, keys_of(Context.LOG), back)
        await to_chat(app)


BENCH_KEYS = keys_of(Context.WORKBENCH, Context.BENCH_LIST)


@pytest.mark.parametrize("tab", BenchTab)
async def test_each_tab_of_the_workbench_says_so_and_takes_every_key(
    tab: BenchTab, separate_home: Path
) -> None:
    async with running(separate_home) as app:
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "RUNNING")
        app.app.screen.show_tab(tab)
        await leaves(app)
        await app.shows(EXPECTED, "esc close")

        async def back() -> None:
            if not isinstance(app.app.screen, ServerScreen):
                await to_chat(app)
                app.app.main.parts.navigator.open_server("gone")
                await app.shows("WORKBENCH", EXPECTED)
            if isinstance(app.app.screen, ServerScreen):
                app.app.screen.show_tab(tab)

        await press_all(app, BENCH_KEYS, back)
