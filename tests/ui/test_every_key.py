"""Every key that the help offers has an effect, or says why it has none: over the real runtime.

Where a key is already done, as that of the tab which is shown, it has none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.real_stage import RealApp, real_app, to_chat
from tests.ui.test_removed_servers import EXPECTED, LEAVES_THE_APP, leaves, running
from tui.ui.keys.action_table import Context, of_context
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.screen import ServerScreen

WAITS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.6, 0)
"""Seconds after each look at the screen after a key."""
SERVER_KEYS = """instructions level roots read_resources trust sampling toggle restart reload leave extension
    maximize offer_all app""".split()
LEFT = {BenchTab.TOOLS: Context.BENCH_LIST, BenchTab.RESOURCES: Context.WORKBENCH}
"""The context whose keys are pressed on a tab after the server has left."""
WATCHING = {"servers.doctor", "watch.toggle", "watch.changes", "watch.auto", "watch.accept"}
OF_THE_SERVER = WATCHING | {f"bench.{name}" for name in (*BenchTab, *SERVER_KEYS)} - {"bench.tools"}
"""Actions in the context of the lists that do the same on every tab."""


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each test in a folder of its own, because some keys save a file in the current one."""
    monkeypatch.chdir(tmp_path)


Back = Callable[[], Awaitable[None]]


def seen(app: RealApp) -> tuple[object, ...]:
    """Return all that a key may change for the user, but the text, which takes long to paint."""
    top = app.app
    notes = [note.message for note in top._notifications]
    return [id(screen) for screen in top.screen_stack], id(top.focused), notes, top.clipboard


async def without_notes(app: RealApp) -> tuple[object, ...]:
    """Close the notifications; return what is on screen then."""
    app.app.clear_notifications()
    await app.pilot.pause()
    return *seen(app), screen_text(app.app)


async def has_effect(app: RealApp, key: str, before: tuple[object, ...]) -> bool:
    await app.press(key)
    for wait in WAITS:
        if (now := seen(app)) != before[:-1] or (*now, screen_text(app.app)) != before:
            return True
        await asyncio.sleep(wait)
    return False


async def idle_keys(app: RealApp, back: Back, *contexts: Context, without: Collection[str] = ()) -> set[str]:
    """Press the first key of each action on the screen that `back` opens; return those without an effect."""
    found: set[str] = set()
    opened: tuple[object, ...] = ()
    for one in (one for context in contexts for one in of_context(context)):
        if one.id not in LEAVES_THE_APP and one.id not in without:
            app.app.clear_notifications()
            await app.pilot.pause()
            if seen(app) != opened[:-1] or screen_text(app.app) != opened[-1]:
                await back()
                opened = await without_notes(app)
            if not await has_effect(app, one.keys.split(",")[0], opened):
                found.add(one.id)
            assert app.app.crash is None and app.app.is_running, f"{one.id} ended the app"
    return found


@pytest.mark.parametrize("tab", [tab for tab in BenchTab if tab not in (BenchTab.SKILLS, BenchTab.EVENTS)])
async def test_in_the_workbench_of_a_server_and_after_it_has_left(separate_home: Path, tab: BenchTab) -> None:
    """The keys of lists, which differ by tab, are pressed in each; those of the server on the tools only.

    After the server has left, they are pressed on the tools, and those of the whole on the resources.
    """
    async with running(separate_home) as app:
        shown = "RUNNING"

        async def back() -> None:
            if not isinstance(app.app.screen, ServerScreen):
                await to_chat(app)
                app.app.main.parts.navigator.open_server("gone")
                await app.shows("WORKBENCH", shown)
            app.app.screen.show_tab(tab)
            await app.pilot.pause()

        already_there = {f"bench.{tab}"}
        whole = [Context.WORKBENCH] if tab in (BenchTab.TOOLS, BenchTab.LOG) else []
        same = OF_THE_SERVER if tab is not BenchTab.TOOLS else ()
        assert await idle_keys(app, back, *whole, Context.BENCH_LIST, without=same) <= already_there
        if (left := LEFT.get(tab)) is None:
            return
        await back()
        shown = EXPECTED
        await leaves(app)
        await app.shows(EXPECTED, "esc close")
        await to_chat(app)  # a workbench that is opened now says so too
        assert await idle_keys(app, back, left, without=same) <= already_there


async def test_in_lists_without_entries(separate_home: Path) -> None:
    async with real_app(separate_home, "[servers]\n") as app:
        for context, keys, nothing in (
            (Context.SESSIONS, ["f9"], set()),
            (Context.MODELS, ["f10"], set()),
            (Context.RULES, ["f3", "P"], set()),
            (Context.SERVERS, ["f3"], set()),
            (Context.TRAFFIC, ["f4"], {"traffic.follow"}),
        ):

            async def back(keys: list[str] = keys) -> None:
                await to_chat(app)
                await app.press(*keys)
                screen = app.app.screen
                await until(lambda: not isinstance(screen, TrafficScreen) or screen.is_whole)

            assert await idle_keys(app, back, context) <= nothing, context


async def test_of_the_traffic_list_while_an_entry_is_open(separate_home: Path) -> None:
    async with running(separate_home) as app:

        async def back() -> None:
            await to_chat(app)
            await app.press("f4")
            screen = app.app.screen
            await until(lambda: isinstance(screen, TrafficScreen) and screen.is_whole)
            await until(lambda: screen.list.select(5))
            await app.press("enter")
            await until(lambda: screen.entry.loaded)

        idle = await idle_keys(app, back, Context.TRAFFIC)
        # In an entry, `enter` folds, `h` shows the previous view, and `end` is its end.
        assert idle <= {"traffic.read", "traffic.follow", "traffic.setup"}
