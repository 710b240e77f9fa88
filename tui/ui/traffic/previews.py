"""The little that a line shows of what is not in the columns: the id, and how a text begins.

Read from the recording by one worker thread, only for entries that are on screen, and kept for a while.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from textual.cache import LRUCache

from tui.core.text import clean_line
from tui.core.traffic import Entry, Kind, TrafficReader

T = TypeVar("T")
KEPT = 2048
HEAD_BYTES = 400


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What is seen of an entry at a glance; texts are cleaned."""

    ident: str = ""
    said: str = ""


NONE = Glimpse()


class ReaderThread:
    """One thread with a reader of its own; the screen asks it for bodies and never waits.

    Args:
        open_reader: opens the recording; called in the thread.
    """

    def __init__(self, open_reader: Callable[[], TrafficReader]) -> None:
        self._open = open_reader
        self._reader: TrafficReader | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ThreadPoolExecutor-traffic")
        self._closed = False

    async def ask(self, question: Callable[[TrafficReader], T]) -> T:
        """Return what `question` says, asked in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, question)

    def _answer(self, question: Callable[[TrafficReader], T]) -> T:
        if self._reader is None:
            self._reader = self._open()
        return question(self._reader)

    def interrupt(self) -> None:
        """Break off a search that runs."""
        if self._reader is not None:
            self._reader.interrupt()

    def close(self) -> None:
        """Let go of the recording; a question that waits is not asked any more. Returns at once."""
        if not self._closed:
            self._closed = True
            self.interrupt()
            self._thread.submit(self._close)
            self._thread.shutdown(wait=False)

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()


class Glimpses:
    """Glimpses of entries by seq; `wanted` are read in the background.

    Args:
        reader: the thread that reads.
        changed: called when more is known.
    """

    def __init__(self, reader: ReaderThread, changed: Callable[[], object]) -> None:
        self._reader = reader
        self._changed = changed
        self._known: LRUCache[int, Glimpse] = LRUCache(KEPT)
        self._wanted: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def get(self, seq: int) -> Glimpse:
        """Return what is known; what is not will be read, if `look` is called."""
        known = self._known.get(seq)
        if known is None:
            if len(self._wanted) >= KEPT:  # a flood went by, and nobody looked
                self._wanted.clear()
            self._wanted.add(seq)
            return NONE
        return known

    def look(self) -> None:
        """Begin to read what was asked for since the last look; newer wishes replace older ones."""
        if self._wanted and (self._task is None or self._task.done()):
            wanted, self._wanted = sorted(self._wanted)[-256:], set()
            self._task = asyncio.create_task(self._read(wanted), name="glimpses of the traffic")

    async def _read(self, wanted: list[int]) -> None:
        for seq, glimpse in await self._reader.ask(lambda reader: list(_glimpses(reader, wanted))):
            self._known[seq] = glimpse
        self._changed()

    async def close(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


def _glimpses(reader: TrafficReader, wanted: Iterable[int]) -> Iterable[tuple[int, Glimpse]]:
    for seq in wanted:
        entry = reader.entry(seq, HEAD_BYTES)
        yield seq, _glimpse(entry) if entry is not None else NONE


def _glimpse(entry: Entry) -> Glimpse:
    if entry.kind is Kind.EVENT and (told := _event(entry.body)):
        return Glimpse("", told)
    said = clean_line(entry.body.decode("utf-8", "replace"), HEAD_BYTES)
    if not said and entry.detail:
        said = clean_line("  ".join(f"{name} {value}" for name, value in entry.detail.items()), HEAD_BYTES)
    return Glimpse(clean_line(entry.ident, 40), said)


def _event(body: bytes) -> str:
    """Return what an event tells, in a line: commands as they were typed, other values by their names."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(told, dict):
        return ""
    parts = []
    for name, value in told.items():
        if name == "argv" and isinstance(value, list):
            parts.append(" ".join(str(word) for word in value))
        elif name != "event" and not isinstance(value, dict | list):
            parts.append(f"{name} {value}")
    return clean_line("  ".join(parts), HEAD_BYTES)
