"""A message of a server over HTTP that is held: the session gets progress meanwhile, as over stdio."""

import asyncio

import pytest

from tests.conftest import until
from tests.http_server import http_server
from tests.unit.host.client import Client
from tui.addons.faults.breakpoints import Breakpoints
from tui.core.servers import ServerSpec, Transport
from tui.core.traffic import Captured
from tui.host.process.watchdog import Watchdog
from tui.host.transports import open_transport

SECOND = 1_000_000_000


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
@pytest.mark.parametrize("breakpoint", ["tool:echo dir:out", "tool:echo dir:in"])
async def test_the_session_gets_progress_while_its_call_is_held(breakpoint: str, modern: bool):
    now, told, sink, watchdog = [0], list[str](), list[Captured](), Watchdog()
    breakpoints = Breakpoints(lambda: now[0])
    breakpoints.set(breakpoint)
    async with http_server(modern=modern) as server:
        spec = ServerSpec("s", transport=Transport.HTTP, url=server.url)
        opened = open_transport(
            spec, sink=sink.append, watchdog=watchdog, on_change=lambda: None, stages=[breakpoints.stage()]
        )
        async with Client(opened) as client:
            call = {"name": "echo", "arguments": {}}
            asking = client.session.request("tools/call", call, lambda *report: told.append(report[2]))
            calling = asyncio.create_task(asking)
            await until(lambda: len(breakpoints.held) == 1)
            now[0] = 6 * SECOND
            breakpoints.keep_waiting()
            await until(lambda: told == ["held by mcptui"])
            breakpoints.release_all()
            assert (await calling)["content"]
    watchdog.close()
    marks = ["held", "our progress", "released"]
    assert [word for one in sink if (word := one.detail.get("event")) in marks] == marks
    assert not any(b"notifications/progress" in one.raw for one in sink)  # not of the server
