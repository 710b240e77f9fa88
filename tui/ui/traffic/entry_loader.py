"""Loads an entry with its body, its partner, its findings and its call."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui.core.text import clean_line
from tui.core.traffic import Entry, Finding, Kind, TrafficReader
from tui.traffic.model_reply import is_stream, joined
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.traffic.previews import ReaderThread
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import SEVERITY_STYLES, Symbols
from tui.ui.widgets.tree import Tree

HEAD = 256 * 1024
"""Bytes to read first; a larger body is read with a second request."""

MOST = 64 * 1024 * 1024
"""Maximum bytes of a body in the tree and the search; the raw view shows all of it."""

MOST_STEPS = 400
"""Maximum entries of one call to list."""


@dataclass(frozen=True, slots=True)
class LoadedEntry:
    """A loaded entry.

    Attributes:
        body: up to `MOST` bytes of the body.
        stored: number of stored bytes of the body.
        steps: indices of the entries of its call, or of the entry alone.
    """

    entry: Entry
    body: bytes
    stored: int
    tree: Tree
    findings: Sequence[Finding]
    steps: Sequence[int]
    partner: "LoadedEntry | None" = None


def whole_entry(reader: TrafficReader, seq: int, limit: int) -> Entry | None:
    """Return an entry with up to `limit` bytes of its body, even if it was part of a batch."""
    entry = reader.entry(seq, limit)
    if entry is None or entry.body:
        return entry
    from tui.traffic.record.entry_reader import with_part_of_batch  # not needed for the first frame

    return with_part_of_batch(reader, entry, limit)


class EntryLoader:
    """Loads entries."""

    def __init__(self, entries: EntryColumns, reader: ReaderThread, symbols: Symbols) -> None:
        self._entries = entries
        self._reader = reader
        self._symbols = symbols

    async def load(self, seq: int) -> LoadedEntry | None:
        """Return an entry with its partner, None if it was dropped."""
        loaded = await self._one(seq)
        if loaded is None:
            return None
        index = self._entries.index(seq)
        partner = self._entries.partner(index) if index >= 0 else -1
        if partner < 0:
            return loaded
        return replace(loaded, partner=await self._one(self._entries.seq(partner)))

    async def body(self, seq: int, start: int, length: int) -> bytes:
        return await self._reader.ask(lambda reader: reader.body(seq, start, length))

    async def _one(self, seq: int) -> LoadedEntry | None:
        read = await self._reader.ask(lambda reader: self._read(reader, seq))
        if read is None:
            return None
        entry, body, findings, steps = read
        signs = self._symbols.severities
        remarks: list[Row] = [
            ((f"{signs[each.severity]} {clean_line(each.sentence, 300)}", SEVERITY_STYLES[each.severity]),)
            for each in findings
        ]
        tree = await asyncio.to_thread(self._tree, entry, body, remarks)
        stored = len(body) if len(body) < MOST else max(entry.size, len(body))
        return LoadedEntry(entry, body, stored, tree, findings, steps)

    def _tree(self, entry: Entry, body: bytes, remarks: list[Row]) -> Tree:
        if entry.kind is Kind.MODEL_REPLY and is_stream(body):
            reply = {**joined(body), "times": entry.detail.get("times", [])}
            return Tree(json.dumps(reply, ensure_ascii=False).encode(), (), remarks, self._symbols)
        return Tree(body, entry.redactions, remarks, self._symbols)

    def _read(
        self, reader: TrafficReader, seq: int
    ) -> tuple[Entry, bytes, Sequence[Finding], Sequence[int]] | None:
        entry = whole_entry(reader, seq, HEAD)
        if entry is None:
            return None
        body = entry.body
        if len(body) >= HEAD:
            body = reader.body(seq, 0, MOST)
        return entry, body, self._findings_of(reader, seq), self._steps(seq)

    def _findings_of(self, reader: TrafficReader, seq: int) -> Sequence[Finding]:
        index = self._entries.index(seq)
        if index < 0 or not self._entries.severity[index]:
            return ()
        found = tuple(reader.findings_of(seq))
        if all(each.sentence for each in found):
            return found
        from tui.traffic.lint.body_reader import MAX_READ
        from tui.traffic.lint.lint import sentence_of

        entry = reader.entry(seq, MAX_READ + 1)
        return tuple(
            each if each.sentence else replace(each, sentence=sentence_of(each, entry)) for each in found
        )

    def _steps(self, seq: int) -> Sequence[int]:
        """Return the entries of a call, which share its first request."""
        entries = self._entries
        index = entries.index(seq)
        root = entries.root[index] if index >= 0 else 0
        if not root:
            return (index,) if index >= 0 else ()
        found: list[int] = []
        at = root - 1
        while len(found) < MOST_STEPS:
            try:
                at = entries.root.index(root, at, len(entries))
            except ValueError:
                break
            found.append(at)
            at += 1
        return found
