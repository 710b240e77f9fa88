"""Exports entries: asks for selection, format and file, and writes in a thread."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from tui.core.background import Tasks
from tui.core.errors import McptuiError, reason_of
from tui.core.language.translate import N_, _, localized, message, n_
from tui.core.text import clean_line
from tui.core.traffic import Entry, EntryNote, TrafficReader
from tui.core.units import exact, file_stamp
from tui.core.units import size as size_text
from tui.traffic.filter.fields import keeps_pairs
from tui.traffic.record.column_parts import places_of
from tui.traffic.record.open_recording import columns_of, whole_entry
from tui.ui.traffic.active_filter import ActiveFilter, percent_of
from tui.ui.traffic.bars import entry_count
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_loader import MOST

if TYPE_CHECKING:
    from tui.storage.exports.contents import Review
    from tui.storage.exports.export import EntryFacts, FindingsOf
    from tui.ui.dialogs.export_dialogs import Export

T = TypeVar("T")

SLICE_SECONDS, REST_SECONDS = 0.004, 0.002
"""How long the thread writes, and how long it then pauses: painting and keys have priority."""

MOST_COUNTED = 20_000
"""Maximum entries whose servers and sizes are counted before an export, which takes milliseconds."""

MOST_READ = 5_000
"""Maximum entries to read for the summary of an export."""


class Exporter:
    """Asks what to export, and writes it; one export at a time. `note` is its progress, or ""."""

    def __init__(self, list: EntryList, active_filter: ActiveFilter, tasks: Tasks) -> None:
        self._recording, self._list = list.recording, list
        self._active_filter, self._tasks = active_filter, tasks
        self.note = ""
        self._stop = threading.Event()

    def ask(self) -> None:
        from tui.ui.dialogs.picker import Picker

        kinds = {} if self.note else self._selections()
        if not kinds:
            why = _("Another export is still running.") if self.note else _("Nothing to export.")
            self._list.notify(why, timeout=3)
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._ask_format(self._recording.entries.seqs(kinds[name][1]))

        choices = [(name, Content(kind[0])) for name, kind in kinds.items()]
        self._list.app.push_screen(Picker(_("Export"), choices), chosen)

    def cancel(self) -> bool:
        """Cancel the export; return False if there is none to cancel."""
        if not self.note or self._stop.is_set():
            return False
        self._stop.set()
        return True

    def _selections(self) -> dict[str, tuple[str, Sequence[int]]]:
        """Return the possible selections: a label, and the current indices, which stay fixed."""
        entries, view, index = self._recording.entries, self._active_filter.view, self._list.index
        rows = view.indices(0, len(view))
        if index < 0 or not rows:
            return {}
        found: dict[str, tuple[str, Sequence[int]]] = {}
        active = self._active_filter
        places, every = active.rows.indices(0, len(active.rows)), len(rows)
        shown = sorted(at for at in places if active.rows.fold_at(at) is None)
        if keeps_pairs(active.query.root):
            rows = entries.with_partners(rows)
        count = entry_count(len(rows))
        if active.is_filtered and not view.is_done:
            words = _("matches so far, {percent} % done: {entries}", percent=percent_of(view), entries=count)
        elif active.is_filtered:
            words = _("all that match the filter: {entries}", entries=count)
        else:
            words = _("all: {entries}", entries=count)
        found["shown"] = (words, rows)
        if 0 < len(shown) < every and active.rows.calls_only:
            calls = _("shown, calls only: {entries}", entries=entry_count(len(shown)))
            found = {"listed": (calls, shown), **found}
        elif 0 < len(shown) < every:
            words = n_(
                "shown, without {n} folded entry: {entries}",
                "shown, without {n} folded entries: {entries}",
                every - len(shown),
                entries=entry_count(len(shown)),
            )
            found["listed"] = (words, shown)
        if marked := list(compress(range(len(entries)), entries.marked)):
            whole = entries.with_partners(marked)
            words = N_("marked entries: {entries}")
            if len(whole) > len(marked):
                words = N_("marked entries with pairs: {entries}")
            found["marked"] = (_(words, entries=entry_count(len(whole))), whole)
        if root := entries.root[index]:
            call = list(places_of(entries.root, root, root - 1, len(entries)))
            words = N_("this call: {entries}")
            if entries.loaded < len(entries):
                words = N_("this call so far: {entries}")
            found["call"] = (_(words, entries=entry_count(len(call))), call)
        found["entry"] = (_("entry {seq} only", seq=exact(entries.seq(index))), [index])
        return found

    def _ask_format(self, seqs: Sequence[int]) -> None:
        from tui.ui.dialogs.export_dialogs import OF_ENTRIES, Export, ExportDialog

        async def counted(count: Callable[[Sequence[int], threading.Event], T]) -> T:
            stop = threading.Event()
            try:
                return await asyncio.to_thread(count, seqs, stop)
            finally:
                stop.set()

        def answered(wanted: Export | None) -> None:
            if wanted is not None:
                self.note = _("exporting…")
                self._stop = threading.Event()
                self._tasks.start(self._write(seqs, wanted, self._stop), "export")

        def chosen(wanted: Export | None) -> None:
            if wanted is None or not wanted.is_reviewed:
                answered(wanted)
                return
            from tui.ui.forms.share_review import ShareReview

            app = self._list.app
            app.push_screen(ShareReview(app, wanted, lambda: counted(self._review)), answered)

        path = Path.cwd() / f"mcptui-{file_stamp()}"
        entries = self._recording.entries
        size = entry_count(len(seqs))
        if len(seqs) <= MOST_COUNTED:
            places = (place for seq in seqs if (place := entries.index(seq)) >= 0)
            octets = size_text(sum(entries.size[place] for place in places))
            size = _("{entries}, {size}", entries=size, size=octets)
        dialog = ExportDialog(size, path, lambda: counted(self._contents), OF_ENTRIES)
        self._list.app.push_screen(dialog, chosen)

    def _contents(self, seqs: Sequence[int], stop: threading.Event) -> dict[str, str]:
        """Return summaries of these entries by format, of many only the first ones. Runs in a thread."""
        from tui.storage.exports.contents import Review
        from tui.storage.exports.export import Format
        from tui.storage.exports.har import exchanges

        contents, over_http = Review(), Review()
        first = seqs[:MOST_READ]
        with closing(self._recording.open_reader()) as reader:
            found = exchanges(entry for _, entry in columns_of(reader, first) if entry is not None)
            in_har = {*found, *chain.from_iterable(found.values())}
            for place, seq in enumerate(first):
                if place % 256 == 0 and stop.wait(REST_SECONDS):
                    break
                if entry := whole_entry(reader, seq, MOST):
                    contents.see_entry(entry)
                    if seq in in_har:
                        over_http.see_entry(entry)
        counted, of = N_("Contains: {contents}"), N_("{count} of {all} entries")
        if len(seqs) > MOST_READ:
            counted, of = N_("Counted: the first {contents}"), N_("{count} of the first {all} entries")
        part = message(of, count=f"{over_http.entries:,}", all=f"{contents.entries:,}")
        har = _("HAR contains HTTP only: {contents}", contents=localized(over_http.words(part)))
        return {"": _(counted, contents=localized(contents.words())), Format.HAR: har}

    def _review(self, seqs: Sequence[int], stop: threading.Event) -> "Review":
        """Return what a page with these entries contains. Runs in a thread."""
        from tui.storage.exports.contents import review_of
        from tui.storage.exports.document import MOST_ROWS
        from tui.storage.exports.export import entry_document

        def rest(done: int) -> None:
            if stop.wait(REST_SECONDS):
                raise InterruptedError("cancelled")

        with closing(self._recording.open_reader()) as reader:
            source = _EntrySource(reader, seqs[:MOST_ROWS], rest)
            whole = (entry for one in source.columns() if (entry := source.whole(one.seq)) is not None)
            return review_of(entry_document(whole, "", self._facts(reader.findings_of, self._note_of())))

    def _note_of(self) -> Callable[[int], EntryNote]:
        """Return the user's marks and notes as they are now."""
        entries = self._recording.entries
        notes = dict(self._recording.annotations.notes)
        marked = frozenset(entries.seqs(list(compress(range(len(entries)), entries.marked))))
        return lambda seq: EntryNote(seq in marked, notes.get(seq, ""))

    def _facts(self, findings_of: "FindingsOf", note_of: Callable[[int], EntryNote]) -> "EntryFacts":
        from tui.storage.exports.export import EntryFacts

        return EntryFacts(note_of, self._recording.entries.latency_of, findings_of)

    async def _write(self, seqs: Sequence[int], wanted: "Export", stop: threading.Event) -> None:
        searched = "" if wanted.choice.words else self._active_filter.query.text  # it may quote a value
        title = clean_line(f"{self._recording.title} {searched}".strip(), 160)
        path = wanted.path
        note_of = self._note_of()
        work = asyncio.create_task(asyncio.to_thread(self._export, seqs, wanted, note_of, title, stop))
        try:
            source, size = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait({work})
            work.exception()  # the screen was closed: nothing to report
            raise
        except (McptuiError, OSError) as error:
            if stop.is_set():
                self._list.notify(_("Export cancelled."), timeout=3)
                return
            reason = reason_of(error, 600)
            words = _("{path} not written: {reason}", path=path, reason=reason)
            self._list.notify(words, severity="error", timeout=8)
        else:
            gone, bodiless = len(source.gone), len(source.bodiless)
            count = entry_count(len(source.written))
            octets = size_text(size)
            said = [_("{entries}, {size}, written to {path}", entries=count, size=octets, path=path)]
            if gone:
                said.append(_("{entries} missing (dropped from the recording)", entries=entry_count(gone)))
            if bodiless:
                said.append(_("{entries} without the body (damaged)", entries=entry_count(bodiless)))
            self._list.notify(_(", ").join(said), timeout=6)
        finally:
            self.note = ""

    def _export(
        self,
        seqs: Sequence[int],
        wanted: "Export",
        note_of: Callable[[int], EntryNote],
        title: str,
        stop: threading.Event,
    ) -> tuple["_EntrySource", int]:
        """Write the file, in a thread; return its entries, and its size in bytes.

        Raises `OSError` or `McptuiError`, also if a file exists that the user was not asked about.
        """
        from tui.storage.exports.export import Format, exported, no_findings
        from tui.storage.files.private_file import write_whole

        def rest(done: int) -> None:
            self.note = _("exporting {percent} %", percent=done * 100 // max(1, len(seqs)))
            if stop.wait(REST_SECONDS):
                raise InterruptedError("cancelled")

        with closing(self._recording.open_reader()) as reader:
            source = _EntrySource(reader, seqs, rest)
            form = Format(wanted.format)
            findings_of = reader.findings_of if form is Format.HTML else no_findings
            facts = self._facts(findings_of, note_of)
            pieces = exported(form, source.columns(), source.whole, title, facts, wanted.choice)
            size = write_whole(wanted.path, pieces, wait=False, new=not wanted.over, stop=stop)
        return source, size


class _EntrySource:
    """Reads the entries of an export, with a pause after each slice of time."""

    def __init__(self, reader: TrafficReader, seqs: Sequence[int], rest: Callable[[int], None]) -> None:
        self._reader, self._seqs, self._rest = reader, seqs, rest
        self._read = 0
        self._until = time.monotonic() + SLICE_SECONDS
        self.written: set[int] = set()  # a HAR file has those over HTTP only
        self.gone: set[int] = set()  # entries that could not be read because they were dropped
        self.bodiless: set[int] = set()  # entries with a body on a damaged page

    def columns(self) -> Iterator[Entry]:
        for seq, entry in columns_of(self._reader, self._seqs):
            self._rest_if_due()
            if entry is not None:
                yield entry
            else:
                self.gone.add(seq)

    def whole(self, seq: int) -> Entry | None:
        self._rest_if_due()
        self._read = min(self._read + 1, len(self._seqs))
        entry = whole_entry(self._reader, seq, MOST)
        (self.gone if entry is None else self.written).add(seq)
        if entry is not None and entry.is_body_lost:
            self.bodiless.add(seq)
        return entry

    def _rest_if_due(self) -> None:
        if time.monotonic() >= self._until:
            self._rest(self._read)
            self._until = time.monotonic() + SLICE_SECONDS
