import os
import signal
import subprocess
import sys
import uuid

import psutil
import pytest

from tests.conftest import wait_until
from tui.host.process.watchdog import Watchdog


@pytest.fixture
def server():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def watchdog():
    watchdog = Watchdog(uuid.uuid4().hex)
    yield watchdog
    watchdog.close()


def test_nothing_is_started_before_there_is_something_to_guard(watchdog):
    assert watchdog.pid is None
    watchdog.close()


def test_closing_ends_the_guard_and_leaves_what_is_not_guarded(watchdog, server):
    watchdog.add(server.pid)
    guard = watchdog.pid
    watchdog.remove(server.pid)
    watchdog.close()
    assert not psutil.pid_exists(guard)
    assert server.poll() is None


def test_what_is_still_guarded_at_the_close_is_ended(watchdog, server):
    watchdog.add(server.pid)
    watchdog.close()
    assert server.wait(5) == -signal.SIGKILL


def test_one_guard_serves_all_and_is_replaced_if_it_was_ended(watchdog, server):
    watchdog.add(server.pid)
    first = watchdog.pid
    watchdog.add(server.pid)
    assert watchdog.pid == first
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: psutil.Process(first).status() == psutil.STATUS_ZOMBIE)
    watchdog.add(server.pid)
    assert watchdog.pid not in (None, first)
    watchdog.remove(server.pid)


def test_the_guard_lives_as_long_as_there_is_something_to_guard(watchdog, server):
    watchdog.add(server.pid)
    with pytest.raises(psutil.TimeoutExpired):
        psutil.Process(watchdog.pid).wait(1.0)
    watchdog.remove(server.pid)


def test_a_stopped_watchdog_blocks_nothing(watchdog, server):
    watchdog.add(server.pid)
    os.kill(watchdog.pid, signal.SIGSTOP)
    for _ in range(20_000):
        watchdog.add(server.pid)
    watchdog.remove(server.pid)
    os.kill(watchdog.pid, signal.SIGCONT)


def test_the_guard_holds_no_descriptor_of_ours(watchdog, server):
    with open(os.devnull) as other:
        os.set_inheritable(other.fileno(), True)
        watchdog.add(server.pid)
        wait_until(lambda: len(os.listdir(f"/proc/{watchdog.pid}/fd")) == 3)
    watchdog.remove(server.pid)
