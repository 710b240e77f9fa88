"""A server whose file has changed: the new process answers before the old one ends."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.changing_server import tool, write_server
from tests.conftest import until
from tests.hosts import called, host_of, text_of
from tui.addons.watch.handover import Handovers, HeldTraffic
from tui.core.permission.change_effects import ChangeEffect
from tui.core.secrets.redact import Redactor
from tui.core.servers import EraChoice, ServerSpec, ServerState
from tui.core.traffic import Captured, Direction, Kind, Outcome
from tui.runtime.recording import RunRecording
from tui.settings.schema import TrafficSettings

LOCK = "import os, atexit; os.open({0!r}, os.O_CREAT | os.O_EXCL); atexit.register(os.remove, {0!r})"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "server.py"
    write_server(path)
    return path


@pytest.fixture
def seen():
    return []


@pytest.fixture
async def host(path, seen):
    """Makes a host with the server, which runs."""
    hosts = []

    async def make(**more):
        spec = ServerSpec(
            "srv",
            sys.executable,
            (str(path),),
            cwd=str(path.parent),
            is_own=True,
            era=EraChoice.LEGACY,
            **more,
        )
        hosts.append(host_of(spec, sink=seen.append))
        await hosts[-1].start("srv")
        return hosts[-1]

    yield make
    for one in hosts:
        if (handovers := _handovers.pop(id(one), None)) is not None:
            await handovers.close()
        await one.shutdown()


_handovers = {}


def handing(host):
    """Return the one object that restarts the servers of a host."""
    return _handovers.setdefault(id(host), Handovers(host))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def events(seen):
    return [one.detail["event"] for one in seen if one.kind is Kind.EVENT and one.source == "srv"]


async def test_the_new_process_answers_before_the_old_one_ends(host, path, seen):
    one = await host()
    before, running = one.status("srv").pid, []
    one.on_change = lambda name: running.append(one.status(name).state)
    result = await handing(one).hand_over("srv")
    after = one.status("srv").pid
    assert result.is_new and after != before and {*running} == {ServerState.RUNNING}
    await until(lambda: not is_alive(before) and "restarted" in events(seen))
    assert is_alive(after)


async def test_the_recording_has_one_process_after_the_other(host, seen):
    one = await host()
    await handing(one).hand_over("srv")
    await until(lambda: "restarted" in events(seen))
    assert events(seen) == ["spawn", "stop", "exit", "spawn", "restarted"]


async def test_what_a_new_process_was_asked_is_not_lost_with_the_old_one():
    traffic = RunRecording(Redactor)
    traffic.start(TrafficSettings(record=False), Path())
    held = HeldTraffic(traffic)

    def of(at, method=""):
        raw = b'{"jsonrpc":"2.0","id":1,"method":"%s"}' % method.encode() if method else b"{}"
        detail = {} if method else {"event": "exit"}
        return Captured("srv", Direction.OUT, at, at, raw, None if method else Kind.EVENT, detail=detail)

    held(of(1, "subscriptions/listen"))
    traffic(of(2))
    held.release()
    await until(lambda: len(traffic.columns) == 2)
    traffic.close()
    assert [*traffic.columns.kind] == [Kind.EVENT, Kind.REQUEST]
    assert traffic.columns.outcome[1] != Outcome.LOST


async def test_what_changed_is_judged_and_accepted(host, path):
    one = await host()
    write_server(path, [tool("get_weather", "city", "day"), tool("get_alerts")])
    result = await handing(one).hand_over("srv")
    found = {change.name: (change.is_new, change.effect) for change in result.changes}
    assert found == {
        "get_weather": (False, ChangeEffect.BREAKING),
        "get_alerts": (True, ChangeEffect.COMPATIBLE),
    }
    assert one.status("srv").changes == 0
    write_server(path, [tool("get_alerts")])
    assert (await handing(one).hand_over("srv")).removed == ["get_weather"]


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("def broken(:", "SyntaxError"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("raise RuntimeError('no key')", "RuntimeError: no key"),
    ],
)
async def test_a_start_that_fails_by_itself_leaves_the_old_process_and_names_the_line(
    host, path, seen, extra, problem
):
    one = await host()
    before = one.status("srv").pid
    write_server(path, extra=extra)
    result = await handing(one).hand_over("srv")
    assert not result.is_new and result.is_running and problem in result.problem
    assert result.place == "server.py:4"
    assert one.status("srv").pid == before and is_alive(before)
    assert events(seen) == ["spawn", "restart failed"]
    assert any(problem.encode() in capture.raw for capture in seen if capture.kind is Kind.STDERR)


async def test_a_server_that_needs_what_the_old_process_has_is_started_after_it(host, path):
    lock = str(path.with_suffix(".lock"))
    write_server(path, extra=LOCK.format(lock))
    one = await host()
    before = one.status("srv").pid
    result = await handing(one).hand_over("srv")
    assert result.is_new and result.stopped_first and not is_alive(before)
    assert not one.status("srv").failed


async def test_a_server_that_exits_without_a_word_keeps_its_old_process(host, path):
    one = await host()
    write_server(path, extra="sys.exit(3)")
    result = await handing(one).hand_over("srv")
    assert not result.is_new and result.is_running and result.may_need_stop


async def test_a_server_that_may_lack_what_is_in_use_is_tried_once_without_the_old_process(host, path):
    quits = "import os, sys, atexit; os.path.exists('pid') and sys.exit('pidfile exists, quitting'); "
    write_server(path, extra=quits + "open('pid', 'w'); atexit.register(os.remove, 'pid')")
    one = await host()
    result = await handing(one).hand_over("srv")
    assert result.is_new and result.stopped_first
    assert (await handing(one).hand_over("srv")).stopped_first


async def test_a_server_that_fails_alone_without_a_cause_loses_its_old_process_only_once(host, path):
    one = await host()
    write_server(path, extra="sys.exit('the port is not set')")
    result = await handing(one).hand_over("srv")
    assert (result.is_new, result.is_running, result.stopped_first) == (False, False, True)
    write_server(path)
    assert (await handing(one).hand_over("srv")).is_new
    write_server(path, extra="sys.exit('the port is not set')")
    result = await handing(one).hand_over("srv")
    assert not result.is_new and result.is_running and result.may_need_stop


async def test_the_output_of_a_compiler_that_names_a_place_is_a_cause(host, path):
    one = await host()
    before = one.status("srv").pid
    write_server(path, extra="print(' --> src/main.rs:3:5', file=sys.stderr); sys.exit(101)")
    assert not (await handing(one).hand_over("srv")).may_need_stop
    assert one.status("srv").pid == before


@pytest.mark.parametrize("stop_first", [False, True])
async def test_a_call_under_way_is_told_that_a_save_restarted_the_server(host, path, stop_first):
    slow = "import time; sys.stdin = (time.sleep(60 * ('tools/call' in one)) or one for one in sys.stdin)"
    write_server(path, extra=slow)
    one = await host(stop_first=stop_first)
    call = asyncio.create_task(called(one, "get_weather", city="Oslo"))
    await until(lambda: one.servers["srv"].connection.calls._errands)
    write_server(path)
    assert (await handing(one).hand_over("srv")).is_new
    assert "“srv” was restarted during the call because its files changed." in text_of(await call)
    assert one.servers["srv"].stopped_as == "was stopped during the call"


async def test_stop_first_never_runs_two_processes(host, path):
    write_server(
        path,
        extra="import os, atexit; assert not os.path.exists('one'); open('one', 'w'); "
        "atexit.register(os.remove, 'one')",
    )
    one = await host(stop_first=True)
    assert (await handing(one).hand_over("srv")).is_new


async def test_a_restart_that_is_given_up_leaves_the_old_process_only(host, path, seen):
    one = await host()
    before = one.status("srv").pid
    write_server(path, extra="import time; time.sleep(60)")
    restart = asyncio.create_task(handing(one).hand_over("srv"))
    await asyncio.sleep(0.1)
    restart.cancel()
    await asyncio.wait((restart,))
    assert one.status("srv").pid == before and is_alive(before)
    write_server(path)
    assert (await handing(one).hand_over("srv")).is_new


async def test_a_server_that_could_not_start_is_started(host, path):
    write_server(path, extra="1 / 0")
    one = await host()
    assert Handovers(one).problem_of(one.servers["srv"]) == (
        "ZeroDivisionError: division by zero",
        "server.py:4",
    )
    write_server(path)
    assert (await handing(one).hand_over("srv")).is_new
    assert one.status("srv").state is ServerState.RUNNING


async def test_shutting_down_during_a_restart_leaves_nothing(host, path):
    one = await host()
    before = one.status("srv").pid
    write_server(path, extra="import time; time.sleep(60)")
    restart = asyncio.create_task(handing(one).hand_over("srv"))
    await asyncio.sleep(0.1)
    await handing(one).close()
    await one.shutdown()
    await asyncio.wait((restart,))
    assert not is_alive(before)
