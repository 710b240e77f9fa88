"""A crashed server: what restarts it, when, and how often."""

import asyncio

import pytest

from tests.conftest import until
from tests.unit.host.scripted import Script
from tests.unit.host.supervised import RUNNING, STOPPED, TestClock, supervisor
from tui.core.servers import StopReason


@pytest.fixture
def script():
    return Script()


async def test_a_crash_is_detected_and_described(script):
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


async def test_a_crashed_server_remains_stopped_until_a_call_needs_it_and_keeps_its_tools(script):
    server = await died(script)
    assert (script.spawned, server.is_reviving) == (1, True)
    assert [tool.name for tool in server.offered] == ["echo"]
    await asyncio.gather(server.revive(), server.revive())
    assert (server.state, script.spawned, server.status.restarts) == (RUNNING, 2, 1)
    await server.close()


async def test_a_call_waits_longer_after_each_crash(script):
    clock = TestClock()
    server = await died(script, clock=clock)
    for _ in range(3):
        await server.revive()
        script.kill()
        await until(lambda: server.state is STOPPED)
    assert len(clock.naps) == 3
    assert all(0.8 <= nap / delay <= 1.2 for nap, delay in zip(clock.naps, (1, 2, 4), strict=True))
    await server.close()


async def test_a_call_long_after_a_crash_does_not_wait(script):
    clock = TestClock()
    server = await died(script, clock=clock)
    clock.now += 2_000_000_000
    await server.revive()
    assert (server.state, clock.naps) == (RUNNING, [])
    await server.close()


async def test_after_five_crashes_only_the_person_can_start_the_server(script):
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


async def test_each_call_tries_to_start_a_crashed_server_once(script):
    server = await died(script)
    script.missing = True
    await server.revive()
    assert server.status.reason is StopReason.FAILED_TO_START
    assert "was not found on PATH" in server.status.detail
    script.missing = False
    await server.revive()
    assert server.state is RUNNING
    await server.close()


async def test_a_crashed_server_that_the_person_stopped_is_not_started_by_a_call(script):
    server = await died(script)
    await server.stop()
    await server.revive()
    assert (script.spawned, server.is_reviving) == (1, False)
    assert "next call" not in server.status.detail
    await server.close()


async def test_a_waiting_call_does_not_delay_closing(script):
    class Patient(TestClock):
        async def sleep(self, seconds):
            await asyncio.sleep(3600)

    server = await died(script, clock=Patient())
    waiting = asyncio.create_task(server.revive())
    await asyncio.sleep(0)
    await server.close()
    await waiting
    assert script.spawned == 1


async def test_with_restart_enabled_a_crashed_server_restarts_after_about_a_second(script):
    clock = TestClock()
    server = supervisor(script, clock, restart=True)
    await server.start()
    script.kill()
    await until(lambda: script.spawned == 2 and server.state is RUNNING)
    [nap] = clock.naps
    assert 0.8 <= nap <= 1.2
    assert server.status.restarts == 1
    await server.close()


async def test_five_crashes_in_a_row_are_a_crash_loop(script):
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


async def test_a_failed_restart_counts_as_a_crash(script):
    server = supervisor(script, restart=True)
    await server.start()
    script.missing = True
    script.kill()
    await until(lambda: server.status.reason is StopReason.CRASH_LOOP)
    assert "was not found on PATH" in server.status.detail
    assert server.status.restarts == 4
    await server.close()


async def test_a_failed_first_start_is_not_retried(script):
    script.missing = True
    server = supervisor(script, restart=True)
    await server.start()
    assert (server.status.reason, server.status.restarts) == (StopReason.FAILED_TO_START, 0)
    await server.close()


async def test_a_stop_cancels_a_pending_restart(script):
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
