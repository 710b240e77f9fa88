"""A recording as a screen shows it: its entries, its bodies, and what the user adds to it."""

import asyncio
import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from tui.core.errors import StorageError
from tui.core.language.translate import message
from tui.core.traffic import Entry, Kind, Redaction, TrafficReader, without_body
from tui.traffic.record.column_parts import places_of
from tui.traffic.record.entry_columns import EntryColumns

T = TypeVar("T")

PAGE = 500
"""Maximum entries to read at a time."""

MOST_OF_TURN = 4_000
"""Maximum entries of one turn that are read."""

ALONE = 8
"""In this many other rows, reading a page takes as long as reading an entry alone (measured: 5 and 40 µs)."""


class ReaderThread:
    """A thread with its own reader, which it opens for the first question. Who asks never waits."""

    def __init__(self, open_reader: Callable[[], TrafficReader]) -> None:
        self._open = open_reader
        self._reader: TrafficReader | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ThreadPoolExecutor-traffic")
        self._closed = False

    def submit(self, question: Callable[[TrafficReader], T]) -> Future[T]:
        """Call `question` with the reader, in the thread."""

        def answer() -> T:
            if self._reader is None:
                self._reader = self._open()
            return question(self._reader)

        return self._thread.submit(answer)

    async def ask(self, question: Callable[[TrafficReader], T]) -> T:
        """Call `question` with the reader, in the thread; return its result."""
        return await asyncio.wrap_future(self.submit(question))

    def interrupt(self) -> None:
        """Stop the search that runs."""
        if (reader := self._reader) is not None:
            reader.interrupt()

    def close(self, wait: bool = False) -> None:
        """Interrupt and close the reader, after the questions so far; with `wait`, it is closed on return."""
        if self._closed:
            return
        self._closed = True
        self.interrupt()

        def close_reader() -> None:
            if self._reader is not None:
                self._reader.close()

        self._thread.submit(close_reader)
        self._thread.shutdown(wait)


def columns_of(reader: TrafficReader, seqs: Sequence[int]) -> Iterator[tuple[int, Entry | None]]:
    """Yield entries, whose numbers increase, without bodies, and None for those that have been dropped."""
    place = 0
    while place < len(seqs):
        first, near = seqs[place], bisect_right(seqs, seqs[place] + PAGE - 1, place)
        rows = seqs[near - 1] - first + 1
        limit = rows if rows <= ALONE * (near - place) else 1
        page = {entry.seq: entry for entry in reader.columns(first - 1, limit)}
        stop = bisect_right(seqs, max(page), place) if page else len(seqs)
        yield from ((seq, page.get(seq)) for seq in seqs[place:stop])
        place = stop


def entries_of_turn(reader: TrafficReader, columns: EntryColumns, turn: int) -> list[Entry]:
    """Return the first entries of a turn, without bodies and those that have been dropped."""
    places = islice(places_of(columns.turn, turn, 0, len(columns)), MOST_OF_TURN)
    found = columns_of(reader, [columns.seq(at) for at in places])
    return [entry for _, entry in found if entry is not None]


def whole_entry(reader: TrafficReader, seq: int, limit: int) -> Entry | None:
    """Return an entry with up to `limit` bytes of its body, which may be a part of that of a batch."""
    entry = reader.entry(seq, limit)
    if entry is None or entry.body or (place := entry.in_batch) is None:
        return entry
    batch, start, end = place
    try:
        return entry._replace(body=reader.body(batch, start, min(limit, end - start)))
    except StorageError:  # the entry of the batch reports it
        return without_body(entry)


def readable_body(entry: Entry, body: bytes) -> tuple[bytes, Sequence[Redaction]]:
    """Return a body as it is read, with the places of its secrets: a streamed reply is one JSON value."""
    if entry.kind is not Kind.MODEL_REPLY:
        return body, entry.redactions
    from tui.core.jsonrpc.framing import is_event_stream  # neither is needed for the first frame
    from tui.traffic.record.secret_texts import joined

    if not is_event_stream(body):
        return body, entry.redactions
    reply = {**joined(body), "times": entry.detail.get("times", [])}
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace"), ()


@dataclass(slots=True)
class Annotations:
    """The user's notes by seq and saved filters by name, which the screen changes, and how they are kept.

    Attributes:
        keep_note: stores the mark or the note of an entry, or both; None keeps it.
        redact: removes secrets from a note before it is shown or kept.
        keep_filter: stores a filter under a name; "" removes it. Called in a thread; may block, and raise
            McptuiError.
    """

    notes: dict[int, str] = field(default_factory=dict)
    filters: dict[str, str] = field(default_factory=dict)
    keep_note: Callable[[int, bool | None, str | None], None] = lambda seq, marked, text: None
    redact: Callable[[str], str] = lambda text: text
    keep_filter: Callable[[str, str], None] = lambda name, text: None


@dataclass(slots=True)
class Recording:
    """A recording: its columns, its bodies, and what the user adds to it.

    Attributes:
        open_reader: opens a reader of the bodies. Called in the thread that will use it; may block.
        title: its name ("this run", the name of a file), cleaned.
        live: whether it is still being written; False once its writer has ended.
        ended_ns: wall clock of the last entry of a finished recording, from which `since:5m` counts; 0 for
            now.
        problem: returns why a part of it is missing, or "".
        lint: starts the linter, unless it runs. Whatever shows findings calls it: the linter and its models
            take 8 MB, and time of every call. What it has not seen is linted when the recording is opened.
        judged: returns the seq up to which the entries have been linted, at least.
        revision: returns the protocol revision of a source, or "" if unknown.
        opens_at: seq of the entry to show first, 0 for the last one.
    """

    entries: EntryColumns
    open_reader: Callable[[], TrafficReader]
    title: str = message("this run")
    live: bool = True
    ended_ns: int = 0
    problem: Callable[[], str] = lambda: ""
    annotations: Annotations = field(default_factory=Annotations)
    lint: Callable[[], None] = lambda: None
    judged: Callable[[], int] = lambda: sys.maxsize
    revision: Callable[[str], str] = lambda source: ""
    opens_at: int = 0
