"""All servers together: addressed by name, started in parallel, shut down."""

import asyncio
import subprocess
import sys

import pytest

from tests.conftest import until
from tests.hosts import host_of
from tests.unit.host.scripted import Script
from tui.core.errors import UsageError
from tui.core.permission.consent import ConsentGate
from tui.core.servers import ServerSpec, ServerState, StopReason
from tui.host.server.host_context import Answerers


@pytest.fixture
async def host():
    """Makes a host, which is shut down in the end."""
    hosts = []

    def make(*specs, script=None, **more):
        opening = (script or Script()).open
        hosts.append(host_of(*specs, open_with=opening, **more))
        return hosts[-1]

    yield make
    for one in hosts:
        await one.shutdown()


def states(one):
    return [status.state for status in one.statuses()]


A, B, LATER = ServerSpec("a", "x"), ServerSpec("b", "x"), ServerSpec("later", "x", autostart=False)


@pytest.mark.parametrize("named", [False, True])
async def test_servers_configured_to_start_with_the_app_are_started_or_those_that_are_named(host, named):
    one = host(A, LATER)
    await one.start_all(["later"] if named else None)
    expected = [ServerState.RUNNING, ServerState.STOPPED]
    assert states(one) == (expected[::-1] if named else expected)


class Refused(ConsentGate):
    """The person said no to the server "a"."""

    def refuses(self, spec):
        return spec.name == "a"


async def test_a_server_without_consent_is_started_only_by_name(host):
    one = host(A, B, answerers=Answerers(consent=Refused()))
    await one.start_all()
    assert states(one) == [ServerState.STOPPED, ServerState.RUNNING]
    assert one.status("a").reason is StopReason.NEEDS_CONSENT
    assert "you declined it" in one.status("a").detail and one.status("a").next_step
    await one.start("a")
    assert states(one) == [ServerState.RUNNING, ServerState.RUNNING]


async def test_an_unknown_name_is_a_usage_error_that_lists_the_known_ones(host):
    one = host(A, B)
    with pytest.raises(UsageError, match=r"server “c” not found.*a, b"):
        await one.start_all(["a", "c"])
    assert states(one) == [ServerState.STOPPED, ServerState.STOPPED]


async def test_the_tools_of_running_servers_come_in_configured_order(host):
    one = host(B, A, LATER)
    await one.start_all()
    assert [tool.server for tool in one.toolbox.tools()] == ["b", "a"]
    await one.stop("b")
    assert [tool.server for tool in one.toolbox.tools()] == ["a"]


async def test_every_change_increments_the_revision_and_is_reported_by_name(host):
    told = []
    one = host(A)
    one.on_change = told.append
    before = one.revision
    await one.start("a")
    assert one.revision > before
    assert set(told) == {"a"}


async def test_request_methods_return_at_once_and_are_carried_out(host):
    one = host(A)
    one.request_start("a")
    assert states(one) == [ServerState.STOPPED]
    await until(lambda: states(one) == [ServerState.RUNNING])
    one.request_restart("a")
    one.request_stop("a")
    await until(lambda: states(one) == [ServerState.STOPPED])


async def test_a_name_of_a_screen_may_be_that_of_a_removed_server(caplog, host):
    one = host(A)
    await one.start("a")
    assert (found := one.find("a")) is not None and found.state is ServerState.RUNNING
    one.request_restart("a")
    await one.remove("a")
    assert (one.find("a"), one.stderr("a")) == (None, ())
    one.request_start("a")
    one.request_stop("a")
    one.request_restart("a")
    one.review_changes("a")
    await one.shutdown()
    assert not caplog.records


async def test_servers_stop_in_parallel(host):
    script = Script(stop_seconds=1.0)
    one = host(*(ServerSpec(f"s{number}", "x") for number in range(8)), script=script)
    await one.start_all()
    async with asyncio.timeout(6):
        await one.shutdown()
    assert script.alive == []


def test_the_host_can_be_imported_without_the_sdk():
    code = (
        "import sys, tui.host.host;"
        "print([name for name in ('mcp', 'mcp_types', 'pydantic', 'jsonschema', 'anyio', 'httpx2')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_a_server_can_be_added_replaced_and_removed_while_others_run(host):
    one = host(A)
    await one.start_all()
    one.add(B)
    await one.start("b")
    with pytest.raises(UsageError, match="already"):
        one.add(B)
    await one.replace(ServerSpec("a", "y"))
    assert [(status.name, status.spec.command) for status in one.statuses()] == [("a", "y"), ("b", "x")]
    assert states(one) == [ServerState.STOPPED, ServerState.RUNNING]
    await one.remove("b")
    assert [status.name for status in one.statuses()] == ["a"]
    assert not one.toolbox.tools()


async def test_a_disabled_server_is_listed_and_never_starts(host):
    one = host(ServerSpec("off", "x", disabled=True))
    await one.start_all()
    await one.restart("off")
    assert (states(one), one.status("off").reason) == ([ServerState.STOPPED], StopReason.DISABLED)
