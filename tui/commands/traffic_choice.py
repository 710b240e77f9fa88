"""Selects the recordings that `mcptui traffic` reads: the named one, the newest, or all since a time."""

import argparse
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from tui.commands.recordings import About, OpenRecording, named, newest, open_entries, since
from tui.commands.traffic_lines import local
from tui.commands.traffic_selection import Selection, query_of
from tui.core.errors import StorageError, UsageError
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import plural
from tui.traffic.filter.column_fields import since_ns
from tui.traffic.filter.fields import FIELDS, read_value
from tui.traffic.filter.nodes import Ago, BadValue, ClockTime, Name, Not, Term
from tui.traffic.filter.query import Query, parse

FAILED = parse("kind:request,model_request status:failed")


@dataclass(frozen=True, slots=True)
class Source:
    """An open recording and its matching entries. `label` prefixes each line if there are several."""

    label: str
    recording: OpenRecording
    selection: Selection


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
            self.paths = [one.path for one in self._abouts]
        elif args.recording is not None:
            self.paths = [named(args.recording)]
        else:
            self._abouts = [newest(live_first=args.follow)]
            self.paths = [self._abouts[0].path]

    def say_which(self) -> None:
        if self.several or not self._abouts:
            return
        (one,) = self._abouts
        began = f", {local(one.began_ns)}" if one.began_ns else ""
        say(f"reading {one.name} ({one.of}{began}). List the others with --list.")

    def sources(self) -> Generator[Source, None, None]:
        """Yield the recordings one after the other, each open until the next.

        Raises StorageError if the only recording cannot be read. With several, prints the error and
        continues.
        """
        width = max((len(path.stem) for path in self.paths), default=0)
        for path in self.paths:
            with ExitStack() as opened:
                try:
                    source = self._opened(path, width, opened)
                except StorageError as error:
                    if not self.several:
                        raise
                    self.is_incomplete = True
                    say(clean(str(error)))
                    continue
                try:
                    yield source
                finally:  # ctrl+c ends --follow
                    if damage := source.recording.reader.damage:
                        self.is_incomplete = True
                        say(f"{clean_line(str(path), 400)}: {damage}")
                    if gone := source.selection.gone:
                        entries = "1 entry" if gone == 1 else f"{gone:,} entries"
                        say(f"{entries} missing: the recording reached its size limit while it was read")
                self._passed += source.selection.passing
                self._seen += len(source.selection.columns)

    def _opened(self, path: Path, width: int, opened: ExitStack) -> Source:
        recording = opened.enter_context(open_entries(path))
        query = self._without_copies(path) if self.several else self.query
        selection = opened.enter_context(closing(Selection(recording, query, self._now_ns)))
        return Source(clean_line(path.stem, 80).ljust(width) if self.several else "", recording, selection)

    def _without_copies(self, path: Path) -> Query:
        """Return the filter for one of several recordings, without entries that a tap also recorded."""
        (this,) = (one for one in self._abouts if one.path == path)
        taps = {
            Name(f"tap:{one.tap}")
            for one in self._abouts
            if one.tap and one.began_ns <= this.ended_ns and this.began_ns <= one.ended_ns
        }
        if this.tap or not taps:
            return self.query
        names = tuple(sorted(taps, key=lambda name: name.text))
        return Query("", Not(Term("server", names))).within(self.query)

    def report_no_match(self) -> bool:
        """Print on stderr if no entry matched, with the number of entries. Return whether none matched."""
        if self._passed or (self.query.root is None and self._seen):
            return False
        where = f" in {plural(len(self.paths), 'recording')}" if self.several else ""
        say(f"0 of {self._seen} entries{where}")
        return True


def beginning(text: str, now_ns: int) -> tuple[Term, int]:
    """Return `--since` as a filter term and as nanoseconds since 1970. Raises UsageError if it is invalid."""
    try:
        value = read_value(FIELDS["since"], text, False)
    except BadValue as error:
        raise UsageError(
            f"--since: {quoted_name(text, 40)} is not a time.",
            next_step="Use 1h, 30m, 14:05 or 2026-11-20.",
        ) from error
    assert isinstance(value, Ago | ClockTime)
    return Term("since", (value,)), since_ns(value, now_ns)


def say(text: str) -> None:
    """Print a message on stderr."""
    print(f"mcptui traffic: {text}", file=sys.stderr)
