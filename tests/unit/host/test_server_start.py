"""A server's process starts before the SDK is imported, and a stop during the import ends it at once."""

import asyncio
import sys
import threading
from types import ModuleType

import psutil
import pytest

from tests.conftest import until
from tests.hosts import host_of
from tui.core.errors import ServerError
from tui.core.servers import ServerSpec, ServerState, StopReason
from tui.core.traffic import Captured
from tui.host import server_start
from tui.host.server_start import connections_beside, start_seconds
from tui.host.transports.stdio import StdioTransport

WAITING = ServerSpec("srv", sys.executable, ("-c", "import sys; print('{}', flush=True); sys.stdin.read()"))


class SlowImport:
    """Replaces the import of the SDK; it ends on command."""

    def __init__(self, monkeypatch):
        self.began, self.may_end = threading.Event(), threading.Event()
        self.module = ModuleType("connection")
        monkeypatch.setattr(server_start, "connections", self.load)

    def load(self):
        self.began.set()
        assert self.may_end.wait(30)
        return self.module


@pytest.fixture
async def importing(monkeypatch):
    found = SlowImport(monkeypatch)
    yield found
    found.may_end.set()  # before the event loop closes, which waits for its threads


def transport(spec=WAITING, seen=None):
    return StdioTransport(spec, sink=[].append if seen is None else seen.append, owner="test")


async def begun(importing, server, stop):
    """Begin, and return the task once the import is under way."""
    task = asyncio.create_task(connections_beside(server, stop))
    await asyncio.to_thread(importing.began.wait, 30)
    return task


async def test_the_process_starts_while_the_sdk_is_being_imported(importing):
    server = transport()
    task = await begun(importing, server, asyncio.Event())
    assert psutil.pid_exists(server.pid)
    importing.may_end.set()
    assert await task is importing.module
    await server.__aexit__(None, None, None)


async def test_entering_a_transport_that_has_begun_starts_no_second_process():
    seen: list[Captured] = []
    server = transport(seen=seen)
    server.begin()
    pid = server.pid
    async with server:
        assert server.pid == pid


async def test_a_stop_during_the_import_ends_the_process_without_waiting_for_it(importing):
    server, stop = transport(), asyncio.Event()
    task = await begun(importing, server, stop)
    pid = server.pid
    stop.set()
    assert await task is None
    assert server.exited.is_set() and not psutil.pid_exists(pid)


async def test_cancellation_during_the_import_ends_the_process(importing):
    server = transport()
    task = await begun(importing, server, asyncio.Event())
    pid = server.pid
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not psutil.pid_exists(pid)


async def test_a_failed_import_ends_the_process(monkeypatch):
    monkeypatch.setattr(server_start, "connections", lambda: 1 / 0)
    server = transport()
    with pytest.raises(ZeroDivisionError):
        await connections_beside(server, asyncio.Event())
    assert server.exited.is_set()


async def test_a_process_that_cannot_be_started_is_reported_on_entering():
    server = transport(ServerSpec("srv", "/no/such/program"))
    assert not server.begin()
    with pytest.raises(ServerError, match="does not exist"):
        async with server:
            pass


async def test_a_stop_during_the_import_counts_as_requested(importing):
    host = host_of(WAITING)
    starting = asyncio.create_task(host.start("srv"))
    await asyncio.to_thread(importing.began.wait, 30)
    await host.stop("srv")
    await starting
    found = host.status("srv")
    assert (found.state, found.reason) == (ServerState.STOPPED, StopReason.REQUESTED)
    await host.shutdown()


async def test_a_server_that_is_killed_during_the_import_leaves_no_process(importing):
    host = host_of(WAITING)
    starting = asyncio.create_task(host.start("srv"))
    await asyncio.to_thread(importing.began.wait, 30)

    def waiting() -> list[psutil.Process]:
        """Those that run the server; for a moment after the fork, a child still has our own command line."""
        return [child for child in psutil.Process().children() if "sys.stdin.read" in str(child.cmdline())]

    await until(waiting)
    children = waiting()
    await host.shutdown()
    await starting
    assert not any(child.is_running() for child in children)


def test_package_launchers_get_time_to_download():
    assert start_seconds(ServerSpec("a", "/usr/bin/npx")) == 180
    assert start_seconds(ServerSpec("a", "npx", start_seconds=5)) == 5
    assert start_seconds(ServerSpec("a", "python")) == 60
