"""Runs the linter during a recording, in its own thread, which never delays the recording.

The thread reads entries from the store, once it is told that they are there. It works in slices and rests
between them, so that it takes at most a share of the interpreter: under a flood, it falls behind, and catches
up afterwards. Entries that are not linted before the end are linted when the recording is opened.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tui.core.background import DaemonThread
from tui.core.errors import StorageError
from tui.core.traffic import Entry, Finding, TrafficReader

if TYPE_CHECKING:  # its rules are imported when something is linted: a command lints nothing
    from tui.traffic.lint.lint import Linter
    from tui.traffic.lint.rules_tools import SchemaValidator

SLICE = 0.001
"""Seconds of work between two rests."""

SHARE = 0.2
"""The share of time that the thread works while entries keep coming."""

CALM_SHARE = 0.6
"""The same after `CALM` seconds without new entries."""

CALM = 0.25

PAUSE = 0.5
"""Idle seconds after which the linter reports its progress even without a finding."""

CHUNK, SMALL = 64, 16 * 1024
"""Number of entries read together, and the maximum bytes of a body to read with them."""

_LOG = logging.getLogger(__name__)


class LintThread:
    """A linter with its thread; `faults` counts failures of the linter itself."""

    def __init__(
        self,
        report: Callable[[Sequence[Finding], int], None],
        open_reader: Callable[[], TrafficReader],
        judge: "Callable[[], SchemaValidator | None] | None" = None,
    ) -> None:
        """Create a linter; it starts with `start()`.

        `report`, `open_reader` (of the store) and `judge` are called in the linter's thread; the judge is
        closed there if it has a `close`. `report` gets findings, and the seq of the entry up to which they
        are complete.
        """
        self.faults = 0
        self._report, self._open_reader, self._make_judge = report, open_reader, judge
        self._linter: Linter | None = None
        self._reader: TrafficReader | None = None
        self._next, self._last = 1, 0
        self._lock = threading.Lock()
        self._wake, self._idle = threading.Event(), threading.Event()
        self._thread = DaemonThread("linter", self._run, failed=self._failed)
        self._closing = self._thread.closing
        self._found: list[Finding] = []
        self._told, self._skipped, self._started = 0, False, False
        self._since = self._offered = 0.0

    # ---- any thread ----------------------------------------------------------------------------------

    def offer(self, entries: Sequence[Entry]) -> None:
        """Tell that entries are stored. Fast, never raises, never waits."""
        with self._lock:
            self._last, self._offered = entries[-1].seq, time.perf_counter()
            self._idle.clear()
        self._wake.set()

    def revision(self, source: str) -> str:
        return "" if self._linter is None else self._linter.revision(source)

    @property
    def lag(self) -> int:
        return max(0, self._last - self._next + 1)

    @property
    def judged(self) -> int:
        """Seq of the last linted entry."""
        return self._next - 1

    def start(self) -> None:
        """Start, unless it has been started or closed. Entries offered before are linted first."""
        with self._lock:
            if self._started or self._closing.is_set():
                return
            self._started = True
        self._thread.start()

    def settle(self, timeout: float = 5.0) -> bool:
        """Wait until all offered entries are linted and reported; return whether they are."""
        deadline = time.monotonic() + timeout
        while self.lag or not self._idle.is_set():
            left = deadline - time.monotonic()
            if left <= 0 or not self._thread.is_alive:
                return False
            self._idle.wait(min(left, 0.05))
        return True

    def close(self, timeout: float = 5.0) -> bool:
        """Stop, skipping what is not linted yet. Return whether that took less than `timeout`."""
        self._closing.set()
        self._wake.set()
        return self._thread.join(timeout)

    def _failed(self, error: Exception, is_over: bool) -> None:
        self.faults += 1
        self._skipped = True

    # ---- the linter's thread -------------------------------------------------------------------------

    def _run(self) -> None:
        from tui.traffic.lint.lint import Linter

        judge = self._make_judge() if self._make_judge is not None else None
        self._linter = linter = Linter(judge)
        try:
            while not self._closing.is_set():
                self._since = time.perf_counter()
                if self.lag:
                    self._lint_pending(linter)
                    self._hand_over()
                with self._lock:
                    done = self._next > self._last
                    if done:
                        self._idle.set()
                        self._wake.clear()
                if done and not self._wake.wait(PAUSE):
                    self._hand_over(always=True)
                    self._wake.wait()
        finally:
            self._hand_over(always=True)
            self._close_reader()
            close = getattr(judge, "close", None)
            if callable(close):
                close()

    def _lint_pending(self, linter: "Linter") -> None:
        """Lint what is stored by now. If nothing can be read, also with a new reader, skip it."""
        begun, is_new = self._next, self._reader is None
        try:
            self._reader = reader = self._reader or self._open_reader()
            for entry in _entries(reader, self._next - 1):
                if self._closing.is_set():
                    return
                self._feed(linter, entry)
                if self._next > self._last:
                    return
        except Exception:  # an unreadable store does not end linting
            self.faults += 1
            _LOG.warning("linter: cannot read the entries", exc_info=True)
        if self._next == begun:  # dropped from the store, or never stored
            self._close_reader()
            with self._lock:
                if is_new and self._next <= self._last:
                    self._skipped, self._next = True, self._last + 1

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _feed(self, linter: "Linter", entry: Entry) -> None:
        try:
            self._found += linter.feed(entry)
        except Exception:  # a bug with one entry must not stop the linter
            self.faults += 1
            _LOG.warning("linter: cannot check #%d", entry.seq, exc_info=True)
        self._next = entry.seq + 1
        now = time.perf_counter()
        worked = now - self._since
        if worked > SLICE:
            self._hand_over()
            share = SHARE if now - self._offered < CALM else CALM_SHARE
            self._closing.wait(min(0.05, worked * (1 / share - 1)))
            self._since = time.perf_counter()

    def _hand_over(self, always: bool = False) -> None:
        judged = self._told if self._skipped else self._next - 1
        if not self._found and not (always and judged > self._told):
            return
        found, self._found, self._told = self._found, [], judged
        try:
            self._report(found, judged)
        except Exception:  # a failing receiver must not stop the linter
            self.faults += 1
            self._skipped = True
            _LOG.warning("linter: cannot deliver the findings", exc_info=True)


def lint_entries(
    linter: "Linter", reader: TrafficReader, after: int = 0
) -> Iterator[tuple[Entry, Sequence[Finding]]]:
    """Lint the readable entries with seq > `after`, in order; yield each with its findings."""
    for entry in _entries(reader, after):
        yield entry, linter.feed(entry)


def _entries(reader: TrafficReader, after: int) -> Iterator[Entry]:
    """Yield the readable entries after `after`, with bodies if the linter reads them."""
    from tui.traffic.lint.lint import SKIPPED
    from tui.traffic.lint.rules_messages import MAX_READ

    while True:
        try:
            page = reader.whole(after, CHUNK, SMALL)
        except StorageError:  # one of them is damaged: read each individually
            page = reader.columns(after, CHUNK)
        if not page:
            return
        for entry in page:
            found: Entry | None = entry
            if entry.size and not entry.body and entry.kind not in SKIPPED:
                try:
                    found = reader.entry(entry.seq, MAX_READ + 1)
                except StorageError:
                    found = None
            if found is not None and not found.is_body_lost:
                yield found
        after = page[-1].seq
