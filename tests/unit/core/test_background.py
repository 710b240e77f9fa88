"""Tasks of an owner, and blocking work in a thread that may be abandoned."""

import asyncio
import threading

import pytest

from tests.conftest import until
from tui.core import background
from tui.core.background import FAILED_THREAD, DaemonThread, RetryDelay, Tasks, in_daemon_thread


async def test_the_result_or_the_error_of_the_work_is_passed_on():
    assert await in_daemon_thread("work", lambda: 7) == 7
    with pytest.raises(KeyError):
        await in_daemon_thread("work", lambda: {}[1])


async def test_work_that_does_not_return_can_be_abandoned():
    done = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_daemon_thread("stuck", lambda: done.wait(10))
    done.set()
    await until(lambda: not [one for one in threading.enumerate() if one.name == "stuck"])


async def test_work_that_wants_to_exit_is_an_error_for_the_caller_who_would_wait_for_ever():
    def leave() -> None:
        raise SystemExit(1)

    with pytest.raises(RuntimeError, match="keychain: SystemExit"):
        await in_daemon_thread("keychain", leave)


class Work:
    """Work that fails a number of times, and what was reported about it."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.starts = 0
        self.failed: list[tuple[str, bool]] = []

    def __call__(self) -> None:
        self.starts += 1
        if self.left:
            self.left -= 1
            raise LookupError("a secret")

    def thread(self, **more: int) -> DaemonThread:
        made = DaemonThread(
            "work", self, failed=lambda *one: self.failed.append((str(one[0]), one[1])), **more
        )
        made.start()
        return made


def test_work_that_fails_is_started_again_and_logged_in_words_without_its_text(caplog):
    work = Work(1)
    assert work.thread().join(10)
    assert (work.starts, work.failed) == (2, [("a secret", False)])
    [record] = caplog.records
    assert record.exc_info and "a secret" in str(record.exc_info[1])
    assert getattr(record, FAILED_THREAD) == "work (LookupError, restarted)"


def test_work_that_fails_again_and_again_is_not_started_for_ever(monkeypatch):
    monkeypatch.setattr(background, "PAUSE_SECONDS", 0.0)
    work = Work(1000)
    assert work.thread().join(10)
    assert work.starts == background.MAX_RESTARTS + 1
    assert [is_over for _, is_over in work.failed] == [False] * background.MAX_RESTARTS + [True]


def test_work_that_cannot_be_repeated_ends_with_its_first_failure():
    work = Work(1000)
    assert work.thread(max_restarts=0).join(10)
    assert (work.starts, work.failed) == (1, [("a secret", True)])


def test_a_failure_of_the_one_who_is_told_does_not_end_the_thread():
    starts = []

    def work() -> None:
        starts.append(1)
        if len(starts) == 1:
            raise LookupError

    def told(error: Exception, is_over: bool) -> None:
        raise ValueError

    thread = DaemonThread("work", work, failed=told)
    thread.start()
    assert thread.join(10)
    assert len(starts) == 2


async def test_running_tasks_are_cancelled_and_awaited_and_a_failure_is_reported() -> None:
    ended, tasks = [], Tasks(lambda error: ended.append(str(error)))

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("cancelled")

    async def short() -> None:
        raise ValueError("short")

    tasks.start(short(), "short")
    long = tasks.start(work(), "long")
    await asyncio.sleep(0)
    await tasks.cancel()
    assert ended == ["short", "cancelled"]
    assert long.cancelled()
    await tasks.cancel()


def test_a_retry_delay_doubles_up_to_the_longest_until_something_worked_for_longer_than_it():
    retry = RetryDelay(0.5, longest=3)
    assert [retry.after_failure(worked) for worked in (0, 0.1, 1.9, 2, 3, 0.1)] == [0.5, 1, 0.5, 0.5, 0.5, 1]
    assert [retry.after_failure() for _ in range(3)] == [2, 3, 3]
