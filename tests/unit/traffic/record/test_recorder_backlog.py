"""The backlog of the recorder stays within its byte limit."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traffic.tapped import seen
from tui.core.traffic import Captured, Finding, Kind, Severity
from tui.traffic.record.recorder import ENTRY_BYTES, HEAD, Backlog, LintReport, RecorderJob

LIMIT = 20_000


def backlog(limit: int = LIMIT) -> Backlog:
    return Backlog(limit)


def one_of(waiting: Backlog) -> Captured | RecorderJob | None:
    taken = waiting.take(1, 1)
    return taken.captured[0] if taken.captured else taken.job


@given(st.lists(st.integers(0, 5000) | st.none(), max_size=200))
def test_every_entry_is_recorded_or_counted_and_the_memory_is_bounded(steps: list[int | None]):
    waiting, added, seen_entries, counted = backlog(), 0, 0, 0

    def take() -> bool:
        nonlocal seen_entries, counted
        item = one_of(waiting)
        if not isinstance(item, Captured):
            return False
        if item.kind is Kind.EVENT:
            counted += item.detail["entries"]
        else:
            seen_entries += 1
        return True

    for size in steps:
        if size is None:
            take()
            waiting.settle()
        else:
            waiting.add([seen(b"x" * size)])
            added += 1
        assert waiting._came - waiting._went <= LIMIT
    while take():
        pass
    assert seen_entries + counted == added
    assert not waiting


def test_the_order_is_kept_and_jobs_are_never_refused():
    waiting = backlog(ENTRY_BYTES * 20)
    waiting.add([seen(b"1")])
    job = threading.Event()
    waiting.put(job)
    waiting.add([seen(b"2")])
    first, errand, second = one_of(waiting), one_of(waiting), one_of(waiting)
    assert isinstance(first, Captured) and isinstance(second, Captured)
    assert (first.raw, errand, second.raw, one_of(waiting)) == (b"1", job, b"2", None)


def test_a_body_over_the_byte_limit_is_truncated():
    waiting = backlog()
    waiting.add([seen(b"first")])
    waiting.add([seen(b"x" * (2 * LIMIT), detail={"a": 1})])
    one_of(waiting)
    item = one_of(waiting)
    assert isinstance(item, Captured)
    assert (len(item.raw), item.size, item.detail["a"]) == (HEAD, 2 * LIMIT, 1)


def test_an_empty_backlog_accepts_a_body_larger_than_the_limit():
    waiting = backlog()
    for _ in range(2):
        waiting.add([seen(b"x" * (2 * LIMIT))])
        item = one_of(waiting)
        assert isinstance(item, Captured)
        assert len(item.raw) == 2 * LIMIT
        waiting.settle()


def test_a_batch_of_entries_ends_at_a_job_or_at_the_byte_limit():
    waiting = backlog()
    for size in (10, 10, 10, 600, 600):
        waiting.add([seen(b"x" * size)])
    job = threading.Event()
    waiting.put(job)
    waiting.add([seen(b"last")])
    sizes = [
        ([len(one.raw) for one in taken], job)
        for taken, _, job, _ in map(waiting.take, (2, 9, 9), (999, 500, 999))
    ]
    assert sizes == [([10, 10], None), ([10, 600], None), ([600], job)]
    assert waiting.take(9, 1000).captured[0].raw == b"last"
    assert waiting._came == waiting._went


def test_findings_do_not_end_a_batch_of_entries():
    waiting = backlog()
    found = [Finding(number, "x", Severity.HINT, "x") for number in range(3)]
    for finding in found:
        waiting.add([seen(b"x")])
        waiting.put(LintReport([finding], finding.seq))
    taken = waiting.take(9, 1000)
    assert (len(taken.captured), taken.judgement, taken.items) == (3, LintReport(found, 2), 6)
    assert not waiting
