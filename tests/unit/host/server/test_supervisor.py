"""One server that starts, stops and fails to start, with a scripted transport."""

import asyncio

import pytest

from tests.conftest import until
from tests.unit.host.scripted import Script
from tests.unit.host.supervised import RUNNING, STOPPED, TestClock, supervisor
from tui.core.servers import ServerState, StopReason
from tui.core.web import Reach
from tui.host.server.host_context import Answerers


@pytest.fixture
def script():
    return Script()


@pytest.fixture
async def made(script):
    """Makes a server of the script, which is closed in the end."""
    servers = []

    def make(*clock, **spec):
        servers.append(supervisor(script, *clock, **spec))
        return servers[-1]

    yield make
    for server in servers:
        await server.close()


@pytest.fixture
async def started(made):
    """Makes a server and starts it."""

    async def start(*clock, **spec):
        server = made(*clock, **spec)
        await server.start()
        return server

    return start


async def test_a_started_server_is_running_with_its_protocol_title_and_tools(started):
    server = await started()
    found = server.status
    assert (found.state, found.protocol, found.title, found.tools) == (RUNNING, "2025-11-25", "scripted", 1)
    assert found.pid == 1001


class Gate:
    """Consent as the test decides."""

    def __init__(self, yes=False, allowed=False):
        self.yes, self.allowed = yes, allowed
        self.asked, self.withdrawn = 0, []

    def allows(self, spec):
        return self.allowed

    def refuses(self, spec):
        return False

    async def ask(self, spec):
        self.asked += 1
        self.allowed = self.yes
        return self.yes

    def withdraw(self, server):
        self.withdrawn.append(server)


@pytest.fixture
def guarded(made):
    """Makes a server that starts only with the consent of a gate."""

    def make(gate):
        server = made(source="the file /tmp/mcp.json")
        server._around.answerers = Answerers(consent=gate)
        return server

    return make


async def test_without_consent_nothing_is_spawned_and_the_status_says_why(script, guarded):
    server = guarded(Gate())
    await server.start()
    assert (server.state, server.status.reason, script.spawned) == (STOPPED, StopReason.NEEDS_CONSENT, 0)
    assert "/tmp/mcp.json" in server.status.detail


async def test_with_consent_the_server_starts_and_the_question_is_not_repeated(script, guarded):
    gate = Gate(yes=True)
    server = guarded(gate)
    await server.start()
    await server.restart()
    assert (server.state, gate.asked, script.spawned) == (RUNNING, 1, 2)
    await server.close()
    assert gate.withdrawn == ["srv"]


async def test_a_start_that_bypasses_the_question_spawns_nothing(script, guarded):
    server = guarded(Gate())
    server._begin()
    await until(lambda: server.state is STOPPED and server._lives)
    assert (server.status.reason, script.spawned) == (StopReason.NEEDS_CONSENT, 0)


async def test_a_requested_stop_has_the_reason_requested(script, started):
    server = await started()
    await server.stop()
    assert (server.state, server.status.reason, script.alive) == (STOPPED, StopReason.REQUESTED, [])


async def test_a_start_during_a_stop_is_queued(script, started):
    script.stop_seconds = 0.05
    server = await started()
    stopping = asyncio.create_task(server.stop())
    await until(lambda: server.state is ServerState.STOPPING)
    await server.start()
    assert (server.state, script.spawned) == (RUNNING, 2)
    await stopping


async def test_a_stop_during_a_start_ends_the_start(script, made):
    script.silent = True
    server = made()
    starting = asyncio.create_task(server.start())
    await until(lambda: script.spawned == 1)
    await server.stop()
    await starting
    assert (server.state, server.status.reason) == (STOPPED, StopReason.REQUESTED)


async def test_restarting_a_stopped_server_starts_it(made):
    server = made()
    await server.restart()
    assert server.state is RUNNING


async def test_a_start_that_times_out_names_the_missing_response(script, started):
    script.silent = True
    server = await started(start_seconds=0.05)
    assert server.status.reason is StopReason.FAILED_TO_START
    assert "no response to initialize within 0.05 s" in server.status.detail


async def test_a_command_that_cannot_be_run_fails_with_a_next_step(script, started):
    script.missing = True
    server = await started()
    found = server.status
    assert (found.reason, found.next_step) == (StopReason.FAILED_TO_START, "Check its command.")
    assert found.detail == "`x` was not found on PATH."


@pytest.mark.parametrize("place", ["open", "spawn", "handshake"])
async def test_a_start_that_fails_with_an_internal_error_is_retried_once(script, place, made):
    script.defects = {place: [KeyError("mcp.client._probe")]}
    states = []
    server = made(seen=lambda: states.append(server.state))
    await server.start()
    assert (server.state, script.most_alive) == (RUNNING, 1)
    assert states == [ServerState.STARTING, RUNNING]


async def test_an_internal_error_is_logged_with_its_traceback(script, caplog, started):
    script.defects = {"handshake": [KeyError("mcp.client._probe")]}
    await started()
    [record] = caplog.records
    assert record.getMessage() == "srv failed to start with an internal error"
    assert "KeyError: 'mcp.client._probe'" in record.exc_text and "break_at" in record.exc_text


async def test_a_start_with_two_internal_errors_fails(script, started):
    script.defects = {"handshake": [KeyError("first"), KeyError("second")]}
    server = await started()
    found = server.status
    assert (found.reason, script.spawned) == (StopReason.FAILED_TO_START, 2)
    assert found.detail == "internal error in mcptui (KeyError: 'second'). See mcptui.log for the traceback."


async def test_a_stop_after_an_internal_error_prevents_the_retry(script, made):
    script.defects = {"spawn": [KeyError("first")]}
    server = made()
    stops = []
    script.on_defect = lambda: stops.append(asyncio.create_task(server.stop()))
    await server.start()
    await asyncio.gather(*stops)
    assert (server.status.reason, script.spawned) == (StopReason.REQUESTED, 0)


async def test_an_error_caused_by_a_server_is_not_an_internal_error(script, caplog, started):
    script.missing = True
    await started()
    assert caplog.records == []


async def test_secrets_do_not_reach_the_status_or_the_log(started, made):
    server = await started(args=("--to", "last words"))
    server.connection.transport.reach = Reach("https://h/last words", problem="no last words")
    found = server.status
    assert (found.launch, found.stderr_last) == ("x --to [redacted:TOKEN]", "[redacted:TOKEN]")
    assert found.reach == Reach("https://h/[redacted:TOKEN]", problem="no [redacted:TOKEN]")
    assert server.stderr() == ("first words", "[redacted:TOKEN]")
    listed = made(url="https://h/last%20words", problem="last words is no port").status
    assert (listed.launch, listed.detail) == ("https://h/[redacted:TOKEN]", "[redacted:TOKEN] is no port")


async def test_a_closed_server_cannot_be_started(script, made):
    server = made()
    await server.close()
    await server.start()
    assert (server.state, script.spawned) == (STOPPED, 0)


# ---- what restarts a crashed server, when, and how often ---------------------------------------------------


async def test_a_crash_is_detected_and_described(script, started):
    server = await started()
    script.kill(code=3)
    await until(lambda: server.state is STOPPED)
    found = server.status
    assert (found.reason, found.exit_code) == (StopReason.CRASHED, 3)
    assert found.detail == "exited with code 3 after 0.1 s. The next call starts it again."


async def test_a_clean_exit_is_not_a_crash(script, started):
    server = await started()
    script.kill(code=0)
    await until(lambda: server.state is STOPPED)
    assert server.status.reason is StopReason.EXITED


@pytest.fixture
async def died(script, started):
    """Makes a server, starts it, and lets it crash."""

    async def die(**spec):
        server = await started(**spec)
        script.kill()
        await until(lambda: server.state is STOPPED)
        return server

    return die


async def test_a_crashed_server_remains_stopped_until_a_call_needs_it_and_keeps_its_tools(script, died):
    server = await died()
    assert (script.spawned, server.is_reviving) == (1, True)
    assert [tool.name for tool in server.offered] == ["echo"]
    await asyncio.gather(server.revive(), server.revive())
    assert (server.state, script.spawned, server.status.restarts) == (RUNNING, 2, 1)


async def test_a_call_waits_longer_after_each_crash(script, died):
    clock = TestClock()
    server = await died(clock=clock)
    for _ in range(3):
        await server.revive()
        script.kill()
        await until(lambda: server.state is STOPPED)
    assert len(clock.naps) == 3
    assert all(0.8 <= nap / delay <= 1.2 for nap, delay in zip(clock.naps, (1, 2, 4), strict=True))


async def test_a_call_long_after_a_crash_does_not_wait(died):
    clock = TestClock()
    server = await died(clock=clock)
    clock.now += 2_000_000_000
    await server.revive()
    assert (server.state, clock.naps) == (RUNNING, [])


async def test_after_five_crashes_only_the_person_can_start_the_server(script, died):
    server = await died()
    for _ in range(4):
        await server.revive()
        script.kill()
        await until(lambda: server.state is STOPPED)
    assert (server.status.reason, server.is_reviving) == (StopReason.CRASH_LOOP, False)
    await server.revive()
    assert script.spawned == 5
    await server.start()
    assert server.state is RUNNING


async def test_each_call_tries_to_start_a_crashed_server_once(script, died):
    server = await died()
    script.missing = True
    await server.revive()
    assert server.status.reason is StopReason.FAILED_TO_START
    assert "was not found on PATH" in server.status.detail
    script.missing = False
    await server.revive()
    assert server.state is RUNNING


async def test_a_crashed_server_that_the_person_stopped_is_not_started_by_a_call(script, died):
    server = await died()
    await server.stop()
    await server.revive()
    assert (script.spawned, server.is_reviving) == (1, False)
    assert "next call" not in server.status.detail


async def test_a_waiting_call_does_not_delay_closing(script, died):
    class Patient(TestClock):
        async def sleep(self, seconds):
            await asyncio.sleep(3600)

    server = await died(clock=Patient())
    waiting = asyncio.create_task(server.revive())
    await asyncio.sleep(0)
    await server.close()
    await waiting
    assert script.spawned == 1


async def test_with_restart_enabled_a_crashed_server_restarts_after_about_a_second(script, started):
    clock = TestClock()
    server = await started(clock, restart=True)
    script.kill()
    await until(lambda: script.spawned == 2 and server.state is RUNNING)
    [nap] = clock.naps
    assert 0.8 <= nap <= 1.2
    assert server.status.restarts == 1


async def test_a_failed_restart_counts_as_a_crash(script, started):
    server = await started(restart=True)
    script.missing = True
    script.kill()
    await until(lambda: server.status.reason is StopReason.CRASH_LOOP)
    assert "was not found on PATH" in server.status.detail
    assert server.status.restarts == 4


async def test_a_failed_first_start_is_not_retried(script, started):
    script.missing = True
    server = await started(restart=True)
    assert (server.status.reason, server.status.restarts) == (StopReason.FAILED_TO_START, 0)


async def test_a_stop_cancels_a_pending_restart(script, started):
    class Patient(TestClock):
        async def sleep(self, seconds):
            await asyncio.sleep(3600)

    server = await started(Patient(), restart=True)
    script.kill()
    await until(lambda: "Restarting in" in server.status.detail)
    await server.stop()
    await until(lambda: "Restarting in" not in server.status.detail)
    assert script.spawned == 1
