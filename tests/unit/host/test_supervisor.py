"""One server through all its lives, with a scripted server at the other end."""

import asyncio
import math

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.conftest import until
from tests.unit.host.scripted import Script
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerState, StopReason
from tui.host.host_context import HostContext
from tui.host.supervisor import Supervisor

STOPPED, RUNNING = ServerState.STOPPED, ServerState.RUNNING


class TestClock:
    """Time that passes when it is told to."""

    __test__ = False

    def __init__(self):
        self.now = 0
        self.naps = []

    def now_ns(self):
        return self.now

    async def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += math.ceil(seconds * 1e9)
        await asyncio.sleep(0)


def supervisor(script, clock=None, seen=lambda: None, **spec):
    around = HostContext(
        sink=lambda *_: None,
        clock=clock or TestClock(),
        redactor=Redactor({"TOKEN": "last words"}),
        owner="test",
        grace=None,
        changed=lambda name: seen(),
        open=script.open,
    )
    return Supervisor(ServerSpec("srv", "x", **spec), around)


@pytest.fixture
def script():
    return Script()


async def test_a_start_ends_in_running_with_protocol_title_and_tools(script):
    server = supervisor(script)
    await server.start()
    found = server.status
    assert (found.state, found.protocol, found.title, found.tools) == (RUNNING, "2025-11-25", "scripted", 1)
    assert found.pid == 1001
    await server.close()


class Gate:
    """Consent as the test says."""

    def __init__(self, yes=False, allowed=False):
        self.yes, self.allowed = yes, allowed
        self.asked, self.withdrawn = 0, []

    def allows(self, spec):
        return self.allowed

    async def ask(self, spec):
        self.asked += 1
        self.allowed = self.yes
        return self.yes

    def withdraw(self, server):
        self.withdrawn.append(server)


def guarded(script, gate, **spec):
    server = supervisor(script, source="the file /tmp/mcp.json", **spec)
    server._around.consent = gate
    return server


async def test_without_consent_nothing_is_spawned_and_the_status_says_why(script):
    server = guarded(script, Gate())
    await server.start()
    assert (server.state, server.status.reason, script.spawned) == (STOPPED, StopReason.NEEDS_CONSENT, 0)
    assert "/tmp/mcp.json" in server.status.detail
    await server.close()


async def test_after_a_yes_it_starts_and_is_not_asked_again(script):
    gate = Gate(yes=True)
    server = guarded(script, gate)
    await server.start()
    await server.restart()
    assert (server.state, gate.asked, script.spawned) == (RUNNING, 1, 2)
    await server.close()
    assert gate.withdrawn == ["srv"]


async def test_a_start_that_passes_the_question_by_still_spawns_nothing(script):
    server = guarded(script, Gate())
    server._begin()
    await until(lambda: server.state is STOPPED and server._lives)
    assert (server.status.reason, script.spawned) == (StopReason.NEEDS_CONSENT, 0)
    await server.close()


async def test_a_second_start_changes_nothing(script):
    server = supervisor(script)
    await asyncio.gather(server.start(), server.start())
    await server.start()
    assert script.spawned == 1
    await server.close()


async def test_a_stop_has_the_reason_requested(script):
    server = supervisor(script)
    await server.start()
    await server.stop()
    assert (server.state, server.status.reason, script.alive) == (STOPPED, StopReason.REQUESTED, [])
    await server.close()


async def test_a_stop_of_a_stopped_server_returns_at_once(script):
    server = supervisor(script)
    await server.stop()
    assert server.status.reason is StopReason.NOT_STARTED


async def test_a_start_while_it_stops_is_queued(script):
    script.stop_seconds = 0.05
    server = supervisor(script)
    await server.start()
    stopping = asyncio.create_task(server.stop())
    await until(lambda: server.state is ServerState.STOPPING)
    await server.start()
    assert (server.state, script.spawned) == (RUNNING, 2)
    await stopping
    await server.close()


async def test_a_stop_while_it_starts_ends_the_start(script):
    script.silent = True
    server = supervisor(script)
    starting = asyncio.create_task(server.start())
    await until(lambda: script.spawned == 1)
    await server.stop()
    await starting
    assert (server.state, server.status.reason) == (STOPPED, StopReason.REQUESTED)
    await server.close()


async def test_a_stop_before_the_process_is_there_starts_none(script):
    server = supervisor(script)
    starting = asyncio.create_task(server.start())
    await asyncio.sleep(0)
    await asyncio.gather(starting, server.stop())
    assert (server.state, script.alive) == (STOPPED, [])
    await server.close()


async def test_a_restart_is_a_new_process(script):
    server = supervisor(script)
    await server.start()
    await server.restart()
    assert (server.state, script.spawned, script.most_alive) == (RUNNING, 2, 1)
    await server.close()


async def test_a_restart_of_a_stopped_server_starts_it(script):
    server = supervisor(script)
    await server.restart()
    assert server.state is RUNNING
    await server.close()


async def test_a_death_is_seen_and_named(script):
    server = supervisor(script)
    await server.start()
    script.kill(code=3)
    await until(lambda: server.state is STOPPED)
    found = server.status
    assert (found.reason, found.exit_code) == (StopReason.CRASHED, 3)
    assert found.detail == "exited with code 3 after 0.1 s. The next call starts it again."
    await server.close()


async def test_a_clean_exit_is_not_a_crash(script):
    server = supervisor(script)
    await server.start()
    script.kill(code=0)
    await until(lambda: server.state is STOPPED)
    assert server.status.reason is StopReason.EXITED
    await server.close()


async def died(script, **spec):
    server = supervisor(script, **spec)
    await server.start()
    script.kill()
    await until(lambda: server.state is STOPPED)
    return server


async def test_a_dead_server_stays_dead_until_a_call_needs_it_and_keeps_its_tools(script):
    server = await died(script)
    assert (script.spawned, server.is_reviving) == (1, True)
    assert [tool.name for tool in server.offered] == ["echo"]
    await asyncio.gather(server.revive(), server.revive())
    assert (server.state, script.spawned, server.status.restarts) == (RUNNING, 2, 1)
    await server.close()


async def test_a_call_waits_longer_after_each_death(script):
    clock = TestClock()
    server = await died(script, clock=clock)
    for _ in range(3):
        await server.revive()
        script.kill()
        await until(lambda: server.state is STOPPED)
    assert len(clock.naps) == 3
    assert all(0.8 <= nap / delay <= 1.2 for nap, delay in zip(clock.naps, (1, 2, 4), strict=True))
    await server.close()


async def test_a_call_long_after_the_death_waits_for_nothing(script):
    clock = TestClock()
    server = await died(script, clock=clock)
    clock.now += 2_000_000_000
    await server.revive()
    assert (server.state, clock.naps) == (RUNNING, [])
    await server.close()


async def test_after_five_deaths_only_the_person_starts_it(script):
    server = await died(script)
    for _ in range(4):
        await server.revive()
        script.kill()
        await until(lambda: server.state is STOPPED)
    assert (server.status.reason, server.is_reviving) == (StopReason.CRASH_LOOP, False)
    await server.revive()
    assert script.spawned == 5
    await server.start()
    assert server.state is RUNNING
    await server.close()


async def test_a_call_tries_to_start_it_once_and_the_next_call_tries_again(script):
    server = await died(script)
    script.missing = True
    await server.revive()
    assert server.status.reason is StopReason.FAILED_TO_START
    assert "was not found on PATH" in server.status.detail
    script.missing = False
    await server.revive()
    assert server.state is RUNNING
    await server.close()


async def test_a_dead_server_that_the_person_stops_is_not_started_by_a_call(script):
    server = await died(script)
    await server.stop()
    await server.revive()
    assert (script.spawned, server.is_reviving) == (1, False)
    assert "next call" not in server.status.detail
    await server.close()


async def test_a_call_that_waits_does_not_hold_up_the_end(script):
    class Patient(TestClock):
        async def sleep(self, seconds):
            await asyncio.sleep(3600)

    server = await died(script, clock=Patient())
    waiting = asyncio.create_task(server.revive())
    await asyncio.sleep(0)
    await server.close()
    await waiting
    assert script.spawned == 1


async def test_a_server_to_be_restarted_comes_back_after_a_second(script):
    clock = TestClock()
    server = supervisor(script, clock, restart=True)
    await server.start()
    script.kill()
    await until(lambda: script.spawned == 2 and server.state is RUNNING)
    [nap] = clock.naps
    assert 0.8 <= nap <= 1.2
    assert server.status.restarts == 1
    await server.close()


async def test_five_deaths_in_a_row_are_a_crash_loop(script):
    server = supervisor(script, restart=True)
    await server.start()
    for lives in range(1, 6):
        await until(lambda wanted=lives: script.spawned == wanted and server.state is RUNNING)
        script.kill()
    await until(lambda: server.status.reason is StopReason.CRASH_LOOP)
    assert script.spawned == 5
    await server.start()
    assert server.state is RUNNING
    await server.close()


async def test_a_restart_that_does_not_start_counts_as_a_death(script):
    server = supervisor(script, restart=True)
    await server.start()
    script.missing = True
    script.kill()
    await until(lambda: server.status.reason is StopReason.CRASH_LOOP)
    assert "was not found on PATH" in server.status.detail
    assert server.status.restarts == 4
    await server.close()


async def test_a_first_start_that_fails_is_not_tried_again(script):
    script.missing = True
    server = supervisor(script, restart=True)
    await server.start()
    assert (server.status.reason, server.status.restarts) == (StopReason.FAILED_TO_START, 0)
    await server.close()


async def test_a_stop_ends_the_waiting_for_a_restart(script):
    class Patient(TestClock):
        async def sleep(self, seconds):
            await asyncio.sleep(3600)

    server = supervisor(script, Patient(), restart=True)
    await server.start()
    script.kill()
    await until(lambda: "Restarting in" in server.status.detail)
    await server.stop()
    await until(lambda: "Restarting in" not in server.status.detail)
    assert script.spawned == 1
    await server.close()


async def test_a_start_that_takes_too_long_says_what_was_waited_for(script):
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
async def test_a_start_that_an_internal_error_ends_is_tried_once_more(script, place):
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


async def test_a_start_that_internal_errors_end_twice_has_failed(script):
    script.defects = {"handshake": [KeyError("first"), KeyError("second")]}
    server = supervisor(script)
    await server.start()
    found = server.status
    assert (found.reason, script.spawned) == (StopReason.FAILED_TO_START, 2)
    assert found.detail == "internal error in mcptui (KeyError: 'second'). See mcptui.log for the traceback."
    await server.close()


async def test_a_stop_after_an_internal_error_prevents_the_second_try(script):
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


async def test_a_closed_server_starts_no_more(script):
    server = supervisor(script)
    await server.close()
    await server.start()
    assert (server.state, script.spawned) == (STOPPED, 0)


class Lives(RuleBasedStateMachine):
    """Whatever is asked in whatever order: one process at most, and a stop always ends."""

    eager = True

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.script = Script()
        self.clock = TestClock()
        self.tasks = []
        self.starts = 0
        self.deaths = 0
        self.was_silent = False

        async def made():
            return supervisor(self.script, self.clock, restart=self.eager, start_seconds=30)

        self.server = self.loop.run_until_complete(made())

    def ask(self, coroutine):
        self.tasks.append(self.loop.create_task(coroutine))

    @rule()
    def start(self):
        self.starts += 1
        self.ask(self.server.start())

    @rule()
    def call(self):
        self.ask(self.server.revive())

    @rule()
    def stop(self):
        self.ask(self.server.stop())

    @rule()
    def restart(self):
        self.starts += 1
        self.ask(self.server.restart())

    @initialize()
    def begin(self):
        self.start()
        self.settle()

    @rule(steps=st.integers(1, 60))
    def let_a_moment_pass(self, steps):
        async def passing():
            for _ in range(steps):
                await asyncio.sleep(0)

        self.loop.run_until_complete(passing())

    @rule()
    def settle(self):
        async def settling():
            await asyncio.sleep(0)
            # A request that was not answered then waits for its limit of seconds.
            resting = tuple(ServerState) if self.was_silent else (RUNNING, STOPPED)
            await until(lambda: self.server.state in resting)

        self.loop.run_until_complete(settling())

    @rule(code=st.sampled_from([0, 1, 17]))
    def die(self, code):
        # No precondition: whether it lives at this moment is a matter of threads, not of the example.
        if self.script.alive:
            self.deaths += 1
            self.script.kill(code)

    @rule(silent=st.booleans())
    def hang(self, silent):
        self.script.silent = silent
        self.was_silent = self.was_silent or silent

    @rule(missing=st.booleans())
    def be_missing(self, missing):
        self.script.missing = missing

    @invariant()
    def one_process_at_most(self):
        assert self.script.most_alive <= 1

    @invariant()
    def stopped_means_no_process(self):
        assert self.server.state is not STOPPED or not self.script.alive

    def teardown(self):
        async def quitting():
            async with asyncio.timeout(10):
                await self.server.close()
                await asyncio.gather(*self.tasks)

        self.loop.run_until_complete(quitting())
        assert self.server.state is STOPPED
        assert self.script.alive == []
        assert self.script.spawned <= 2 * (self.starts + self.deaths)
        assert asyncio.all_tasks(self.loop) == set()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


class LivesByCall(Lives):
    """The same for a server that only calls start again."""

    eager = False


Lives.TestCase.settings = LivesByCall.TestCase.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLives = Lives.TestCase
TestLivesByCall = LivesByCall.TestCase
