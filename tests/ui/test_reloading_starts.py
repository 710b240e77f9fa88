"""Starts that are requested while a reload replaces their server, over the real runtime, host and file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.real_stage import RealApp, real_app
from tests.ui.test_reloading import APP, in_servers, server, settled


@asynccontextmanager
async def stopping(home: Path, pressed: str) -> AsyncIterator[RealApp]:
    """Start a server, press a key that stops it, and change its environment in the file."""
    async with real_app(home, server("a"), options=APP) as app:
        await app.has_state("a", "RUNNING")
        await in_servers(app)
        await app.pilot.press(pressed)
        await app.has_state("a", "STOPPING")
        app.write(server("a") + 'env = { A = "1" }\n')
        yield app


@pytest.mark.parametrize("pressed", ["r", "s"])
async def test_a_start_that_waits_for_the_end_of_a_server_survives_its_replacement(
    separate_home: Path, pressed: str
) -> None:
    async with stopping(separate_home, pressed) as app:
        if pressed == "s":
            await app.shows("STOPPING")
            await app.pilot.press("s")
        await app.pilot.press("R")
        await app.has_state("a", "RUNNING")
        assert app.runtime.host.status("a").spec.env


async def test_a_server_restarted_while_it_is_replaced_starts_as_its_successor(separate_home: Path) -> None:
    async with stopping(separate_home, "s") as app:
        await app.pilot.press("R")
        await until(lambda: app.runtime.configuration._lock.locked(), what="the reload runs")
        await app.pilot.press("r")
        await app.has_state("a", "RUNNING")
        assert app.runtime.host.status("a").spec.env


async def test_a_server_that_was_stopped_stays_stopped_when_it_is_replaced(separate_home: Path) -> None:
    async with stopping(separate_home, "r") as app:
        await app.runtime.host.stop("a")
        await app.runtime.configuration.reload()
        await settled(app)
        assert app.state("a") == "STOPPED"
