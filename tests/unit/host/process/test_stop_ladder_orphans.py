import signal
import subprocess
import sys
import uuid

import pytest

from tui.host.process.guard import OWNER_VARIABLE
from tui.host.process.stop_ladder import end_orphans

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show an environment")

READY = "print('ready', flush=True); import time; time.sleep(60)"


@pytest.fixture
def start():
    started = []

    def start(mark, code=READY):
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={OWNER_VARIABLE: mark},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_exactly_the_processes_with_the_mark_are_ended(start):
    mark = f"owner/{uuid.uuid4().hex}"
    mine, also, other = start(mark), start(mark), start(f"{mark}0")
    assert end_orphans(mark, 1.0) == {one.pid: one.pid for one in (mine, also)}
    assert mine.wait(5) == also.wait(5) == -signal.SIGTERM
    assert other.poll() is None


def test_an_orphan_that_ignores_sigterm_is_killed(start):
    mark = f"owner/{uuid.uuid4().hex}"
    stubborn = start(mark, f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {READY}")
    assert list(end_orphans(mark, 0.1)) == [stubborn.pid]
    assert stubborn.wait(5) == -signal.SIGKILL


def test_an_orphan_that_is_exiting_is_not_counted(start):
    mark = f"owner/{uuid.uuid4().hex}"
    leaving = start(mark, "print('ready', flush=True); import time; time.sleep(0.05)")
    assert end_orphans(mark, 1.0) == {}
    assert leaving.wait(5) == 0


def test_without_orphans_there_is_no_delay():
    assert end_orphans(f"owner/{uuid.uuid4().hex}", 60.0) == {}
