"""The linter thread: reads stored entries, reports findings, stops."""

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.conftest import wait_until
from tests.unit.traffic.traffic_script import Script
from tui.core.errors import StorageError
from tui.core.traffic import Direction, Entry, Finding, TrafficReader
from tui.traffic.lint import lint_thread
from tui.traffic.lint.lint import Linter
from tui.traffic.lint.lint_thread import LintThread, lint_entries


def linted(reader: TrafficReader) -> list[int]:
    return [finding.seq for _, found in lint_entries(Linter(), reader) for finding in found]


class Stored:
    """A recording in memory with the interface of `TrafficReader`. Counts requests."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = list(entries)
        self.opened = self.closed = 0

    def open(self) -> "Stored":
        self.opened += 1
        return self

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        return [entry for entry in self.entries if entry.seq > after][:limit]

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        return self.columns(after, limit)

    def entry(self, seq: int, body_limit: int = 0) -> Entry | None:
        return next((entry for entry in self.entries if entry.seq == seq), None)

    def close(self) -> None:
        self.closed += 1


def noisy(lines: int) -> Script:
    script = Script().legacy()
    for _ in range(lines):
        script.raw(Direction.IN, b"noise")
    return script


def into(found: list[Finding]) -> Callable[[Sequence[Finding], int], None]:
    return lambda findings, judged: found.extend(findings)


@pytest.fixture
def found() -> list[Finding]:
    return []


@pytest.fixture
def made(found: list[Finding]) -> Iterator[list[LintThread]]:
    linters: list[LintThread] = []
    yield linters
    for linting in linters:
        assert linting.close()
        assert linting.faults == 0


def started(made: list[LintThread], found: list[Finding], stored: Stored) -> LintThread:
    linting = LintThread(into(found), stored.open)  # type: ignore[arg-type]
    made.append(linting)
    linting.start()
    return linting


def broken() -> Stored:
    raise OSError("no such file")


def test_stored_entries_are_checked_and_reported_in_order(made, found):
    script = noisy(3)
    linting = started(made, found, stored := Stored(script.entries))
    for entry in script.entries:
        linting.offer([entry])
    assert linting.settle()
    assert [(finding.seq, finding.code) for finding in found] == [(seq, "stray-output") for seq in (4, 5, 6)]
    assert linting.revision("weather") == "2025-11-25"
    linting.close()
    assert stored.opened == stored.closed == 1


def test_entries_missing_from_the_store_are_skipped_and_later_ones_are_read(made, found):
    script = noisy(10)
    linting = started(made, found, stored := Stored(script.entries[:5]))
    linting.offer(script.entries)
    assert linting.settle()
    assert [finding.seq for finding in found] == [4, 5]
    stored.entries.append(late := script.raw(Direction.IN, b"late noise"))
    linting.offer([late])
    assert linting.settle()
    assert found[-1].seq == late.seq


def test_an_unreadable_store_does_not_end_the_thread(found):
    linting = LintThread(into(found), broken)  # type: ignore[arg-type]
    linting.start()
    linting.offer(noisy(10).entries)
    assert linting.settle()
    assert linting.faults == 1
    linting.close()


def test_entries_can_be_offered_before_the_start_and_after_the_end(made, found):
    script = noisy(1)
    linting = LintThread(into(found), Stored(script.entries).open)  # type: ignore[arg-type]
    linting.offer(script.entries)
    assert linting.lag == 4
    linting.start()
    assert linting.settle()
    assert linting.close()
    linting.offer(noisy(1).entries)


class ClosedJudge:
    """A validator that records in which thread it was created and closed."""

    def __init__(self, told: list[str]) -> None:
        self._told = told
        told.append(f"made {threading.current_thread().name}")

    def problems(self, *asked: object) -> list[str]:
        raise RuntimeError("a judge with a mistake")

    def close(self) -> None:
        self._told.append(f"closed {threading.current_thread().name}")


def test_the_validator_runs_in_the_linter_thread_and_its_failures_do_not_stop_it(found):
    told: list[str] = []
    linting = LintThread(into(found), Stored(noisy(1).entries).open, lambda: ClosedJudge(told))  # type: ignore[arg-type, return-value]
    linting.start()
    linting.offer(noisy(1).entries)
    assert linting.settle()
    assert [finding.code for finding in found] == ["stray-output"]
    assert linting.faults == 3
    assert linting.close()
    assert told == ["made linter", "closed linter"]


def test_a_recording_is_linted_without_a_thread():
    assert linted(Stored(noisy(2).entries)) == [4, 5]  # type: ignore[arg-type]


def test_a_failing_report_does_not_stop_the_thread():
    def report(findings: Sequence[Finding], judged: int) -> None:
        raise OSError("the disk is full")

    linting = LintThread(report, Stored(noisy(1).entries).open)  # type: ignore[arg-type]
    linting.start()
    linting.offer(noisy(1).entries)
    wait_until(lambda: linting.faults == 1)
    assert linting.close()


def test_the_last_fully_linted_entry_is_reported():
    told: list[tuple[list[int], int]] = []
    script = noisy(1)
    stored = Stored(script.entries)
    linting = LintThread(
        lambda found, judged: told.append(([each.seq for each in found], judged)),
        stored.open,  # type: ignore[arg-type]
    )
    linting.offer(script.entries)
    linting.start()
    assert linting.settle()
    assert (told, linting.judged) == ([([4], 4)], 4)
    stored.entries.append(script.event("exit"))
    linting.offer(script.entries[4:])
    assert linting.settle()
    assert linting.close()
    assert told == [([4], 4), ([], 5)]


def test_a_pause_reports_the_last_linted_entry(monkeypatch):
    monkeypatch.setattr(lint_thread, "PAUSE", 0.0)
    told: list[int] = []
    entries = Script().legacy().entries
    linting = LintThread(lambda found, judged: told.append(judged), Stored(entries).open)  # type: ignore[arg-type]
    linting.offer(entries)
    linting.start()
    wait_until(lambda: told == [3])
    assert linting.close()


def test_the_thread_stops_in_the_middle_of_its_work_and_the_rest_does_not_count_as_linted():
    told: list[int] = []
    entries = noisy(5_000).entries
    linting = LintThread(lambda found, judged: told.append(judged), Stored(entries).open)  # type: ignore[arg-type]
    linting.start()
    linting.offer(entries)
    assert linting.close()
    assert not any(thread.name == "linter" for thread in threading.enumerate())
    assert not told or told[-1] == linting.judged < 5_003


def test_skipped_entries_never_count_as_linted():
    told: list[int] = []
    linting = LintThread(lambda found, judged: told.append(judged), broken)  # type: ignore[arg-type]
    linting.start()
    linting.offer(noisy(10).entries)
    assert linting.settle()
    assert linting.close()
    assert not any(told)


def test_a_large_body_is_read_alone_and_a_damaged_one_is_skipped():
    script = noisy(3)

    class Damaged(Stored):
        def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
            return [entry._replace(body=b"") for entry in self.columns(after, limit)]

        def entry(self, seq: int, body_limit: int = 0) -> Entry | None:
            if seq == 5:
                raise StorageError("damaged", where="here")
            return super().entry(seq, body_limit)

    assert linted(Damaged(script.entries)) == [4, 6]  # type: ignore[arg-type]


def test_entries_of_a_damaged_page_are_read_one_by_one():
    class Damaged(Stored):
        def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
            raise StorageError("damaged", where="here")

        def columns(self, after: int, limit: int) -> Sequence[Entry]:
            return [entry._replace(body=b"") for entry in super().columns(after, limit)]

    assert linted(Damaged(noisy(2).entries)) == [4, 5]  # type: ignore[arg-type]
