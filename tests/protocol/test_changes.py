"""A tool list that changes while a server runs, in both eras, with a server on the SDK."""

import json
from pathlib import Path

import pytest

from tests import programs
from tests.accepting import Accepting
from tests.conftest import until
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerState
from tui.host.host import Host
from tui.host.host_context import Answerers
from tui.host.sdk.sdk_bridge import TICKET

SERVER = Path(__file__).with_name("changing_server.py")


@pytest.fixture
async def lines():
    return []


@pytest.fixture
async def host(lines):
    made = Host(
        [programs.server("changing", SERVER)],
        sink=lambda captured: lines.append(captured.raw),
        clock=MonotonicClock(),
        answerers=Answerers(questioner=Accepting()),
    )
    await made.start_all()
    yield made
    await made.shutdown()


async def call(host, name, progress=lambda *_: None):
    tool = next(tool for tool in host.toolbox.tools() if tool.name == name)
    return (await host.toolbox.call(tool, {}, seconds=10, progress=progress)).content[0].text


async def test_a_tool_that_appears_later_can_be_called_once_it_is_accepted(host, lines):
    assert [tool.name for tool in host.toolbox.tools()] == ["grow", "count"]
    await until(lambda: any(b"subscriptions/acknowledged" in line for line in lines))
    before = host.revision
    assert await call(host, "grow") == "grown"
    await until(lambda: host.status("changing").tools == 3)
    assert host.revision > before
    await host.changes_answered()
    assert await call(host, "added") == "new"


async def test_progress_is_reported_with_its_message(host):
    seen = []
    assert await call(host, "count", lambda *told: seen.append(told)) == "counted"
    # Updates at the same time are reported once with the last state, so the first may be missing.
    assert seen[-1] == (2.0, 2.0, "whole") and seen[0] in ((1.0, 2.0, "half"), (2.0, 2.0, "whole"))


async def test_internal_tickets_of_answers_are_not_sent(host, lines):
    await call(host, "count")
    assert not any(TICKET.encode() in line for line in lines)


async def test_the_host_sends_its_name_and_declares_only_what_it_supports(host, lines):
    first = next(line for line in lines if b"server/discover" in line)
    assert b'"name":"mcptui"' in first
    offered = json.loads(first)["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert set(offered) == {"elicitation", "roots", "extensions"}
    assert set(offered["extensions"]) == {"io.modelcontextprotocol/tasks"}


async def test_an_open_change_stream_does_not_delay_a_stop(host):
    await host.stop("changing")
    assert host.status("changing").state is ServerState.STOPPED
