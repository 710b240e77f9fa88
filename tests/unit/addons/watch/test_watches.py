"""Watched servers: what is restarted when a file changes, and what is not."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.changing_server import tool, write_server
from tests.conftest import until
from tests.hosts import host_of
from tui.addons.watch.ports import free_port
from tui.addons.watch.watches import Watches
from tui.core.servers import EraChoice, ServerSpec, ServerState, Transport


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    write_server(path)
    return path


@asynccontextmanager
async def watched(path: Path, monkeypatch: pytest.MonkeyPatch, *, start: bool = True):
    monkeypatch.setattr("tui.addons.watch.watches.service", lambda name: None)
    spec = ServerSpec(
        "srv",
        sys.executable,
        (str(path),),
        cwd=str(path.parent),
        watch=("*.py",),
        is_own=True,
        era=EraChoice.LEGACY,
    )
    host = host_of(spec)
    watches = Watches(
        SimpleNamespace(host=host, tell_user=lambda server, text: None, options=SimpleNamespace(opens="srv"))
    )
    watches.begin()
    try:
        if start:
            await host.start("srv")
        await until(lambda: watches.find("srv") is not None)
        yield host, watches
    finally:
        await watches.close()
        await host.shutdown()


async def saved(watches, path, is_told, *tools, **more):
    """Save until it is told: the first save may come before the folder is watched."""
    number = 0

    def told() -> bool:
        nonlocal number
        report = watches.find("srv").report
        if report is not None and is_told(report):
            return True
        number += 1
        if number % 40 == 1:
            write_server(path, *tools, **more)
        return False

    await until(told)


async def test_a_save_restarts_the_server_and_a_broken_one_does_not(path, monkeypatch):
    async with watched(path, monkeypatch) as (host, watches):
        two = [tool("get_weather", "city"), tool("more")]
        await saved(watches, path, lambda one: "more: new" in one.text or one.result.is_new, two)
        pid = host.status("srv").pid
        await saved(watches, path, lambda one: one.result.place == "server.py:4", two, extra="1 / 0")
        assert host.status("srv").pid == pid
        assert watches.find("srv").report.text.startswith("server.py:4  ZeroDivisionError")


async def test_the_setting_that_may_help_is_named_while_the_old_process_runs(path, monkeypatch):
    async with watched(path, monkeypatch) as (host, watches):
        assert watches.find("srv").stop_first == "--stop-first"
        await host.stop("srv")
        assert watches.find("srv").stop_first == ""


async def test_what_a_new_process_prints_is_told(path, monkeypatch):
    async with watched(path, monkeypatch) as (_, watches):
        await saved(watches, path, lambda one: one.result.is_new, extra="print('hi', flush=True)")
        await until(
            lambda: "restarted in" in (text := watches.find("srv").report.text) and "1 line on stdout" in text
        )


async def test_a_server_that_the_user_has_stopped_stays_stopped(path, monkeypatch):
    async with watched(path, monkeypatch) as (host, watches):
        await saved(watches, path, lambda one: one.result.is_new)
        before = watches.find("srv").report
        await host.stop("srv")
        write_server(path, result="rainy")
        watch = watches.find("srv")
        await watch._restart()
        assert host.status("srv").state is ServerState.STOPPED and watch.report is before


async def test_a_new_process_that_is_killed_and_started_again_is_told(path, monkeypatch):
    async with watched(path, monkeypatch) as (host, watches):
        await saved(watches, path, lambda one: one.result.is_new)
        os.kill(host.status("srv").pid, signal.SIGKILL)
        await until(lambda: watches.find("srv").report is not None)
        await until(lambda: watches.find("srv").report.text.endswith("the server is stopped"))
        assert watches.find("srv").report.text.startswith("the server was terminated by SIGKILL")
        await host.start("srv")
        await until(lambda: watches.find("srv").report is None)


async def test_a_first_start_that_fails_is_told_with_its_line(path, monkeypatch):
    write_server(path, extra="1 / 0")
    async with watched(path, monkeypatch) as (_, watches):
        await until(lambda: watches.find("srv").report is not None)
        assert watches.find("srv").report.result.place == "server.py:4"
        await saved(watches, path, lambda one: one.result.is_new)


async def test_a_remote_server_is_connected_once_it_listens(monkeypatch):
    monkeypatch.setattr("tui.addons.watch.watches.LOOK_SECONDS", 0.02)
    port = free_port()
    spec = ServerSpec("srv", url=f"http://127.0.0.1:{port}/mcp", is_own=True, transport=Transport.HTTP)
    host = host_of(spec)
    watches = Watches(SimpleNamespace(host=host))
    watches.begin()
    try:
        await host.start("srv")
        assert host.status("srv").failed
        await until(lambda: watches.awaited == {"srv"})
        starts = []
        monkeypatch.setattr(host, "start", lambda name: completed(starts.append(name)))
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)
        async with server:
            await until(lambda: starts)
    finally:
        await watches.close()
        await host.shutdown()


async def completed(result):
    return result


async def test_a_paused_server_is_not_watched(path, monkeypatch):
    async with watched(path, monkeypatch) as (_, watches):
        watches.paused.add("srv")
        await until(lambda: watches.find("srv") is None)
        watches.paused.clear()
        await until(lambda: watches.find("srv") is not None)
