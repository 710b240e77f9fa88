import asyncio
import os
import signal
import subprocess
import sys

import pytest

from tests.conftest import until
from tui.host.process import process as exits
from tui.host.process.process import LeaderWatch, ProcessExit, duration, exit_sentence, peek


@pytest.mark.parametrize(
    ("returncode", "sentence"),
    [
        (0, "exited with code 0 after 0.3 s"),
        (17, "exited with code 17 after 0.3 s"),
        (-9, "was terminated by SIGKILL after 0.3 s"),
        (-63, "was terminated by signal 63 after 0.3 s"),
    ],
)
def test_an_exit_is_described_in_a_sentence(returncode, sentence):
    assert ProcessExit.from_returncode(returncode, 0.3).sentence() == sentence


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0.01 s"),
        (0.04, "0.04 s"),
        (0.3, "0.3 s"),
        (2.0, "2 s"),
        (9.97, "10 s"),
        (600, "10 min"),
        (9000, "2 h"),
    ],
)
def test_durations_are_readable(seconds, said):
    assert duration(seconds) == said


def test_an_exit_sentence_includes_the_reason_and_the_last_line():
    ended = ProcessExit(3, "", 0.3)
    assert exit_sentence(ended, "", "") == "the server exited with code 3 after 0.3 s."
    assert exit_sentence(ended, "", "bye " + "x" * 300).endswith("Its log: bye…")
    assert exit_sentence(ended, "it was deaf", "bye") == (
        "the server exited with code 3 after 0.3 s: it was deaf. Its log: bye"
    )


def child(code):
    return subprocess.Popen([sys.executable, "-c", code], start_new_session=True)


async def test_an_exit_is_detected_and_the_dead_leader_is_not_reaped():
    process, seen = child("raise SystemExit(3)"), []
    watch = LeaderWatch(process, seen.append)
    await until(lambda: seen)
    assert seen == [3]
    os.killpg(process.pid, signal.SIGKILL)  # the group still exists: its dead leader is not reaped
    assert process.wait() == 3
    watch.close()


async def test_an_exit_by_a_signal_is_recognized():
    process, seen = child("import time; time.sleep(60)"), []
    LeaderWatch(process, seen.append)
    process.kill()
    await until(lambda: seen)
    assert seen == [-9]
    process.wait()


async def test_without_pidfd_an_exit_is_detected_by_polling(monkeypatch):
    monkeypatch.setattr(exits.sys, "platform", "other")
    process, seen = child("raise SystemExit(4)"), []
    LeaderWatch(process, seen.append)
    await until(lambda: seen)
    assert seen == [4]
    process.wait()


async def test_a_closed_watch_reports_nothing():
    process, seen = child("raise SystemExit(0)"), []
    watch = LeaderWatch(process, seen.append)
    watch.close()
    watch.close()
    process.wait()
    await asyncio.sleep(0)
    assert seen == []


async def test_without_waitid_an_exit_is_still_detected(monkeypatch):
    monkeypatch.delattr(os, "waitid")
    process = child("raise SystemExit(5)")
    await until(lambda: peek(process) is not None)
    assert peek(process) == 5
