"""The waterfall of a turn from its entries, read in the background and kept while nothing new comes."""

import asyncio
import time

from tui.core.traffic import Entry, TrafficReader
from tui.trace.recording import Recording
from tui.trace.waterfall import Waterfall, of_entries
from tui.ui.traffic.glimpses import ReaderThread

MOST_ENTRIES = 4_000


class Turns:
    """Looks up turns.

    Args:
        recording: whose turns.
        reader: the thread that reads.
    """

    def __init__(self, recording: Recording, reader: ReaderThread) -> None:
        self._recording = recording
        self._reader = reader
        self._found: tuple[int, int, list[Entry]] = (0, 0, [])  # turn, entries seen, its entries
        self._reading: asyncio.Task[None] | None = None

    def look_up(self, turn: int) -> Waterfall | None:
        """Return the waterfall of a turn as far as it was read; what is new is read by the next look."""
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
            found += reader.columns(frames.seq(at) - 1, 1)
            at += 1
        return found
