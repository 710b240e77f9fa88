"""The waterfall of a turn: from the conversation, which knows of approvals, else from its entries.

Entries are read in the background and kept while nothing new comes.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from tui.core.traffic import Entry, TrafficReader
from tui.traffic.record.entry_columns import Recording
from tui.traffic.spans.entries import Span
from tui.traffic.spans.waterfall import Waterfall, of_entries, of_spans
from tui.ui.traffic.previews import ReaderThread

MOST_ENTRIES = 4_000


class Turns:
    """Looks up turns.

    Args:
        recording: whose turns.
        reader: the thread that reads.
        spans: gives the turns of the conversation, if there is one.
    """

    def __init__(
        self,
        recording: Recording,
        reader: ReaderThread,
        spans: Callable[[], Sequence[Span]] | None = None,
    ) -> None:
        self._spans = spans
        self._recording = recording
        self._reader = reader
        self._found: tuple[int, int, list[Entry]] = (0, 0, [])  # turn, entries seen, its entries
        self._reading: asyncio.Task[None] | None = None

    def look_up(self, turn: int) -> Waterfall | None:
        """Return the waterfall of a turn as far as it was read; what is new is read by the next look."""
        if self._spans is not None:
            seen_by_turn = of_spans(self._spans(), turn, time.monotonic_ns())
            if seen_by_turn is not None:
                return seen_by_turn
        known, seen, entries = self._found
        if (known, seen) != (turn, len(self._recording.frames)) and (
            self._reading is None or self._reading.done()
        ):
            self._reading = asyncio.create_task(self._read(turn), name="read a turn")
        if known != turn:
            return None
        return of_entries(entries, turn, time.monotonic_ns() if self._waits(entries) else None)

    def _waits(self, entries: list[Entry]) -> bool:
        frames = self._recording.frames
        places = (frames.index(entry.seq) for entry in entries)
        return self._recording.live and any(place >= 0 and frames.outcome[place] == 1 for place in places)

    async def _read(self, turn: int) -> None:
        count = len(self._recording.frames)
        entries = await self._reader.ask(lambda reader: self._entries(reader, turn, count))
        self._found = (turn, count, entries)

    def _entries(self, reader: TrafficReader, turn: int, count: int) -> list[Entry]:
        frames = self._recording.frames
        found: list[Entry] = []
        at = 0
        while len(found) < MOST_ENTRIES:
            try:
                at = frames.turn.index(turn, at, count)
            except ValueError:
                break
            seq = frames.seq(at)
            found += [entry for entry in reader.columns(seq - 1, 1) if entry.seq == seq]  # else it is gone
            at += 1
        return found
