"""Selects what `mcptui traffic` reads: the recordings, and their entries that pass a filter.

The recordings are the named one, the newest, or all since a time. Entries come with notes and lint findings.
"""

import argparse
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tui.commands.recordings import PAGE, About, OpenRecording, newest, open_entries, recordings, since
from tui.core.errors import StorageError, UsageError
from tui.core.text import cells_of, clean, clean_line, padded, quoted_name
from tui.core.traffic import (
    CHANGE_WORDS,
    DROPPED,
    REQUESTS,
    Entry,
    EntryNote,
    Finding,
    Outcome,
    Severity,
)
from tui.core.units import day_and_time, plural
from tui.traffic.filter.arrangement import Arrangement, Order, SortColumn
from tui.traffic.filter.fields import (
    FIELDS,
    Ago,
    BadValue,
    ClockTime,
    Name,
    Not,
    Term,
    keeps_pairs,
    read_value,
)
from tui.traffic.filter.filter import since_ns
from tui.traffic.filter.query import Query, parse
from tui.traffic.filter.view import View
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import columns_of, whole_entry

if TYPE_CHECKING:
    from tui.storage.recordings.reader import RecordingReader


BODY_LIMIT = 64 * 1024 * 1024
"""Maximum bytes of a body to print or export."""

WAIT_SECONDS = 0.005


def query_of(text: str | None, name: str = "--filter") -> Query:
    """Return the parsed filter. Raises UsageError with `name` and the position if it is invalid."""
    query = parse(text or "")
    if query.problems:
        first = query.problems[0]
        mark = " " * first.start + "^" * max(1, first.end - first.start)
        is_told = not first.instead or first.instead in first.sentence
        hint = "" if is_told else f"\n  Use: {first.instead}"
        raise UsageError(f"{name}: {first.sentence}\n  {text}\n  {mark}{hint}")
    return query


class Selection:
    """The entries of a recording that pass a filter; grows with the recording.

    `columns` are the columns of all entries, `notes` the user's notes, by seq. `label` prefixes each line if
    there are several recordings.
    """

    def __init__(
        self,
        recording: OpenRecording,
        query: Query,
        now_ns: int | None = None,
        label: str = "",
        columns: EntryColumns | None = None,
    ) -> None:
        """Read the columns; raises StorageError if they cannot be read.

        `columns` are those of another selection of the recording, which are read on and linted already.
        `since:5m` counts back from `now_ns`, nanoseconds since 1970. None means the end of a finished
        recording, or now for a live one.
        """
        from tui.runtime.recording_file import take_notes

        self.columns = EntryColumns() if columns is None else columns
        self.recording, self.label = recording, label
        self._last = self.columns.last
        self._searched: list[RecordingReader] = []
        self._damage = ""
        self.is_filtered = query.root is not None
        self._query = query
        live = recording.is_live
        self.read_on()
        if columns is None and "lint:" in query.text.lower():
            self.columns.set_severities(self._flagged(live))
        self.notes = dict[int, str]()
        with suppress(StorageError):  # damaged notes: show the entries without them
            self.notes = take_notes(recording.reader.path, self.columns)
        self._view = View(
            self.columns,
            query,
            notes=self.notes,
            reader=self._body_reader,
            # In a finished recording, "the last five minutes" are its last five minutes.
            now_ns=now_ns
            if live or now_ns or not self._last
            else self.columns.wall_ns(len(self.columns) - 1),
        )

    def read_on(self) -> None:
        """Read what was recorded since the last time; raises StorageError if it cannot be read."""
        while rows := self.recording.reader.hand_rows(self.columns.extend, self._last, PAGE):
            self._last = rows[-1][0]

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the columns of the matching entries with seq > `after`, in order.

        Raises UsageError at the end if not all bodies could be searched.
        """
        self._search()
        rows = range(self._view.row_near(after + 1), len(self._view))
        yield from self._read(list(map(self._view.seq, rows)))
        self._refuse_problem()

    def page(self, most: int, *, after: int = 0, before: int = 0) -> tuple[list[Entry], int]:
        """Return up to `most` matching entries with seq > `after`, and how many more follow them.

        Given `before`, return the last ones with a lower seq instead, the newest first, and how many precede
        them.
        """
        self._search()
        rows = range(self._view.row_near(after + 1), len(self._view))
        if before:
            rows = range(self._view.row_near(before))
        shown = rows[-most:] if before else rows[:most]
        found = list(self._read([self._view.seq(row) for row in shown]))
        self._refuse_problem()
        return found[::-1] if before else found, len(rows) - len(shown)

    def _refuse_problem(self) -> None:
        if self._view.problem:
            raise UsageError(f"--filter: {self._view.problem}")

    def _search(self) -> None:
        while not self._view.advance(50):
            time.sleep(WAIT_SECONDS)
        self._damage = self.damage
        del self._searched[:-1]

    def slowest(self, most: int) -> tuple[list[Entry], int]:
        """Return the matching calls that took longest, and the number of other requests with a response."""
        self._search()
        columns, view = self.columns, self._view
        calls = Arrangement(view, columns, Order(SortColumn.LATENCY, descending=True))
        while not calls.advance(100):
            pass
        requests = (index for index in view.indices(0, len(view)) if columns.kind[index] in REQUESTS)
        self._refuse_problem()
        others = sum(columns.latency_ns(index) >= 0 for index in requests) - len(calls)
        seqs = sorted(map(columns.seq, calls.indices(0, most)))
        return sorted(self._read(seqs), key=self.latency_ns, reverse=True), others

    def exported(self) -> Iterator[Entry]:
        """Yield the columns of the entries to export: the matching ones, and what belongs to marked ones."""
        if not keeps_pairs(self._query.root):
            yield from self.entries()
            return
        found = [self.columns.index(entry.seq) for entry in self.entries()]
        places = self.columns.with_partners(index for index in found if index >= 0)
        yield from self._read(list(map(self.columns.seq, places)))

    def note_of(self, seq: int) -> EntryNote:
        """Return the user's mark and note on an entry."""
        index = self.columns.index(seq)
        return EntryNote(index >= 0 and bool(self.columns.marked[index]), self.notes.get(seq, ""))

    def _body_reader(self) -> "RecordingReader":
        from tui.storage.recordings.reader import RecordingReader

        reader = RecordingReader(self.recording.reader.path)
        self._searched.append(reader)
        return reader

    @property
    def damage(self) -> str:
        """Why not everything could be read or searched so far, or ""."""
        readers = (self.recording.reader, *self._searched)
        return self._damage or next(filter(None, (reader.damage for reader in readers)), "")

    @property
    def passing(self) -> int:
        """Number of matching entries among those that `entries` last checked."""
        return len(self._view)

    def _read(self, seqs: Sequence[int]) -> Iterator[Entry]:
        for seq, entry in columns_of(self.recording.reader, seqs):
            if (kept := self._unless_dropped(seq, entry)) is not None:
                yield kept

    def whole(self, after: int = 0) -> Iterator[Entry]:
        for entry in self.entries(after):
            if (found := self.with_body(entry.seq)) is not None:
                yield found

    def with_body(self, seq: int) -> Entry | None:
        """Return an entry with its body, if that is readable. None if the entry has been dropped."""
        return self._unless_dropped(seq, whole_entry(self.recording.reader, seq, BODY_LIMIT))

    def _unless_dropped(self, seq: int, found: Entry | None) -> Entry | None:
        """Return an entry; with a filter, None for the marker of dropped entries that is now in its place."""
        if found is None or found.method != DROPPED or not self.is_filtered:
            return found
        columns = self.columns
        return found if columns.methods.texts[columns.method[columns.index(seq)]] == DROPPED else None

    def change(self, entry: Entry) -> str:
        """Return what mcptui did to a response on its way, or ""."""
        index = self.columns.index(entry.seq)
        return CHANGE_WORDS[self.columns.changed[index]] if index >= 0 else ""

    def outcome(self, entry: Entry) -> Outcome:
        index = self.columns.index(entry.seq)
        return Outcome(self.columns.outcome[index]) if index >= 0 else entry.outcome

    def latency_ns(self, entry: Entry) -> int:
        return self.columns.latency_of(entry.seq)

    def findings(self) -> Iterator[tuple[Finding, Entry]]:
        """Lint all entries; yield each finding with its entry."""
        for entry, found in self.linted():
            yield from ((finding, entry) for finding in found)

    def linted(self) -> Iterator[tuple[Entry, Sequence[Finding]]]:
        """Lint all entries; yield each with its findings."""
        from tui.runtime.recording import model_judge
        from tui.traffic.lint.lint import Linter
        from tui.traffic.lint.lint_thread import lint_entries

        with closing(model_judge()) as judge:
            yield from lint_entries(Linter(judge), self.recording.reader)

    def _flagged(self, live: bool) -> Iterable[tuple[Severity, Sequence[int]]]:
        """Return the seqs with findings by severity: stored ones if complete, otherwise computed now."""
        from tui.storage.recordings.findings import judged_of

        reader = self.recording.reader
        if not live and judged_of(reader.meta()) >= self._last:
            with suppress(StorageError):  # recompute damaged findings
                return reader.flagged()[0]
        return ((finding.severity, (finding.seq,)) for finding, _ in self.findings())

    def close(self) -> None:
        self._view.close(wait=True)


FAILED = parse("kind:request,model_request status:failed")


class RecordingChoice:
    """The recordings to read, oldest first, and the filter. `several`: whether each line names its recording.

    `is_incomplete`: whether some requested data could not be read so far.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        """Raises UsageError or StorageError if the filter, the time or the recording name is invalid."""
        query = query_of(args.filter)
        query = FAILED.within(query) if args.failed else query
        self._now_ns: int | None = None
        begin_ns = 0
        if args.since is not None:
            self._now_ns = time.time_ns()
            term, begin_ns = beginning(args.since, self._now_ns)
            query = Query("", term).within(query)
        self.query = query
        self.several = args.recording is None and (args.all or args.since is not None)
        self._abouts: list[About] = []
        self._passed, self._seen = 0, 0
        self.is_incomplete = False
        if self.several:
            self._now_ns = self._now_ns or time.time_ns()
            self._abouts = since(begin_ns)
            self.paths = [one.kept.path for one in self._abouts]
        elif args.recording is not None:
            self.paths = [recordings().find(args.recording)]
        else:
            self._abouts = [newest(live_first=args.follow)]
            self.paths = [self._abouts[0].kept.path]

    def say_which(self) -> None:
        if self.several or not self._abouts:
            return
        (one,) = self._abouts
        began = f", {day_and_time(one.began_ns / 1e9)}" if one.began_ns else ""
        say(f"reading {one.kept.name} ({one.of}{began}). List the others with --list.")

    def selections(self) -> Generator[Selection, None, None]:
        """Yield the recordings one after the other, each open until the next.

        Raises StorageError if the only recording cannot be read. Of several, the error is printed.
        """
        width = max((cells_of(clean_line(path.stem, 80)) for path in self.paths), default=0)
        for path in self.paths:
            with ExitStack() as opened:
                try:
                    recording = opened.enter_context(open_entries(path))
                    query = self._without_copies(path) if self.several else self.query
                    label = padded(clean_line(path.stem, 80), width) if self.several else ""
                    selection = Selection(recording, query, self._now_ns, label)
                    opened.enter_context(closing(selection))
                except StorageError as error:
                    if not self.several:
                        raise
                    self.is_incomplete = True
                    say(clean(str(error)))
                    continue
                try:
                    yield selection
                finally:  # ctrl+c ends --follow
                    if damage := selection.damage:
                        self.is_incomplete = True
                        say(f"{clean_line(str(path), 400)}: {damage}")
                self._passed += selection.passing
                self._seen += len(selection.columns)

    def _without_copies(self, path: Path) -> Query:
        """Return the filter for one of several recordings, without entries that a tap also recorded."""
        (this,) = (one for one in self._abouts if one.kept.path == path)
        taps = {
            Name(f"tap:{one.tap}")
            for one in self._abouts
            if one.tap and one.began_ns <= this.ended_ns and this.began_ns <= one.ended_ns
        }
        if this.tap or not taps:
            return self.query
        names = tuple(sorted(taps, key=lambda name: name.text))
        return Query("", Not(Term("server", names))).within(self.query)

    def report_no_match(self) -> None:
        """Print on stderr if no entry matched, with the number of entries."""
        if self._passed or (self.query.root is None and self._seen):
            return
        where = f" in {plural(len(self.paths), 'recording')}" if self.several else ""
        say(f"0 of {self._seen} entries{where}")


def beginning(text: str, now_ns: int, option: str = "--since") -> tuple[Term, int]:
    """Return `option` as a filter term and as nanoseconds since 1970. Raises UsageError if it is invalid."""
    try:
        value = read_value(FIELDS["since"], text, False)
    except BadValue as error:
        why, step = (
            f"{option}: {quoted_name(text, 40)} is not a time.",
            "Use 30d, 1h, 14:05 or 2026-11-20.",
        )
        raise UsageError(why, next_step=step) from error
    assert isinstance(value, Ago | ClockTime)
    return Term("since", (value,)), since_ns(value, now_ns)


def say(text: str) -> None:
    """Print a message on stderr."""
    print(f"mcptui: {text}", file=sys.stderr)
