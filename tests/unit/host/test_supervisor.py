"""One server that starts, stops and fails to start, with a scripted transport."""

import asyncio

import pytest

from tests.conftest import until
from tests.unit.host.scripted import Script
from tests.unit.host.supervised import RUNNING, STOPPED, supervisor
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerState, StopReason
from tui.host.host_context import Answerers


@pytest.fixture
def script():
    return Script()


async def test_a_started_server_is_running_with_its_protocol_title_and_tools(script):
    server = supervisor(script)
    await server.start()
    found = server.status
    assert (found.state, found.protocol, found.title, found.tools) == (RUNNING, "2025-11-25", "scripted", 1)
    assert found.pid == 1001
    await server.close()


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


def guarded(script, gate, **spec):
    server = supervisor(script, source="the file /tmp/mcp.json", **spec)
    server._around.answerers = Answerers(consent=gate)
    return server


async def test_without_consent_nothing_is_spawned_and_the_status_says_why(script):
    server = guarded(script, Gate())
    await server.start()
    assert (server.state, server.status.reason, script.spawned) == (STOPPED, StopReason.NEEDS_CONSENT, 0)
    assert "/tmp/mcp.json" in server.status.detail
    await server.close()


async def test_with_consent_the_server_starts_and_the_question_is_not_repeated(script):
    gate = Gate(yes=True)
    server = guarded(script, gate)
    await server.start()
    await server.restart()
    assert (server.state, gate.asked, script.spawned) == (RUNNING, 1, 2)
    await server.close()
    assert gate.withdrawn == ["srv"]


async def test_a_start_that_bypasses_the_question_spawns_nothing(script):
    server = guarded(script, Gate())
    server._begin()
    await until(lambda: server.state is STOPPED and server._lives)
    assert (server.status.reason, script.spawned) == (StopReason.NEEDS_CONSENT, 0)
    await server.close()


async def test_a_second_start_has_no_effect(script):
    server = supervisor(script)
    await asyncio.gather(server.start(), server.start())
    await server.start()
    assert script.spawned == 1
    await server.close()


async def test_a_requested_stop_has_the_reason_requested(script):
    server = supervisor(script)
    await server.start()
    await server.stop()
    assert (server.state, server.status.reason, script.alive) == (STOPPED, StopReason.REQUESTED, [])
    await server.close()


async def test_stopping_a_stopped_server_returns_at_once(script):
    server = supervisor(script)
    await server.stop()
    assert server.status.reason is StopReason.NOT_STARTED


async def test_a_start_during_a_stop_is_queued(script):
    script.stop_seconds = 0.05
    server = supervisor(script)
    await server.start()
    stopping = asyncio.create_task(server.stop())
    await until(lambda: server.state is ServerState.STOPPING)
    await server.start()
    assert (server.state, script.spawned) == (RUNNING, 2)
    await stopping
    await server.close()


async def test_a_stop_during_a_start_ends_the_start(script):
    script.silent = True
    server = supervisor(script)
    starting = asyncio.create_task(server.start())
    await until(lambda: script.spawned == 1)
    await server.stop()
    await starting
    assert (server.state, server.status.reason) == (STOPPED, StopReason.REQUESTED)
    await server.close()


async def test_a_stop_before_the_process_exists_leaves_none_running(script):
    server = supervisor(script)
    starting = asyncio.create_task(server.start())
    await asyncio.sleep(0)
    await asyncio.gather(starting, server.stop())
    assert (server.state, script.alive) == (STOPPED, [])
    await server.close()


async def test_a_restart_spawns_a_new_process(script):
    server = supervisor(script)
    await server.start()
    await server.restart()
    assert (server.state, script.spawned, script.most_alive) == (RUNNING, 2, 1)
    await server.close()


async def test_restarting_a_stopped_server_starts_it(script):
    server = supervisor(script)
    await server.restart()
    assert server.state is RUNNING
    await server.close()


async def test_a_start_that_times_out_names_the_missing_response(script):
    script.silent = True
    server = supervisor(script, start_seconds=0.05)
    await server.start()
    assert server.status.reason is StopReason.FAILED_TO_START
    assert "no response to initialize within 0.05 s" in server.status.detail
    await server.close()


async def test_a_command_that_cannot_be_run_fails_with_a_next_step(script):
    script.missing = True
    server = supervisor(script)
    await server.start()
    found = server.status
    assert (found.reason, found.next_step) == (StopReason.FAILED_TO_START, "Check its command.")
    assert found.detail == "`x` was not found on PATH."
    await server.close()


@pytest.mark.parametrize("place", ["open", "spawn", "handshake"])
async def test_a_start_that_fails_with_an_internal_error_is_retried_once(script, place):
    script.defects = {place: [KeyError("mcp.client._probe")]}
    states = []
    server = supervisor(script, seen=lambda: states.append(server.state))
    await server.start()
    assert (server.state, script.most_alive) == (RUNNING, 1)
    assert states == [ServerState.STARTING, RUNNING]
    await server.close()


async def test_an_internal_error_is_logged_with_its_traceback(script, caplog):
    script.defects = {"handshake": [KeyError("mcp.client._probe")]}
    server = supervisor(script)
    await server.start()
    [record] = caplog.records
    assert record.getMessage() == "srv failed to start with an internal error"
    assert "KeyError: 'mcp.client._probe'" in record.exc_text and "break_at" in record.exc_text
    await server.close()


async def test_a_start_with_two_internal_errors_fails(script):
    script.defects = {"handshake": [KeyError("first"), KeyError("second")]}
    server = supervisor(script)
    await server.start()
    found = server.status
    assert (found.reason, script.spawned) == (StopReason.FAILED_TO_START, 2)
    assert found.detail == "internal error in mcptui (KeyError: 'second'). See mcptui.log for the traceback."
    await server.close()


async def test_a_stop_after_an_internal_error_prevents_the_retry(script):
    script.defects = {"spawn": [KeyError("first")]}
    server = supervisor(script)
    stops = []
    script.on_defect = lambda: stops.append(asyncio.create_task(server.stop()))
    await server.start()
    await asyncio.gather(*stops)
    assert (server.status.reason, script.spawned) == (StopReason.REQUESTED, 0)
    await server.close()


async def test_an_error_caused_by_a_server_is_not_an_internal_error(script, caplog):
    script.missing = True
    server = supervisor(script)
    await server.start()
    assert caplog.records == []
    await server.close()


async def test_secrets_do_not_reach_the_status_or_the_log(script):
    server = supervisor(script)
    await server.start()
    assert server.status.stderr_last == "[redacted:TOKEN]"
    assert server.stderr() == ("first words", "[redacted:TOKEN]")
    await server.close()


async def test_a_secret_that_is_learned_later_is_redacted_in_the_status_too(script):
    redactor = Redactor({})
    server = supervisor(script, redactor=redactor)
    await server.start()
    before = server.status.stderr_last
    redactor.add({"TOKEN": "last words"})
    assert (before, server.status.stderr_last) == ("last words", "[redacted:TOKEN]")
    await server.close()


async def test_a_closed_server_cannot_be_started(script):
    server = supervisor(script)
    await server.close()
    await server.start()
    assert (server.state, script.spawned) == (STOPPED, 0)
