"""The preview beside the list of entries: the arguments and the result of the selected call."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from tui.core.background import Tasks
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import _, n_
from tui.core.text import clean
from tui.core.traffic import REQUESTS, Entry, Kind, TrafficReader
from tui.core.units import size
from tui.traffic.filter.folded import FoldedView
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import readable_body, whole_entry
from tui.ui.traffic import sheets
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_loader import found_or_why, preview_of, remarks_on
from tui.ui.traffic.entry_row import name_of
from tui.ui.widgets.page import Lines, Sheet
from tui.ui.widgets.preview import Preview, Section, Sections
from tui.ui.widgets.rows import Row
from tui.ui.widgets.times import span
from tui.ui.widgets.tree import Tree

MOST_BYTES = 64 * 1024
"""Maximum bytes of a body that is shown as JSON; of a larger one, the preview has the first characters."""

MOST_CHARS = 4_000
MOST_FOLDED = 40
REST_SECONDS = 1 / 20
"""Minimum time between two entries while the user moves fast."""


class SelectedEntry:
    """Shows the selected entry of a list in the preview `pane`; reads it in the list's thread."""

    def __init__(self, list: EntryList) -> None:
        self._list, self.pane = list, Preview()
        self._state: tuple[int, ...] = ()
        self._loading: asyncio.Task[None] | None = None
        self._reads = Tasks()

    async def close(self) -> None:
        await self._reads.cancel()

    def look(self) -> None:
        """Show the selected entry if it is another one, or has changed; cheap otherwise."""
        if not self.pane.size.width or (self._loading is not None and not self._loading.done()):
            return
        entries, index = self._list.entries, self._list.index
        if index < 0:
            state: tuple[int, ...] = (0,)
        else:
            fold = self._list.view.fold_at(index)
            folded = fold.entries if fold is not None else 0
            state = (self._list.selected, entries.partner(index), entries.severity[index], folded)
        if state != self._state:
            self._state = state
            self._loading = self._reads.start(self._load(index), "read a preview")

    async def _load(self, index: int) -> None:
        entries, view = self._list.entries, self._list.view
        if index < 0:
            self.pane.show(Sections(()))
        elif isinstance(view, FoldedView) and (fold := view.fold_at(index)) is not None:
            self.pane.show(
                Sections([folded_section(entries, view.folded_at(index, MOST_FOLDED), fold.entries)])
            )
        else:
            seq = self._list.selected
            found = await found_or_why(self._list.reader.ask(lambda reader: sections(entries, seq, reader)))
            self.pane.show(Lines([((found, "warn"),)]) if isinstance(found, str) else Sections(found))
            await asyncio.sleep(REST_SECONDS)


def folded_section(entries: EntryColumns, places: Sequence[int], count: int) -> Section:
    """Return the section of the first entries of a fold."""
    server = name_of(entries.sources.texts[entries.source[places[0]]])
    head = n_(
        "{n} entry of {server}: handshake and lists",
        "{n} entries of {server}: handshake and lists",
        count,
        server=server,
    )
    rows: list[Row] = []
    for at in places:
        if entries.kind[at] in REQUESTS and entries.partner(at) >= 0:
            continue  # its response has a row
        ns = entries.latency_ns(at) if entries.is_answer(at) else -1
        method = name_of(entries.methods.texts[entries.method[at]])
        rows.append(((method, "dim"), (f"  {span(ns)}" if ns >= 0 else "", "dim")))
    if count > len(places):
        rows.append((("…", "dim"),))
    return Section(((head, "text bold"),), (), Lines(rows))


def sections(entries: EntryColumns, seq: int, reader: TrafficReader) -> list[Section] | None:
    """Return an entry and its partner as sections, None if it was dropped; for the reader's thread."""
    index = entries.index(seq)
    partner = entries.partner(index) if index >= 0 else -1
    seqs = sorted({seq, entries.seq(partner)} if partner >= 0 and entries.is_here(partner) else {seq})
    found = [(one, entry) for one in seqs if (entry := whole_entry(reader, one, MOST_BYTES + 1)) is not None]
    return [_section(entries, one, entry, reader) for one, entry in found] or None


def _section(entries: EntryColumns, seq: int, entry: Entry, reader: TrafficReader) -> Section:
    left, right = sheets.heading(entry)
    index = entries.index(seq)
    ns = entries.latency_ns(index) if index >= 0 and entries.is_answer(index) else -1
    took = ((f"{span(ns)}  ", "dim"),) if ns >= 0 else ()
    return Section(left, (*took, *right), _sheet(entry, remarks_on(entries, seq, reader)))


def _sheet(entry: Entry, remarks: Sequence[Row]) -> Sheet:
    if not entry.body or entry.is_body_lost:
        return Lines([((preview_of(entry).text, "text"),)])
    if len(entry.body) <= MOST_BYTES:
        body, redactions = readable_body(entry, entry.body)
        part = part_of(entry.kind, json_value(body))
        tree = Tree(body, redactions, remarks)
        if part is not None:
            tree = Tree(json.dumps(part, ensure_ascii=False).encode("utf-8", "replace"), (), remarks)
        if tree.is_json:
            return tree
    text = clean(entry.body[:MOST_CHARS].decode("utf-8", "replace"))
    rows: list[Row] = [*remarks, *(((line, "text"),) for line in text.split("\n"))]
    if entry.size > MOST_CHARS:
        rows.append(((_("{size} in all", size=size(entry.size)), "dim"),))
    return Lines(rows)


def part_of(kind: Kind, message: Any) -> Any:
    """Return the part of a message that is read first: arguments, params, result or error; None for all."""
    if not isinstance(message, dict):
        return None
    match kind:
        case Kind.REQUEST | Kind.NOTIFICATION:
            params = message.get("params")
            return params.get("arguments", params) if isinstance(params, dict) else params
        case Kind.RESPONSE | Kind.ERROR:
            return message.get("result", message.get("error"))
    return None
