"""The recorder: loses nothing and never blocks, whatever happens to the store."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import wait_until
from tests.unit.traffic.tapped import MemoryStore, hide, line, seen
from tui.core import background
from tui.core.traffic import Captured, Direction, Entry, Finding, Kind, Outcome, Severity
from tui.traffic.filter.view import View
from tui.traffic.record import recorder as recorder_module
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.recorder import ENTRY_BYTES, HEAD, Backlog, RecentEntries, Recorder, RecorderJob


class Stage:
    """A recorder and its store. Both are closed with the test."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.recorder = self.make()

    def make(self, **options: Any) -> Recorder:
        factory = options.pop("factory", lambda: self.store)
        self.recorder = Recorder(factory, EntryColumns(), redact=options.pop("redact", hide), **options)
        return self.recorder

    def record(self, *captured: Captured) -> list[Entry]:
        self.recorder.start()
        for one in captured:
            self.recorder.capture(one)
        assert self.recorder.flush(10)
        return self.store.entries


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.store.going.set()
    assert made.recorder.close(10)


def test_messages_captured_before_the_start_are_stored_too(stage: Stage):
    stage.recorder.capture(seen(b"early"))
    assert [entry.body for entry in stage.record(seen(b"late"))] == [b"early", b"late"]


def test_a_row_appears_only_once_it_is_stored(stage: Stage):
    stage.store.going.clear()
    stage.recorder.start()
    stage.recorder.capture(seen(b"x"))
    assert not stage.recorder.flush(0.1)
    assert len(stage.recorder.entries) == 0
    stage.store.going.set()
    assert stage.recorder.flush(10)
    assert len(stage.recorder.entries) == 1


def test_captures_from_many_threads_are_all_stored_in_order_and_numbered_without_gaps(stage: Stage):
    stage.recorder.start()

    def tap(name: str) -> None:
        for number in range(500):
            stage.recorder.capture(seen(b"%d" % number, source=name))

    threads = [threading.Thread(target=tap, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stage.recorder.flush(10)
    assert [entry.seq for entry in stage.store.entries] == list(range(1, 2001))
    for name in "abcd":
        bodies = [int(entry.body) for entry in stage.store.entries if entry.source == name]
        assert bodies == list(range(500))


def event(word: str, **detail: object) -> Captured:
    return seen(b"{}", Direction.NONE, Kind.EVENT, detail={"event": word, **detail})


def asked(known: object, method: str = "ping", way: Direction = Direction.OUT) -> Captured:
    return seen(line(id=known, method=method), way)


@pytest.mark.parametrize(
    ("captured", "outcomes"),
    [
        pytest.param(
            [asked(1), seen(line(id=1, result={}, error={"code": 1})), asked(2), event("gave up", id=2)],
            {0: Outcome.ERROR, 2: Outcome.ERROR},
            id="unreadable answer, abandoned request",
        ),
        pytest.param(
            [asked(1), seen(line(id=1, result={})), event("gave up", id=1), event("gave up", id=1)],
            {0: Outcome.ERROR, 1: Outcome.OK, 2: Outcome.ERROR, 3: Outcome.NONE},
            id="answer that the host rejects",
        ),
        pytest.param(
            [event("connect"), asked(1), asked("a", "roots/list", Direction.IN), event("stop")],
            {1: Outcome.CANCELLED, 2: Outcome.CANCELLED},
            id="mcptui disconnects",
        ),
        pytest.param(
            [
                event("spawn"),
                asked(1),
                seen(line(id=1, result={})),
                event("stop"),
                asked("a", "roots/list", Direction.IN),
                event("exit", code=0),
            ],
            {4: Outcome.CANCELLED},
            id="server request while it stops",
        ),
    ],
)
def test_requests_that_will_get_no_answer_are_not_pending(
    stage: Stage, captured: list[Captured], outcomes: dict[int, Outcome]
):
    stage.record(*captured)
    columns = stage.recorder.entries
    assert {index: columns.outcome[index] for index in outcomes} == outcomes
    assert columns.pending() == []


# ---- a store that fails --------------------------------------------------------------------------------


def test_if_the_store_cannot_be_opened_the_recording_is_kept_in_memory(stage: Stage):
    def refuse() -> MemoryStore:
        raise PermissionError("no")

    recorder = stage.make(factory=refuse)
    stage.record(seen(b"kept"))
    recorder.add_findings([Finding(1, "not-json", Severity.ERROR, "Not JSON.")])
    assert recorder.flush()
    assert "no" in recorder.problem
    assert recorder.memory.body(1) == b"kept"
    assert [finding.code for finding in recorder.memory.findings_of(1)] == ["not-json"]
    assert len(recorder.entries) == 1


def test_a_full_disk_is_reported_until_entries_can_be_stored_again(stage: Stage):
    stage.store.problem = "the disk is full"
    stage.record(seen(b"1"))
    assert stage.recorder.problem == "the disk is full"
    assert stage.recorder.memory.body(1) == b"1"
    stage.store.problem = ""
    stage.record(seen(b"2"))
    assert stage.recorder.problem == ""
    assert [entry.body for entry in stage.store.entries] == [b"2"]


def test_a_recovered_store_is_noticed_without_new_entries(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recorder_module, "RETRY_SECONDS", 0.01)
    stage.store.problem = "the disk is full"
    stage.record(seen(b"1"))
    assert stage.recorder.problem
    stage.store.problem = ""
    wait_until(lambda: not stage.recorder.problem, 5)


@pytest.mark.parametrize("first", ["entries", "findings"])
def test_a_store_that_raises_is_abandoned(stage: Stage, first: str):
    stage.store.error = RuntimeError("odd")
    stage.recorder.start()
    if first == "entries":
        stage.record(seen(b"1"))
    else:
        stage.recorder.add_findings([Finding(1, "x", Severity.HINT, "x")])
        assert stage.recorder.flush()
    stage.record(seen(b"2"))
    assert "odd" in stage.recorder.problem
    assert stage.recorder.memory.body(2 if first == "entries" else 1) == b"2"
    assert stage.store.closed == 1


def test_closing_stores_the_queue_and_closes_the_store(stage: Stage):
    stage.recorder.start()
    for number in range(100):
        stage.recorder.capture(seen(b"%d" % number))
    assert stage.recorder.close(10)
    assert (len(stage.store.entries), stage.store.closed) == (100, 1)
    stage.recorder.capture(seen(b"after the end"))
    assert stage.recorder.flush() and not stage.recorder.backlog


def test_closing_does_not_wait_for_a_disk_that_hangs(stage: Stage):
    stage.recorder.start()
    stage.store.going.clear()
    stage.recorder.capture(seen(b"x"))
    began = time.monotonic()
    assert not stage.recorder.close(0.1)
    assert time.monotonic() - began < 10


def test_closing_before_the_start_does_nothing(stage: Stage):
    assert stage.recorder.close(0)
    stage.recorder.start()
    assert stage.recorder._thread is None
    assert stage.recorder.flush()


def test_the_thread_of_the_recorder_does_not_wait_for_itself(stage: Stage):
    told: list[bool] = []
    stage.recorder.submit(lambda store: told.append(stage.recorder.flush(50)))
    began = time.monotonic()
    stage.record()
    assert len(told) == 1
    assert time.monotonic() - began < 20


# ---- overload and invalid input ------------------------------------------------------------------------


def test_overload_drops_bodies_first_and_then_entries_with_a_notice(stage: Stage):
    recorder = stage.make(queue_bytes=200_000)
    for _ in range(400):
        recorder.capture(seen(b"x" * 3000))
    entries = stage.record()
    whole = [entry for entry in entries if len(entry.body) == 3000]
    heads = [entry for entry in entries if entry.detail.get("cut")]
    assert whole and heads
    assert {entry.size for entry in whole + heads} == {3000}
    gap = entries[-1]
    assert (gap.kind, gap.method) == (Kind.EVENT, "dropped")
    assert gap.detail["entries"] == 400 - len(whole) - len(heads)
    assert gap.detail["bytes"] == 3000 * gap.detail["entries"]
    assert b"lost: they came faster than they could be recorded" in gap.body
    stage.record(seen(b"again"))
    assert entries[-1].body == b"again"


def test_entries_are_in_the_order_of_their_times(stage: Stage):
    late, early = seen(b"late")._replace(mono_ns=5_000), seen(b"early")._replace(mono_ns=4_000)
    stage.recorder.capture(late)
    stage.recorder.capture(early)
    assert [entry.body for entry in stage.record(seen(b"first"))] == [b"first", b"early", b"late"]


def test_a_gap_is_recorded_before_later_entries(stage: Stage):
    recorder = stage.make(queue_bytes=20 * ENTRY_BYTES)
    stage.store.going.clear()
    recorder.start()
    sent = 0
    while not recorder.backlog._lost_entries:
        recorder.capture(seen(b"%d" % sent))
        sent += 1
    stage.store.going.set()
    wait_until(lambda: recorder.backlog._came == 0)
    entries = stage.record(seen(b"after")._replace(mono_ns=1 << 62))
    methods = [entry.method for entry in entries]
    assert methods.index("dropped") == len(entries) - 2


@pytest.mark.parametrize(
    "nonsense",
    [None, 7, Captured("x", Direction.IN, 1, 1, None), Captured(None, 9, None, None, b"x")],  # type: ignore[arg-type]
)
def test_an_invalid_capture_does_not_raise_in_the_tap(stage: Stage, nonsense: Any):
    stage.recorder.capture(nonsense)
    entries = stage.record(seen(b"fine"))
    assert entries[-1].body == b"fine"


def test_a_failing_batch_receiver_does_not_end_the_recording(stage: Stage):
    told: list[Entry] = []

    def look(entries: Any) -> None:
        assert len(stage.recorder.entries) >= entries[-1].seq
        told.extend(entries)
        raise RuntimeError("mine")

    stage.make(on_batch=look)
    stage.record(seen(b"1"))
    assert stage.record(seen(b"2")) == told


def test_the_last_linted_entry_is_stored_even_without_findings(stage: Stage):
    stage.record(seen(b"1"), seen(b"2"))
    stage.recorder.add_findings([], 1)
    stage.record()
    assert stage.store.judged == 1
    stage.recorder.add_findings([], 2)
    assert stage.recorder.close()
    assert stage.store.judged == 2


def test_findings_are_stored_and_shown_in_the_columns(stage: Stage):
    finding = Finding(1, "not-json", Severity.ERROR, "Not JSON.")
    stage.recorder.capture(seen(b"x"))
    stage.recorder.add_findings([finding])
    stage.record()
    assert stage.store.findings == [finding]
    assert stage.recorder.entries.severity[0] == Severity.ERROR


def test_an_action_has_exclusive_use_of_the_store(stage: Stage):
    used: list[tuple[object, int]] = []
    stage.record(seen(b"x"))
    stage.recorder.submit(lambda store: used.append((store, threading.get_ident())))
    stage.recorder.submit(lambda store: 1 / 0)
    stage.record(seen(b"y"))
    assert used == [(stage.store, stage.store.threads.pop())]


def test_entries_dropped_by_the_store_are_dropped_from_the_columns(stage: Stage):
    view = View(stage.recorder.entries)
    stage.record(seen(b"old"))
    view.advance()
    before = view.revision
    stage.store.gone = 1
    stage.record(seen(b"new"))
    assert stage.recorder.entries.gone == 1
    view.advance()
    assert view.revision > before


def test_a_thread_that_fails_for_good_slows_no_server_down(monkeypatch: pytest.MonkeyPatch):
    def defect(self: Recorder) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(background, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(Recorder, "_drain", defect)
    recorder = Recorder(MemoryStore, EntryColumns(), redact=hide, queue_bytes=20 * ENTRY_BYTES)
    recorder.start()
    recorder.capture(seen(b"x" * ENTRY_BYTES * 15))
    assert recorder.backlog.crowded
    wait_until(lambda: bool(recorder.problem))
    recorder.capture(seen(b"x" * ENTRY_BYTES * 15))
    assert (recorder.backlog.crowded, len(recorder.backlog), recorder.close()) == (False, 0, True)


def test_a_restarted_thread_stores_what_was_waiting(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    real, calls = Recorder._drain, list[int]()

    def defect_at_first(self: Recorder) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("a defect")
        real(self)

    monkeypatch.setattr(background, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(Recorder, "_drain", defect_at_first)
    stage.recorder.start()
    stage.recorder.capture(seen(line(method="ping", id=1)))
    wait_until(lambda: stage.store.entries)


LIMIT = 20_000


def one_of(waiting: Backlog) -> Captured | RecorderJob | None:
    taken, job = waiting.take(1, 1)
    return taken[0] if taken else job


@given(st.lists(st.integers(0, 5000) | st.none(), max_size=200))
def test_every_entry_is_recorded_or_counted_and_the_memory_is_bounded(steps: list[int | None]):
    waiting, added, seen_entries, counted = Backlog(LIMIT), 0, 0, 0

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


def test_a_body_over_the_byte_limit_is_truncated_unless_nothing_else_waits():
    waiting, large = Backlog(LIMIT), seen(b"x" * (2 * LIMIT), detail={"a": 1})
    for _ in range(2):
        waiting.add([large])
        assert one_of(waiting) == large
        waiting.settle()
    waiting.add([seen(b"first")])
    waiting.add([large])
    one_of(waiting)
    item = one_of(waiting)
    assert (len(item.raw), item.size, item.detail["a"]) == (HEAD, 2 * LIMIT, 1)


def test_a_batch_of_entries_ends_at_a_job_or_at_the_byte_limit():
    waiting = Backlog(LIMIT)
    for size in (10, 10, 10, 600, 600):
        waiting.add([seen(b"x" * size)])
    job = threading.Event()
    waiting.put(job)
    waiting.add([seen(b"last")])
    sizes = [
        ([len(one.raw) for one in taken], job) for taken, job in map(waiting.take, (2, 9, 9), (999, 500, 999))
    ]
    assert sizes == [([10, 10], None), ([10, 600], None), ([600], job)]
    assert waiting.take(9, 1000)[0][0].raw == b"last"
    assert waiting._came == waiting._went


# ---- the last bodies in memory, for when nothing can be stored


def kept(seq: int, body: bytes) -> Entry:
    times = seen(body)[2:4]
    return Entry(seq, *times, "s", Direction.IN, Kind.NOT_JSON, size=len(body), body=body)


def test_recent_entries_are_read_like_a_store():
    ring = RecentEntries()
    findings = [Finding(seq, "x", Severity.HINT, "x") for seq in (5, 6, 7)]
    ring.add([kept(5, b"Hello"), kept(6, b"world"), kept(7, b"x")], findings)
    assert ring.columns(5, 10)[0].body == b""
    assert [(row.seq, row.body) for row in ring.whole(4, 2, 1)] == [(5, b""), (6, b"")]
    assert [(row.seq, row.body) for row in ring.whole(6, 2, 1)] == [(7, b"x")]
    found = ring.entry(5, body_limit=2)
    assert found is not None and (found.body, found.size) == (b"He", 5)
    assert (ring.body(6, 1, 2), ring.body(6, 3), ring.entry(8), ring.entry(4)) == (b"or", b"ld", None, None)
    assert ring.bodies(6, 9) == [(6, b"world"), (7, b"x")]
    assert ring.findings_of(6) == findings[1:2]


def test_the_oldest_are_dropped_beyond_the_limits_but_one_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recorder_module, "RING_BYTES", 100)
    monkeypatch.setattr(recorder_module, "RING_ENTRIES", 5)
    ring = RecentEntries()
    ring.add([kept(seq, b"x") for seq in range(1, 8)])
    assert [row.seq for row in ring.columns(0, 10)] == [3, 4, 5, 6, 7]
    ring.add([kept(8, b"x" * 98)])
    assert [row.seq for row in ring.columns(0, 10)] == [6, 7, 8]
    assert (ring.entry(1), ring.body(1)) == (None, b"")
    ring.add([kept(9, b"x" * 1000)])
    assert [len(row.body) for row in ring.whole(0, 10, 1000)] == [1000]
