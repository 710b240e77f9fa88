"""Reads a recording in a worker thread: previews for visible rows, and complete entries to open."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from textual.cache import LRUCache

from tui.core import units
from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.jsonrpc.reader import json_value
from tui.core.language.restored import restored
from tui.core.language.translate import _, localized
from tui.core.text import cells_of, clean_line, mapping
from tui.core.traffic import BODY_LOST_TEXT, Entry, Finding, Kind, TrafficReader
from tui.traffic.record.column_parts import places_of
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import ReaderThread, readable_body, whole_entry
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import SEVERITY_STYLES, symbols_for
from tui.ui.widgets.tree import Tree

T = TypeVar("T")

KEPT = 2048
READ_AT_ONCE = 256
HEAD_BYTES = 400


class EntryPreview(NamedTuple):
    """The values of a line that no column has: the id of an entry and the start of its text, both cleaned."""

    ident: str = ""
    text: str = ""


NONE = EntryPreview()


class Previews:
    """Previews of entries by seq, read in the background; calls `changed` when more are available."""

    def __init__(self, reader: ReaderThread, changed: Callable[[], object]) -> None:
        self._reader = reader
        self._changed = changed
        self.longest_ident = 5  # in cells
        self._known: LRUCache[int, EntryPreview] = LRUCache(KEPT)
        self._wanted: set[int] = set()
        self._tasks = Tasks()
        self._task: asyncio.Task[None] | None = None

    def get(self, seq: int) -> EntryPreview:
        """Return what is available; the next `look` reads the rest."""
        known = self._known.get(seq)
        if known is None:
            if len(self._wanted) >= KEPT:  # a flood passed while nothing was displayed
                self._wanted.clear()
            self._wanted.add(seq)
            return NONE
        return known

    def prefetch(self, entries: EntryColumns, rows: int) -> None:
        """Start reading the last entries, which will be painted first."""
        count = len(entries)
        self._wanted.update(entries.seqs(range(max(0, count - rows), count)))
        self.look()

    def look(self) -> None:
        """Start reading what `get` did not have since the last call; only the newest entries."""
        if self._wanted and (self._task is None or self._task.done()):
            wanted, self._wanted = sorted(self._wanted)[-READ_AT_ONCE:], set()
            self._task = self._tasks.start(self._read(wanted), "previews of the traffic")

    async def _read(self, wanted: list[int]) -> None:
        read = await self._reader.ask(lambda reader: [reader.entry(seq, HEAD_BYTES) for seq in wanted])
        for seq, entry in zip(wanted, read, strict=True):
            self._known[seq] = found = preview_of(entry) if entry is not None else NONE
            self.longest_ident = max(self.longest_ident, cells_of(found.ident))
        self._changed()

    async def close(self) -> None:
        await self._tasks.cancel()


def preview_of(entry: Entry) -> EntryPreview:
    """Return the id and the text of an entry whose body may be truncated."""
    detail = entry.detail
    text = entry.body.decode("utf-8", "replace")
    if entry.is_body_lost:
        text = _(BODY_LOST_TEXT)
    elif detail.get("event") == "sign-in" or ("http" in detail and not text):
        outcome = "failed" if "failed" in detail else detail.get("status")
        text = " ".join(str(word) for word in (outcome, detail.get("http"), detail.get("url")) if word)
    elif not text or (entry.kind is Kind.EVENT and "exchange" not in detail):
        text = _event(detail, text)
    return EntryPreview(clean_line(entry.ident, 40), clean_line(text, HEAD_BYTES))


_PLAIN = frozenset({"fault", "method", "tool"})
"""Parts of an event that need no name."""


def _event(detail: Mapping[str, Any], body: str) -> str:
    """Return an event as one line: command lines as in a shell, other values after their names."""
    detail = mapping(json_value(body, detail))  # a body may be truncated
    parts: list[str] = []
    for name, value in detail.items():
        if name == "argv" and isinstance(value, list):
            parts.insert(0, shlex.join(str(word) for word in value))
        elif name not in ("event", "exchange") and value is not None and not isinstance(value, dict | list):
            shown = units.amount(round(value, 2)) if isinstance(value, float) else value
            parts.append(str(shown) if name in _PLAIN else f"{name} {shown}")
    return "  ".join(parts)


HEAD = 256 * 1024
"""Bytes to read first; a larger body is read with a second request."""

MOST = 64 * 1024 * 1024
"""Maximum bytes of a body that are shown."""

MOST_STEPS = 400
"""Maximum entries of one call to list."""


@dataclass(frozen=True, slots=True)
class LoadedEntry:
    """A loaded entry, with up to `MOST` bytes of its body."""

    entry: Entry
    body: bytes
    tree: Tree
    findings: Sequence[Finding]
    steps: Sequence[int]  # indices of the entries of its call, or of the entry alone
    partner: "LoadedEntry | None" = None


def load(entries: EntryColumns, seq: int, reader: TrafficReader) -> LoadedEntry | None:
    """Return an entry with its partner, None if it was dropped; for the reader's thread."""
    loaded = _one(entries, seq, reader)
    index = entries.index(seq)
    partner = entries.partner(index) if index >= 0 else -1
    if loaded is None or partner < 0:
        return loaded
    return replace(loaded, partner=_one(entries, entries.seq(partner), reader))


def _one(entries: EntryColumns, seq: int, reader: TrafficReader) -> LoadedEntry | None:
    entry = whole_entry(reader, seq, HEAD)
    if entry is None:
        return None
    body = entry.body if len(entry.body) < HEAD else reader.body(seq, 0, MOST)
    index = entries.index(seq)
    findings, remarks = _findings_of(entries, seq, reader), remarks_on(entries, seq, reader)
    shown, redactions = readable_body(entry, body)
    return LoadedEntry(entry, body, Tree(shown, redactions, remarks), findings, _steps(entries, index))


def remarks_on(entries: EntryColumns, seq: int, reader: TrafficReader) -> list[Row]:
    """Return the findings of an entry, one row each."""
    signs = symbols_for().severities
    found = _findings_of(entries, seq, reader)
    texts = [f"{signs[each.severity]} {clean_line(restored(each.sentence), 300)}" for each in found]
    return [((text, SEVERITY_STYLES[each.severity]),) for text, each in zip(texts, found, strict=True)]


def _findings_of(entries: EntryColumns, seq: int, reader: TrafficReader) -> Sequence[Finding]:
    index = entries.index(seq)
    if index < 0 or not entries.severity[index]:
        return ()
    found = tuple(reader.findings_of(seq))
    if all(each.sentence for each in found):
        return found
    from tui.traffic.lint.lint import sentence_of
    from tui.traffic.lint.rules_messages import MAX_READ

    entry = reader.entry(seq, MAX_READ + 1)
    return tuple(
        each if each.sentence else replace(each, sentence=sentence_of(each, entry)) for each in found
    )


def _steps(entries: EntryColumns, index: int) -> Sequence[int]:
    """Return the entries of a call, which share its first request."""
    root = entries.root[index] if index >= 0 else 0
    if not root:
        return (index,) if index >= 0 else ()
    return list(islice(places_of(entries.root, root, root - 1, len(entries)), MOST_STEPS))


READ_SECONDS = 2.0
"""How long a key waits for data of the recording."""


async def in_time(reading: Awaitable[T | None]) -> T | str:
    """Return what is read soon, or why not as a sentence."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await found_or_why(reading)
    except TimeoutError:
        return _("Still loading. Try again in a moment.")


async def found_or_why(reading: Awaitable[T | None]) -> T | str:
    """Return what is read, or why not as a sentence: it failed, or was dropped."""
    try:
        found = await reading
    except McptuiError as error:
        return clean_line(localized(error), 400)
    return _("This entry was dropped at the size limit of the recording.") if found is None else found
