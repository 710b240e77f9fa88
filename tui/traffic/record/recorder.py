"""The recorder: takes captured values from the taps, in any thread, and stores them in its own thread.

A tap only appends to a queue (`capture`). Classifying, pairing, redacting and storing happen in the
recorder's thread, with one transaction for all values that arrive within `WINDOW`. Rows appear in
`EntryColumns` once they are stored. Neither a server nor a disk can make a tap wait or fail: under overload,
first bodies are dropped, then entries, and an entry reports it; while storing fails, the recording continues
in memory.
"""

import logging
import sys
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from operator import attrgetter

from tui.core.background import DaemonThread
from tui.core.errors import reason_of
from tui.core.secrets.named_values import SecretArguments
from tui.core.traffic import Captured, Direction, Entry, Finding, Kind, TrafficWriter
from tui.core.units import noun
from tui.traffic.record.entry_columns import EntryColumns, column_row
from tui.traffic.record.entry_reader import EntryReader
from tui.traffic.record.secret_texts import Redact

HEAD = 1024
"""Maximum bytes of a body that is accepted when there is little room."""

ENTRY_BYTES = 600
"""Memory of a queued entry besides its bytes."""

_MONO_NS, _SEQ = attrgetter("mono_ns"), attrgetter("seq")

WriterJob = Callable[[TrafficWriter], None]
RecorderJob = threading.Event | WriterJob
"""Work for the recorder's thread between entries: set an event, use the writer."""


class Backlog:
    """Captured values in order of time, and jobs between them, which are always accepted."""

    def __init__(self, limit: int) -> None:
        """Create a backlog of at most `limit` bytes; when three quarters full, it accepts only heads."""
        self._limit, self._tight = limit, limit * 3 // 4
        self._queue: deque[Captured | RecorderJob] = deque()
        # Each is written by one side. Several taps at once may make the first one inexact, but never the
        # queue, and both are reset whenever the queue is empty.
        self._came = self._went = 0
        self._lost_entries = self._lost_bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._queue)

    def __bool__(self) -> bool:
        return bool(self._queue) or self._lost_entries > 0

    @property
    def crowded(self) -> bool:
        """Whether it is half full: bodies would soon be dropped, so taps should slow their servers down."""
        return self._came - self._went > self._limit // 2

    def clear(self) -> None:
        """Drop everything, because nobody will take it."""
        self._queue.clear()
        self._came = self._went = self._lost_entries = 0

    # ---- any thread --------------------------------------------------------------------------------------

    def add(self, several: Sequence[Captured]) -> None:
        for captured in several:
            room = len(captured.raw) + ENTRY_BYTES
            if self._came - self._went + room > self._tight or self._lost_entries:
                self._add_tightly(captured)
            else:
                self._came += room
                self._queue.append(captured)

    def put(self, job: RecorderJob) -> None:
        if (gap := self._gap()) is not None:
            self._queue.append(gap)
        self._queue.append(job)

    def _add_tightly(self, captured: Captured) -> None:
        size = captured.size if captured.size >= 0 else len(captured.raw)
        free = self._limit - (self._came - self._went)
        if free < ENTRY_BYTES + HEAD and self._queue:
            with self._lock:
                self._lost_entries += 1
                self._lost_bytes += size
            return
        if (gap := self._gap()) is not None:
            self._queue.append(gap)
        # A value larger than the limit is taken whole if nothing is waiting, because it is in memory already.
        if len(captured.raw) > HEAD and self._queue:
            detail = {**captured.detail, "cut": "too much at once"}
            captured = captured._replace(raw=captured.raw[:HEAD], size=size, detail=detail)
        self._came += len(captured.raw) + ENTRY_BYTES
        self._queue.append(captured)

    # ---- the recorder's thread ---------------------------------------------------------------------------

    def take(self, most: int, octets: int) -> tuple[list[Captured], RecorderJob | None]:
        """Take up to `most` captured values of about `octets` bytes, up to the next job, and that job."""
        queue, taken, job = self._queue, list[Captured](), None
        room = 0
        while queue and len(taken) < most and room < octets:
            item = queue.popleft()
            if not isinstance(item, Captured):
                job = item
                break
            room += len(item.raw)
            taken.append(item)
        with suppress(TypeError):  # an invalid time is rejected later
            taken.sort(key=_MONO_NS)  # they are from several threads, and from taps in other processes
        self._went += room + ENTRY_BYTES * len(taken)
        if not taken and job is None and (gap := self._gap()) is not None:
            taken.append(gap)
        return taken, job

    def settle(self) -> None:
        if not self._queue:
            self._came = self._went = 0

    def _gap(self) -> Captured | None:
        """Return an event about what was dropped since the last one, None if nothing was."""
        if not self._lost_entries:
            return None
        with self._lock:
            entries, octets = self._lost_entries, self._lost_bytes
            self._lost_entries = self._lost_bytes = 0
        what = f"{entries:,} {noun(entries, 'entry')} of {octets:,} {noun(octets, 'byte')}"
        return Captured(
            "",
            Direction.NONE,
            time.monotonic_ns(),
            time.time_ns(),
            f"{what} lost: they came faster than they could be recorded".encode(),
            Kind.EVENT,
            detail={"event": "dropped", "entries": entries, "bytes": octets},
        )


BODY_CAP = 256 * 1024
"""Maximum bytes of a body that are recorded, unless all are."""

QUEUE_BYTES = 64 * 1024 * 1024
"""Maximum bytes in the backlog."""

WINDOW = 0.03
"""Seconds in which entries are collected to be stored together; 50 ms with the commit."""

BATCH = 4096
BATCH_BYTES = 4 * 1024 * 1024
"""Maximum captured values and bytes of one transaction."""

RETRY_SECONDS = 1.0
"""How often a failed store is retried while nothing arrives."""

_LOG = logging.getLogger(__name__)


RING_BYTES = 32 * 1024 * 1024
RING_ENTRIES = 20_000


class RecentEntries:
    """The last entries with their bodies, for any thread; read like a store, but without searching."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self._findings: deque[Finding] = deque(maxlen=RING_ENTRIES)
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, entries: Sequence[Entry], findings: Sequence[Finding] = ()) -> None:
        """Add entries and findings; the oldest are dropped."""
        with self._lock:
            for entry in entries:
                self._entries.append(entry)
                self._bytes += len(entry.body)
            while len(self._entries) > 1 and (self._bytes > RING_BYTES or len(self._entries) > RING_ENTRIES):
                self._bytes -= len(self._entries.popleft().body)
            self._findings.extend(findings)

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        return [entry._replace(redactions=()) for entry in self.whole(after, limit, 0)]

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        with self._lock:
            start = bisect_right(self._entries, after, key=_SEQ)
            found = list(islice(self._entries, start, start + limit))
        return [entry if len(entry.body) <= most else entry._replace(body=b"") for entry in found]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        found = self.whole(seq - 1, 1, sys.maxsize)
        if not found or found[0].seq != seq:
            return None
        return found[0]._replace(body=found[0].body[:body_limit])

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        found = self.entry(seq, sys.maxsize)
        stop = None if length < 0 else start + length
        return found.body[start:stop] if found is not None else b""

    def bodies(self, first: int, last: int) -> Sequence[tuple[int, bytes]]:
        found = self.whole(first - 1, last - first + 1, sys.maxsize)
        return [(entry.seq, entry.body) for entry in found if entry.seq <= last]

    def findings_of(self, seq: int) -> Sequence[Finding]:
        with self._lock:
            return [finding for finding in self._findings if finding.seq == seq]


class Recorder:
    """Records traffic. `entries` grow as entries are stored.

    `problem` says why nothing is stored, or "". Meanwhile, `memory` has the last entries with bodies.
    """

    def __init__(
        self,
        writer_factory: Callable[[], TrafficWriter],
        entries: EntryColumns,
        *,
        redact: Redact,
        arguments: SecretArguments | None = None,
        on_batch: Callable[[Sequence[Entry]], None] | None = None,
        queue_bytes: int = QUEUE_BYTES,
    ) -> None:
        """Create a recorder that accepts values at once and stores them from `start()` on.

        `writer_factory` opens the store, `on_batch` is called with stored entries, both in the recorder's
        thread: the first may raise OSError and the like, the second must be fast and bound what it keeps.
        `arguments` knows which arguments of calls are secret.
        """
        self.entries = entries
        self.memory = RecentEntries()
        self._factory, self._on_batch = writer_factory, on_batch
        self._reader = EntryReader(redact, BODY_CAP, arguments)
        self.backlog = Backlog(queue_bytes)
        self._awake = self._closing = self._is_open = False
        self._wake, self._hurry = threading.Event(), threading.Event()
        self._writer: TrafficWriter | None = None
        self._reports: deque[tuple[Sequence[Finding], int]] = deque()  # of the linter, not stored yet
        self.problem = ""
        self._thread: DaemonThread | None = None

    # ---- any thread --------------------------------------------------------------------------------------

    def capture(self, captured: Captured) -> None:
        """Accept a captured value. Never raises or waits. Takes some tenths of a microsecond."""
        self.capture_all((captured,))

    def capture_all(self, several: Sequence[Captured]) -> None:
        """Accept several captured values, like `capture`."""
        if self._closing:
            return
        try:
            self.backlog.add(several)
            if not self._awake:
                self._wake_up()
        except Exception:  # a tap must never fail, whatever it passes
            return

    def add_findings(self, findings: Sequence[Finding], judged: int = 0) -> None:
        """Store findings of stored entries, and their severity in the columns.

        After that, all findings of the entries up to `judged` are known.
        """
        if findings or judged:
            self._reports.append((list(findings), judged))
            self._wake_up()

    def submit(self, job: WriterJob) -> None:
        """Run `job` with the writer in the recorder's thread, after the entries so far."""
        self.backlog.put(job)
        self._wake_up()

    def start(self, *, keep_all: bool = False) -> None:
        """Start storing, with complete bodies if `keep_all`. A second start does nothing."""
        if keep_all:
            self._reader.cap = 0
        if self._thread is None and not self._closing:
            self._thread = DaemonThread("recorder", self._run, failed=self._failed)
            self._thread.start()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything so far is stored, at most `timeout` seconds; return whether it is."""
        if self._thread is None or not self._thread.is_alive or self._thread.is_current:
            return not self.backlog
        done = threading.Event()
        self.backlog.put(done)
        self._hurry.set()
        self._wake_up()
        return done.wait(timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Store everything, close the store and stop; return whether that took less than `timeout`."""
        self._closing = True
        self._hurry.set()
        self._wake.set()
        if self._thread is None:
            return True
        self._thread.closing.set()
        return self._thread.join(timeout)

    def _failed(self, error: Exception, is_over: bool) -> None:
        self._wake.set()  # what waits is recorded without another capture
        if is_over:
            self.problem = f"an internal error ({type(error).__name__})"
            self._closing = True  # what nobody takes would fill the backlog, and slow the servers down
            self.backlog.clear()
            self._close_store()

    def _wake_up(self) -> None:
        self._awake = True
        self._wake.set()

    # ---- the recorder's thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        if not self._is_open:
            self._is_open = True
            try:
                self._writer = self._factory()
                self.problem = self._writer.problem
            except Exception as error:  # the recording continues in memory
                self.problem = reason_of(error, 600)
        while not self._closing:
            self._wake.wait(RETRY_SECONDS if self.problem and self._writer is not None else None)
            self._wake.clear()
            self._hurry.wait(WINDOW)
            self._hurry.clear()
            self._awake = False
            self._drain()
        self._drain()
        self._close_store()

    def _drain(self) -> None:
        """Store the current backlog. What arrives meanwhile waits for the next window, unless it is large."""
        left = len(self.backlog)
        while self.backlog and (left > 0 or self._closing or len(self.backlog) > BATCH):
            with _surviving("recording a batch"):  # each round removes something
                left -= self._drain_batch()
            self.backlog.settle()
        if self._reports or (self.problem and not self._closing):
            self._store([])
        if self.backlog:
            self._wake_up()

    def _drain_batch(self) -> int:
        taken, job = self.backlog.take(BATCH, BATCH_BYTES)
        batch: list[Entry] = []
        for captured, body in zip(taken, self._reader.bodies(taken), strict=True):
            try:
                self._reader.read(captured, batch, body)
            except Exception:  # a bug with one entry must not end the recording of all
                _warn("reading an entry")
        if batch or job is not None:
            self._store(batch)
        if isinstance(job, threading.Event):
            job.set()
        elif job is not None and self._writer is not None:
            with _surviving("a job"):
                job(self._writer)
        return max(1, len(taken) + (job is not None))

    def _store(self, batch: list[Entry]) -> None:
        """Store entries and pending findings in one transaction."""
        findings: list[Finding] = []
        judged = 0
        while self._reports:
            found, upto = self._reports.popleft()
            findings += found
            judged = max(judged, upto)
        if not batch and not findings and not judged and not self.problem:
            return
        if self._writer is not None:
            try:
                self._writer.write(batch, findings, judged)
                self.problem, self.entries.gone = self._writer.problem, self._writer.gone
            except Exception as problem:  # the state of the store is unknown
                _warn("storing")
                self.problem = f"{type(problem).__name__}: {problem}"
                self._close_store()
        if self.problem:
            self.memory.add(batch, findings)
        with _surviving("showing a batch"):
            self.entries.extend([column_row(entry) for entry in batch])
        self.entries.set_severities((finding.severity, (finding.seq,)) for finding in findings)
        if batch and self._on_batch is not None:
            with _surviving("notifying about a batch"):
                self._on_batch(batch)

    def _close_store(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with _surviving("closing the store"):
                writer.close()


@contextmanager
def _surviving(what: str) -> Iterator[None]:
    """Log any error, which must not end the recording."""
    try:
        yield
    except Exception:
        _warn(what)


def _warn(what: str) -> None:
    _LOG.warning("recorder: %s failed", what, exc_info=True)
