"""Parallel test workers, forked from the process that has collected the tests.

The workers of pytest-xdist import and collect all tests again, which takes five seconds each. pytest-xdist
still parses `-n`, and runs the workers on systems where a process of this size cannot be forked safely.
"""

import contextlib
import os
import sys
import tempfile
import traceback
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import pytest
from _pytest.config import create_terminal_writer

MOST_AT_ONCE = 16


def plan(config: pytest.Config) -> bool:
    """Register workers forked by this process for `-n`, and make pytest-xdist start none.

    Returns:
        Whether workers are forked.
    """
    option = config.option
    count = option.numprocesses
    if sys.platform != "linux" or not count or option.tx or option.collectonly or option.usepdb:
        return False
    if isinstance(count, str):
        count = config.hook.pytest_xdist_auto_num_workers(config=config)
    option.numprocesses, option.dist = 0, "no"
    config.pluginmanager.register(Workers(count))
    return True


def is_shown(report: pytest.TestReport, option: Any) -> bool:
    """Return whether a report is shown or counted.

    Others are not sent: sending costs as much as an empty test.
    """
    everything = option.verbose > 0 or option.durations is not None or option.xmlpath
    return bool(everything or report.when == "call" or report.outcome != "passed")


@dataclass
class Worker:
    """A worker as seen by the main process, with the tests it has been given and not yet reported."""

    number: int
    pid: int
    connection: Connection
    given: deque[int] = field(default_factory=deque)
    problem: str = ""


class Workers:
    """Forks workers, distributes tests to them, and reports the results."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._left: deque[int] = deque()
        self._running: dict[Connection, Worker] = {}
        self._failure = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            return None
        self._left.extend(range(len(session.items)))
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # workers have theirs in it
        reporter: Any = session.config.pluginmanager.getplugin("terminalreporter")
        reporter.showfspath = False  # reports of different files interleave
        try:
            for number in range(min(self._count, len(session.items))):
                self._fork(session, number)
            while self._running:
                for connection in wait(list(self._running)):
                    assert isinstance(connection, Connection)
                    self._receive(session, self._running[connection])
        finally:
            self._stop()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        if self._left or self._failure:
            raise RuntimeError(f"{len(self._left)} tests were not run; {self._failure}")
        return True

    def _fork(self, session: pytest.Session, number: int) -> None:
        ours, its = Pipe()
        if (pid := os.fork()) == 0:
            for connection in (ours, *self._running):
                connection.close()
            _work(session, its, number)
        its.close()
        self._running[ours] = Worker(number, pid, ours)

    def _receive(self, session: pytest.Session, worker: Worker) -> None:
        """Handle a message from a worker."""
        hook = session.config.hook
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):  # the worker may have ended in the middle of a message
            self._end(session, worker)
            return
        match kind:
            case "more":
                some = [] if session.shouldfail or session.shouldstop else self._batch(worker.number)
                worker.given.extend(some)
                with contextlib.suppress(OSError):  # the worker has just crashed, as the next read will show
                    worker.connection.send(some)
            case "report":
                report = hook.pytest_report_from_serializable(config=session.config, data=content)
                hook.pytest_runtest_logreport(report=report)
            case "warning":
                hook.pytest_warning_recorded.call_historic(kwargs=content)
            case "done":
                worker.given.popleft()
            case "problem":
                worker.problem = content
            case "end":
                self._left.extendleft(reversed(worker.given))
                worker.given.clear()

    def _batch(self, number: int) -> list[int]:
        """Take a batch of tests, smaller toward the end; every third worker takes its own from the end.

        Tests that wait for programs and screens are first, those that only compute are last. Each half takes
        about as long, so that both kinds run at the same time until the end.
        """
        size = max(1, min(MOST_AT_ONCE, len(self._left) // (4 * self._count)))
        size = min(size, len(self._left))
        if number % 3 != 2:
            return [self._left.popleft() for _ in range(size)]
        return [self._left.pop() for _ in range(size)][::-1]

    def _end(self, session: pytest.Session, worker: Worker) -> None:
        """Report the test during which a worker ended, if any, and give the rest to a new worker."""
        del self._running[worker.connection]
        worker.connection.close()
        _, status = os.waitpid(worker.pid, 0)
        told = worker.problem or f"the worker ended with {os.waitstatus_to_exitcode(status)}"
        if not worker.given:
            if worker.problem or status:
                self._failure = told
            return
        item = session.items[worker.given.popleft()]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")
        session.config.hook.pytest_runtest_logreport(report=report)
        self._left.extendleft(reversed(worker.given))
        if self._left and not (session.shouldfail or session.shouldstop):
            self._fork(session, worker.number)

    def _stop(self) -> None:
        """Ask workers to stop, such as those still running after ctrl+c, and wait for them."""
        for worker in self._running.values():
            worker.connection.close()
        for worker in self._running.values():
            os.waitpid(worker.pid, 0)
        self._running.clear()


def _work(session: pytest.Session, connection: Connection, number: int) -> None:
    """In a fork, run tests as long as there are any, then exit."""
    try:
        _become_worker(session, number)
        sending = Sending(session.config, connection)
        session.config.pluginmanager.register(sending)
        tests = _tests(connection)
        index = next(tests, None)
        while index is not None and not (session.shouldfail or session.shouldstop):
            following = next(tests, None)
            item, after = session.items[index], None if following is None else session.items[following]
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            connection.send(("done", None))
            index = following
        session._setupstate.teardown_exact(None)
        connection.send(("end", None))
    except BaseException:
        with contextlib.suppress(OSError):
            connection.send(("problem", traceback.format_exc()))
        with contextlib.suppress(BaseException):  # stops the programs of fixtures
            session._setupstate.teardown_exact(None)
    finally:
        os._exit(0)


def _tests(connection: Connection) -> Iterator[int]:
    """Yield the indices of tests, and request more when none are left."""
    some = deque[int]()
    while True:
        if not some:
            connection.send(("more", None))
            some.extend(connection.recv())
            if not some:
                return
        yield some.popleft()


def _become_worker(session: pytest.Session, worker: int) -> None:
    """Give a fork its own output and temporary folder, and silence its terminal reporter."""
    config = session.config
    if config.option.capture == "fd":
        capture: Any = config.pluginmanager.getplugin("capturemanager")
        capture.resume_global_capture()
        for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):  # otherwise all forks share two files
            with tempfile.TemporaryFile() as its_own:
                os.dup2(its_own.fileno(), stream.fileno(), inheritable=False)
                os.dup2(its_own.fileno(), number)
        capture.suspend_global_capture()
    basetemp = config._tmp_path_factory  # type: ignore[attr-defined]
    basetemp._basetemp = basetemp.getbasetemp() / f"popen-gw{worker}-{os.getpid()}"
    basetemp._basetemp.mkdir(0o700)
    os.environ["PYTEST_XDIST_WORKER"] = f"gw{worker}"
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Nowhere(config), "terminalreporter")


class Nowhere:
    """The terminal reporter of a worker, which discards what other plugins print."""

    def __init__(self, config: pytest.Config) -> None:
        self._tw = create_terminal_writer(config, open(os.devnull, "w"))


class Sending:
    """Sends the reports and warnings of a worker to the main process."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if is_shown(report, self._config.option):
            data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            self._connection.send(("report", data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        if when != "runtest":
            return
        told = UserWarning(f"{warning_message.category.__name__}: {warning_message.message}")
        message = warnings.WarningMessage(told, UserWarning, warning_message.filename, warning_message.lineno)
        details = {"warning_message": message, "when": when, "nodeid": nodeid, "location": location}
        self._connection.send(("warning", details))
