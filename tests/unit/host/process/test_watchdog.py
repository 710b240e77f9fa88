import os
import signal
import subprocess
import sys
import threading

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
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()


def test_the_guard_is_started_only_when_there_is_something_to_guard(watchdog):
    assert watchdog._guard is None
    watchdog.close()


def test_closing_ends_the_guard_but_no_unguarded_process(watchdog, server):
    watchdog.add(server.pid)
    guard = watchdog._guard.pid
    watchdog.remove(server.pid)
    watchdog.close()
    assert not psutil.pid_exists(guard)
    assert server.poll() is None


def test_a_process_that_is_still_guarded_on_close_is_killed(watchdog, server):
    watchdog.add(server.pid)
    watchdog.close()
    assert server.wait(5) == -signal.SIGKILL


def test_one_guard_serves_all_processes_and_is_replaced_if_it_dies(watchdog, server):
    watchdog.add(server.pid)
    first = watchdog._guard.pid
    watchdog.add(server.pid)
    assert watchdog._guard.pid == first
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: psutil.Process(first).status() == psutil.STATUS_ZOMBIE)
    watchdog.add(server.pid)
    assert watchdog._guard.pid not in (None, first)
    watchdog.remove(server.pid)


def test_the_guard_lives_while_there_is_something_to_guard(watchdog, server):
    watchdog.add(server.pid)
    with pytest.raises(psutil.TimeoutExpired):
        psutil.Process(watchdog._guard.pid).wait(1.0)
    watchdog.remove(server.pid)


def test_a_suspended_guard_blocks_nothing(watchdog, server):
    watchdog.add(server.pid)
    guard = psutil.Process(watchdog._guard.pid)
    guard.suspend()
    wait_until(lambda: guard.status() == psutil.STATUS_STOPPED)

    def add() -> None:
        for _ in range(20_000):  # more than a pipe holds
            watchdog.add(server.pid)

    adding = threading.Thread(target=add)
    adding.start()
    adding.join(20)
    blocked = adding.is_alive()
    guard.resume()
    adding.join()
    assert not blocked
    watchdog.remove(server.pid)


def test_the_guard_inherits_no_descriptors(watchdog, server):
    with open(os.devnull) as other:
        os.set_inheritable(other.fileno(), True)
        watchdog.add(server.pid)
        wait_until(lambda: len(os.listdir(f"/proc/{watchdog._guard.pid}/fd")) == 3)
    watchdog.remove(server.pid)
