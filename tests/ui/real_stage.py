"""The app over the real runtime, host and configuration file: nothing in it is a fake.

Servers are processes or HTTP servers of the test, which leave, lag and fail. A test edits the configuration
file with `RealApp.write`, as the user's editor does.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import OnScreen
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.config_file import quick_ui
from tui.ui.app.app import McptuiApp
from tui.ui.chat.screen import ChatScreen


@dataclass
class RealApp(OnScreen):
    """An app on screen, its runtime and its configuration file."""

    pilot: Pilot[int]
    app: McptuiApp
    runtime: Runtime
    config: Path

    def write(self, config: str) -> None:
        """Replace the configuration file."""
        self.config.write_text(config, encoding="utf-8")

    async def has_state(self, server: str, state: str) -> None:
        """Wait until a server has a state: STOPPED, STARTING, RUNNING or STOPPING."""
        await until(lambda: self.state(server) == state, what=f"{server} is {state}")

    def state(self, server: str) -> str:
        """Return a server's state, or "" if there is no such server."""
        return next((str(one.state) for one in self.runtime.host.statuses() if one.name == server), "")


@asynccontextmanager
async def real_app(
    home: Path, config: str, *, size: tuple[int, int] = (120, 40), options: Options | None = None
) -> AsyncIterator[RealApp]:
    """Open the app over a configuration in the home folder of the test (`separate_home`)."""
    file = home / "config" / "mcptui" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(config, encoding="utf-8")
    runtime = Runtime(options or Options(), os.environ)
    quick = quick_ui(None, os.environ)
    app = McptuiApp(lambda: runtime, theme=quick.theme, keys=quick.keys)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(lambda: app.main.parts and runtime.is_ready, what="ready")
            try:
                yield RealApp(pilot, app, runtime, file)
            finally:
                await app.close()
    finally:
        await runtime.shutdown()
    assert app.crash is None, f"the app ended by an error: {app.crash!r}"


async def to_chat(app: RealApp) -> None:
    """Close every screen over the chat."""
    for _ in range(12):
        if isinstance(app.app.screen, ChatScreen):
            return
        await app.press("escape")
    raise AssertionError(f"cannot be closed: {app.app.screen}\n{app.text}")
