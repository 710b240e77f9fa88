"""What waits to be recorded: bounded by bytes; what is too much loses its body, then itself, and says so.

Any thread adds, one thread takes. Adding takes no lock while there is room.
"""

import threading
from collections import deque
from collections.abc import Callable

from tui.core.traffic import Captured, Direction, Finding, Kind, TrafficWriter

HEAD = 1024
"""Bytes of a body that are taken when there is little room."""

ENTRY_BYTES = 600
"""What a waiting entry costs beside its bytes."""

Action = Callable[[TrafficWriter], None]
RecorderJob = threading.Event | Action | list[Finding]
"""What the recorder's thread has to do between entries: tell somebody, use the writer, store findings."""


class Backlog:
    """Captured values in order, and errands between them, which are never refused."""

    def __init__(self, limit: int, mono_ns: Callable[[], int], wall_ns: Callable[[], int]) -> None:
        """Make a backlog of at most `limit` bytes; from three quarters of it on only heads are taken."""
        self._limit, self._tight = limit, limit * 3 // 4
        self._mono_ns, self._wall_ns = mono_ns, wall_ns
        self._queue: deque[Captured | RecorderJob] = deque()
        # Each is written by one side; several taps at once may make the first one inexact, never the queue,
        # and both begin anew whenever the queue is empty.
        self._came = self._went = 0
        self._lost_entries = self._lost_bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._queue)

    def __bool__(self) -> bool:
        return bool(self._queue) or self._lost_entries > 0

    @property
    def crowded(self) -> bool:
        """Whether it is half full: time for who adds to slow down, if they can."""
        return self._came - self._went > self._limit // 2

    # ---- any thread --------------------------------------------------------------------------------------

    def add(self, captured: Captured) -> None:
        """Take in what a tap saw, as far as there is room."""
        room = len(captured.raw) + ENTRY_BYTES
        if self._came - self._went + room > self._tight or self._lost_entries:
            self._add_tightly(captured)
            return
        self._came += room
        self._queue.append(captured)

    def put(self, errand: RecorderJob) -> None:
        """Take in something to do behind the entries taken so far."""
        if (gap := self._gap()) is not None:
            self._queue.append(gap)
        self._queue.append(errand)

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
        # One that is larger than all the room is taken whole if nothing waits: it is in memory already.
        if len(captured.raw) > HEAD and self._queue:
            captured = Captured(
                captured.source,
                captured.direction,
                captured.mono_ns,
                captured.wall_ns,
                captured.raw[:HEAD],
                captured.kind,
                size,
                captured.cause,
                {**captured.detail, "cut": "too much at once"},
            )
        self._came += len(captured.raw) + ENTRY_BYTES
        self._queue.append(captured)

    # ---- the recorder's thread ---------------------------------------------------------------------------

    def take(self) -> Captured | RecorderJob | None:
        """Return what came first, None if nothing waits."""
        if not self._queue:
            return self._gap()
        item = self._queue.popleft()
        if type(item) is Captured:
            self._went += len(item.raw) + ENTRY_BYTES
        return item

    def settle(self) -> None:
        """Count anew if nothing waits."""
        if not self._queue:
            self._came = self._went = 0

    def _gap(self) -> Captured | None:
        """Return an event that says what was not taken since the last one, None if all was."""
        if not self._lost_entries:
            return None
        with self._lock:
            entries, octets = self._lost_entries, self._lost_bytes
            self._lost_entries = self._lost_bytes = 0
        what = f"{entries:,} entries of {octets:,} bytes"
        return Captured(
            "",
            Direction.NONE,
            self._mono_ns(),
            self._wall_ns(),
            f"{what} came faster than they could be stored and are not in the recording".encode(),
            Kind.EVENT,
            detail={"event": "dropped", "entries": entries, "bytes": octets},
        )
