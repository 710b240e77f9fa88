"""Tasks, threads and worker processes of our own: what happens when work fails, retries, and waits."""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from tui.core.errors import McptuiError
from tui.core.text import clean_line

T = TypeVar("T")

MAX_RESTARTS, WITHIN_SECONDS = 5, 60.0
"""How often work that fails is started again within this time; the next failure ends the thread."""

PAUSE_SECONDS = 0.05
"""The pause before the first restart. It doubles each time."""

_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that Python may need to start. No others: they may contain API keys."""

CLOSE_SECONDS = 2.0
FIRST_RETRY = 2.0
LONGEST_RETRY = 600.0

FAILED_THREAD = "failed_thread"
"""Attribute of a log record about a failed thread: which one, the error, and what mcptui did, in words."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class RetryDelay:
    """The delays between retries: `first` seconds, doubled after each failure, at most `longest`."""

    first: float = FIRST_RETRY
    longest: float = LONGEST_RETRY
    _last: float = 0.0

    def after_failure(self, worked_seconds: float = 0.0) -> float:
        """Return the seconds until the next try; they start over if it worked longer than the last delay."""
        again = worked_seconds < self._last
        self._last = min(self.longest, max(self.first, self._last * 2)) if again else self.first
        return self._last

    def reset(self) -> None:
        self._last = 0.0


class DaemonThread:
    """A daemon thread. If its work raises an error, that is logged, and the work is started again.

    Attributes:
        closing: set by `close`; the work should return soon after.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        *,
        failed: Callable[[Exception, bool], None] = lambda error, is_over: None,
        max_restarts: int = MAX_RESTARTS,
    ) -> None:
        """Create a thread that can be started once.

        `failed` is called in the thread with each error of `work`, and whether it was the last one. It
        releases what waits for the work. What the work was about to do must still be there when it is started
        again.
        """
        self.closing = threading.Event()
        self._name, self._work, self._failed = name, work, failed
        self._max_restarts = max_restarts
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        return self._thread is threading.current_thread()

    def start(self) -> None:
        self._thread.start()

    def join(self, seconds: float | None) -> bool:
        """Wait at most `seconds`, or without a limit; return whether the thread has ended."""
        if self.is_alive:
            self._thread.join(seconds)
        return not self.is_alive

    def close(self) -> None:
        """Stop, and wait at most 2 s for the end."""
        self.closing.set()
        self.join(CLOSE_SECONDS)

    def _run(self) -> None:
        failures: deque[float] = deque(maxlen=self._max_restarts + 1)
        retry = RetryDelay(PAUSE_SECONDS)
        while True:
            began = time.monotonic()
            try:
                self._work()
                return
            except Exception as error:  # whatever it is: it is logged, and the work is not lost
                failures.append(time.monotonic())
                recent = sum(failures[-1] - at < WITHIN_SECONDS for at in failures)
                is_over = recent > self._max_restarts or self.closing.is_set()
                report_failure(self._name, error, is_over=is_over)
                try:
                    self._failed(error, is_over)
                except Exception as other:
                    report_failure(self._name, other, is_over=is_over)
                if is_over:
                    return
                self.closing.wait(retry.after_failure(failures[-1] - began))


def report_failure(name: str, error: BaseException, *, is_over: bool = False) -> None:
    """Log an error that a thread did not expect, with words for the user.

    They only name the type of the error: its text may contain anything.
    """
    outcome = "stopped" if is_over else "restarted"
    words = f"{clean_line(name, 60)} ({type(error).__name__}, {outcome})"
    _log.error("thread %s failed", name, exc_info=error, extra={FAILED_THREAD: words})


async def in_daemon_thread(name: str, work: Callable[[], T]) -> T:
    """Return what `work` returns. On cancellation, its thread is abandoned, and does not delay the exit."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(value)

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except BaseException as error:
            # It is raised to the caller, who would otherwise wait forever.
            failure = error
            if not isinstance(error, Exception) or isinstance(error, StopIteration):  # no result of a future
                failure = RuntimeError(f"{name}: {type(error).__name__}")
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await done


async def completed(work: Coroutine[Any, Any, None]) -> None:
    """Complete `work`, however often this is cancelled meanwhile; raise the cancellation afterwards."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as request:
            cancelled = request
    if not task.cancelled():
        task.result()
    if cancelled is not None:
        raise cancelled


class Tasks:
    """Tasks that run beside their owner, who cancels them or waits for them at its end.

    Their errors go to `failed`. Without it, they are logged; a `McptuiError` only in detail, because it is
    also reported elsewhere.
    """

    def __init__(self, failed: Callable[[BaseException], None] | None = None) -> None:
        self.running: set[asyncio.Task[Any]] = set()
        self._failed = failed

    def start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self.running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and self._failed is not None:
            self._failed(error)
        elif error is not None:
            level = logging.DEBUG if isinstance(error, McptuiError) else logging.ERROR
            _log.log(level, "%s failed", task.get_name(), exc_info=error)

    async def settled(self, seconds: float | None = None) -> None:
        """Wait until all have ended, at most `seconds`."""
        if self.running:
            await asyncio.wait(self.running, timeout=seconds)

    async def cancel(self, seconds: float | None = None) -> None:
        """Cancel all, and wait until they have ended, at most `seconds`."""
        for task in self.running:
            task.cancel()
        await self.settled(seconds)


async def start_worker(arguments: Sequence[str], **variables: str) -> Process:
    """Start Python with pipes, in a session of its own, for work that may crash, hang or be cancelled."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, *arguments),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | variables,
        start_new_session=True,
    )


async def end_worker(worker: Process) -> None:
    """Kill a worker, unless it has exited, and wait for its end."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    if worker.returncode is None:
        # Not `worker.kill()`: it polls for the exit, which asyncio then misses.
        with suppress(ProcessLookupError):  # the process has just exited
            os.kill(worker.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    with suppress(RuntimeError):  # somebody reads it already
        await worker.stdout.read()  # asyncio also waits for the end of its output
    await worker.wait()
    with suppress(ConnectionError):  # asyncio reports one that nobody asks for
        await worker.stdin.wait_closed()


async def first_of(*waits: Awaitable[Any], seconds: float | None = None) -> None:
    """Wait for the first of `waits`, at most `seconds`; cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_all(tasks)


async def cancel_all(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def set_within(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
