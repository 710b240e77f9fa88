"""A server that leaves the configuration while one of its screens is open: no key ends the app."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import until
from tests.protocol.oauth_server import OAuthServer
from tests.ui.real_stage import RealApp, real_app, to_chat
from tui.ui.chat.screen import ChatScreen
from tui.ui.dialogs.question_dialog import QuestionDialog
from tui.ui.keys.action_table import ACTIONS, Context
from tui.ui.workbench.log_screen import LogScreen
from tui.ui.workbench.screen import ServerScreen

OFFERING = Path(__file__).parents[1] / "protocol" / "offering_server.py"
FAULTS = Path(__file__).parents[1] / "corpus" / "faults"
LASTING = f'[servers.other]\ncommand = "{sys.executable}"\nargs = ["{OFFERING}"]\nautostart = false\n'
LEAVING = f'[servers.gone]\ncommand = "{sys.executable}"\nargs = ["{OFFERING}"]\ntrusted = false\n'

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


async def test_the_log_screen_says_where_the_log_of_a_server_is_that_became_remote(
    separate_home: Path,
) -> None:
    async with running(separate_home) as app:
        await app.press("f3", "l")
        await app.shows("LOG gone", "No log output")
        app.write('[servers.gone]\nurl = "http://127.0.0.1:9/mcp"\n' + LASTING)
        await app.runtime.configuration.reload()
        await app.shows("keeps its own log")
        await leaves(app)
        await app.shows(EXPECTED)


BENCH_KEYS = keys_of(Context.WORKBENCH, Context.BENCH_LIST)


async def test_every_key_of_the_servers_pane_works_as_it_loses_its_server(separate_home: Path) -> None:
    async with running(separate_home) as app:
        await app.press("f3")
        await leaves(app)

        async def back() -> None:
            await to_chat(app)
            await app.press("f3")

        await press_all(app, keys_of(Context.SERVERS), back)
        await to_chat(app)
        app.write("[servers]\n")
        await app.runtime.configuration.reload()
        await press_all(app, keys_of(Context.SERVERS), back)


OPENED = {
    "sampling": ("Picker", ("f3", "enter", "1", "e")),
    "roots": ("ServerScreen", ("f3", "enter", "1", "t")),
    "trust": ("Confirm", ("f3", "T")),
    "log level": ("Picker", ("f3", "enter", "5", "v")),
    "saved arguments": ("ServerScreen", ("f3", "enter", "2", "ctrl+k")),
    "a choice of a form": ("ServerScreen", ("f3", "enter", "2", "enter", "tab", "tab", "tab", "tab")),
    "raw arguments": ("ServerScreen", ("f3", "enter", "2", "enter", "ctrl+e")),
    "a resource": ("ServerScreen", ("f3", "enter", "3", "ctrl+s")),
    "a prompt": ("ServerScreen", ("f3", "enter", "4", "enter", "x")),
    "the search of the log": ("LogScreen", ("f3", "l", "slash", "x")),
    "removal": ("Confirm", ("f3", "ctrl+d")),
    "editing": ("ServerForm", ("f3", "e")),
    "its tools": ("Picker", (*"/tools", "enter")),
    "its traffic": ("TrafficScreen", ("f3", "enter", "f4")),
    "completion": ("ChatScreen", ("at", "g")),
    "the palette": ("Palette", ("ctrl+p", *"log")),
    "the help": ("HelpScreen", ("f3", "enter", "f1")),
}
PRESSED = ("y", "enter", "down", "enter", "x", "tab", "ctrl+s", "enter", "space", "escape")


@pytest.mark.parametrize(("screen", "keys"), OPENED.values(), ids=OPENED)
async def test_what_is_open_takes_keys_after_its_server_has_left(
    screen: str, keys: tuple[str, ...], separate_home: Path
) -> None:
    async with running(separate_home) as app:
        await app.press(*("slash" if key == "/" else key for key in keys))
        assert type(app.app.screen).__name__ == screen
        await leaves(app)
        for key in PRESSED:
            await app.press(key)
            assert app.app.crash is None and app.app.is_running, f"{key} ended the app"


async def test_a_half_filled_form_stays_open_and_can_still_be_copied(separate_home: Path) -> None:
    async with running(separate_home) as app:
        await app.press("f3", "e")
        await app.shows("EDIT SERVER")
        await app.press("home", *"keep")
        await leaves(app)
        await app.press("ctrl+s")
        await app.shows("is no longer in the configuration file", "keep")


async def test_a_call_in_flight_ends_and_its_arguments_stay(separate_home: Path) -> None:
    async with running(separate_home) as app:
        app.app.main.parts.navigator.open_form("gone", "hang", {})
        await app.shows("WORKBENCH", "hang")
        await app.press("ctrl+s")
        await app.shows("running")
        await leaves(app)
        await app.shows(EXPECTED, "hang", "lost")
        await app.press("ctrl+s")
        await app.shows(EXPECTED)
        await press_all(app, ["r", "s", "z", "d", "m", "enter"], lambda: app.pilot.pause())


async def test_a_server_that_returns_is_used_again_by_its_open_workbench(separate_home: Path) -> None:
    async with running(separate_home) as app:
        await app.press("f3", "enter")
        await leaves(app)
        await app.shows(EXPECTED)
        app.write(LEAVING + LASTING)
        await app.runtime.configuration.reload()
        await app.has_state("gone", "RUNNING")
        await app.shows("WORKBENCH", "RUNNING")
        assert EXPECTED not in app.text


@pytest.mark.parametrize("how", ["removed", "moved", "local"])
async def test_a_sign_in_ends_with_its_server_and_leaves_no_state(separate_home: Path, how: str) -> None:
    async with OAuthServer() as server:
        remote = f'[servers.gone]\nurl = "{server.url}"\n'
        async with real_app(separate_home, remote + LASTING) as app:
            await app.shows("needs sign-in")
            starting = asyncio.create_task(app.runtime.host.start("gone"))
            await until(lambda: isinstance(app.app.screen, QuestionDialog), what="the dialog")
            assert app.runtime.host.status("gone").sign_in == "waiting for you"
            moved = '[servers.gone]\nurl = "http://127.0.0.1:9/mcp"\n'
            app.write({"removed": "", "moved": moved, "local": LEAVING}[how] + LASTING)
            await app.runtime.configuration.reload()
            await until(lambda: isinstance(app.app.screen, ChatScreen), what="no dialog")
            if how == "removed":
                app.write(LEAVING + LASTING)
                await app.runtime.configuration.reload()
            assert app.runtime.host.status("gone").sign_in == ""
            await starting


SERVERS = {
    "starts": ("STARTING", ["-c", "import time; time.sleep(60)"], BENCH_KEYS[::3]),
    "does not stop": ("RUNNING", [str(FAULTS / "ignore_sigterm_and_eof.py")], BENCH_KEYS[1::3]),
    "died": ("STOPPED", ["-c", "raise SystemExit(1)"], BENCH_KEYS[2::3]),
}


@pytest.mark.parametrize(("state", "args", "keys"), SERVERS.values(), ids=SERVERS)
async def test_every_key_works_while_a_server_is_being_replaced_and_removed(
    state: str, args: list[str], keys: list[str], separate_home: Path
) -> None:
    config = f'[servers.gone]\ncommand = "{sys.executable}"\nargs = {json.dumps(args)}\n'
    async with real_app(separate_home, config) as app:
        await app.has_state("gone", state)
        for written in (config + 'env = { A = "1" }\n', LASTING):
            app.write(written)
            reloading = asyncio.ensure_future(app.runtime.configuration.reload())

            async def back() -> None:
                if not isinstance(app.app.screen, ServerScreen):
                    await to_chat(app)
                    app.app.main.parts.navigator.open_server("gone")

            await press_all(app, keys, back)
            await to_chat(app)
            app.app.main.parts.navigator.open_log("gone")
            await app.shows("LOG gone")
            await reloading
            await app.press("s", "r", "escape")
        app.app.main.parts.navigator.open_log("gone")
        await app.shows(EXPECTED)
