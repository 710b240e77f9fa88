"""Only one process at a time has a session open, and a killed one has none."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tui.core.errors import StorageError
from tui.storage.files.live_lock import LiveLock, is_live, live_file

HOLD = "import sys; from pathlib import Path; from tui.storage.files.live_lock import LiveLock; "
HOLD += "lock = LiveLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.mcpsession"


def test_a_lock_excludes_others_until_it_is_released(path: Path):
    with closing(LiveLock(path)):
        assert is_live(path)
        with pytest.raises(StorageError, match="open in another"):
            LiveLock(path)
    assert not is_live(path) and not live_file(path).exists()
    LiveLock(path).close()


def test_a_killed_process_holds_no_lock(path: Path):
    words = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        with pytest.raises(StorageError):
            LiveLock(path)
        os.kill(process.pid, signal.SIGKILL)
    assert live_file(path).exists() and not is_live(path)
    with closing(LiveLock(path)):
        assert is_live(path)


def test_checking_the_lock_excludes_nobody(path: Path):
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            is_live(path)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for _ in range(100):
            LiveLock(path).close()
    finally:
        done.set()
        looker.join()


def test_only_one_of_many_concurrent_takers_gets_the_lock(path: Path):
    live_file(path).touch()
    held, start = [], threading.Barrier(8)

    def take() -> None:
        start.wait()
        try:
            held.append(LiveLock(path))
        except StorageError:
            pass

    takers = [threading.Thread(target=take) for _ in range(8)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()
    assert len(held) == 1
    held[0].close()
