"""Loads a recording from its file, and follows it while another process writes it."""

import logging
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.background import DaemonThread
from tui.core.errors import McptuiError, StorageError, as_sentences, reason_of
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.traffic import DROPPED, Direction, Finding, Kind, Outcome
from tui.settings.locations import state_dir
from tui.storage.files.foreign_file import LIST_SECONDS, end_reads_when_set, time_limit, until_set
from tui.storage.files.live_lock import is_live
from tui.storage.recordings.database import Row, keep_note, notes_of
from tui.storage.recordings.findings import JudgedFindings, judged_of
from tui.storage.recordings.reader import BAD_VALUES, RecordingReader
from tui.storage.recordings.turns import RecordedTurns
from tui.traffic.record.column_parts import ListRow
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import Annotations, Recording

if TYPE_CHECKING:
    from tui.traffic.lint.lint_thread import LintThread

PAGE = 2_000
TESTS = "test"
"""The command whose recordings open at the first failed case, which it has marked."""

LOOK_SECONDS = 0.2
LAST_PAGE = 2_000
"""Last entries that are loaded immediately."""

PAINTED_SECONDS = 10.0
"""Maximum time that the earlier entries wait for the first page to be painted (seconds on a busy machine)."""

REST_SECONDS = 0.001
"""The pause after each page: drawing and keys have priority."""

_log = logging.getLogger(__name__)


def turn_in_recording(
    names: Sequence[str], calls: Sequence[str], questions: Sequence[str]
) -> tuple[Path, int] | None:
    """Return the newest of the named earlier recordings that contains a turn, and the turn's number in it.

    The turn is identified as by `RecordedTurns.turn_of`.
    """
    for name in reversed(names):
        try:
            if (path := recording_named(name)) is not None:
                with time_limit(LIST_SECONDS), closing(RecordingReader(path)) as reader:
                    if turn := RecordedTurns(reader).turn_of(calls, questions):
                        return path, turn
        except McptuiError as error:
            _log.info("recording skipped: %s", error)
    return None


def recording_named(name: str) -> Path | None:
    """Return the recording of this computer that a conversation names, None if there is none any more."""
    path = state_dir() / "recordings" / Path(name).name
    return path if path.is_file() else None


def take_notes(path: Path, columns: EntryColumns) -> dict[int, str]:
    """Set the user's marks in the columns, and return the notes by seq; raises StorageError."""
    kept = notes_of(path)
    for seq, note in kept.items():
        if (index := columns.index(seq)) >= 0:
            columns.mark(index, note.marked)
    return {seq: note.text for seq, note in kept.items() if note.text}


def _without_known_keys(text: str) -> str:
    from tui.core.secrets.redact import Redactor  # not needed for the first lines

    return Redactor().redact(text)


class RecordingFile:
    """Loads a recording in a thread. The first rows are available immediately.

    `problem` says why it could not be read completely, or is "".
    """

    def __init__(self, path: Path, redact: Callable[[str], str] | None = None) -> None:
        """Raises StorageError if it cannot be read at all.

        `redact` removes secrets from a note; by default, those of a known form.
        """
        self._thread = DaemonThread("load a recording", self._run, failed=self._failed, max_restarts=0)
        self._closing, self.start = self._thread.closing, self._thread.start
        live, ended_ns, opens_at = is_live(path), 0, 0
        with closing(RecordingReader(path)) as reader, suppress(StorageError):  # damage is reported later
            ended_ns = reader.ends_ns()[1]
            if reader.meta().get("command") == TESTS:
                opens_at = next((seq for seq, note in notes_of(path).items() if note.marked), 0)
        self._path = path
        self._shown = 0
        self._judged = sys.maxsize
        self._lost_notes = False
        self._painted = threading.Event()
        self._ended = ExitStack()
        self._lint: LintThread | None = None
        self._found: JudgedFindings | None = None
        self.problem = ""
        self.recording = Recording(
            EntryColumns(),
            lambda: RecordingReader(path, self._findings_of),
            title=clean_line(path.name, 80),
            live=live,
            ended_ns=0 if live else ended_ns,
            problem=lambda: self.problem,
            annotations=Annotations(keep_note=self._keep, redact=redact or _without_known_keys),
            judged=lambda: self._judged if self._lint is None else self._lint.judged,
            opens_at=opens_at,
        )

    def _findings_of(self, seq: int) -> Sequence[Finding] | None:
        """Return the findings of this run's linter, None for an entry that it has not looked at."""
        found, lint = self._found, self._lint
        return found.of(seq) if found is not None and lint is not None and seq <= lint.judged else None

    def _keep(self, seq: int, marked: bool | None, text: str | None) -> None:
        try:
            keep_note(self._path, seq, marked=marked, text=text)
        except McptuiError as error:
            _log.warning("cannot store a note: %s", error)

    def painted(self) -> None:
        """Continue after the last page, which is on the screen now."""
        self._painted.set()

    def close(self) -> None:
        """Stop, and wait at most 2 s for the end."""
        self._closing.set()
        self._painted.set()
        self._thread.close()
        found, self._found = self._found, None
        if found is not None:
            found.close()

    # ---- the thread ----------------------------------------------------------------------------------

    def _failed(self, error: Exception, is_over: bool) -> None:
        self.problem = message(
            "the rest of the recording could not be loaded ({name})", name=type(error).__name__
        )

    def _run(self) -> None:
        try:
            with until_set(self._closing), closing(RecordingReader(self._path)) as reader, self._ended:
                self._load(reader)
        except McptuiError as error:
            self.problem = str(error)
        except (OverflowError, TypeError, ValueError) as error:  # an edited file
            self.problem = message(
                "the recording contains an invalid value ({reason})", reason=reason_of(error)
            )

    def _load(self, reader: RecordingReader) -> None:
        recording, columns = self.recording, self.recording.entries
        last = self._load_from_end(reader)
        if not last and reader.damage:
            self._judged = 0  # findings, stored or new, follow the entries
        while not self._closing.is_set():
            live = is_live(self._path)
            while reader.hand_rows(columns.extend, last, PAGE):
                last = columns.last
                self._note_damage(reader)
                if self._closing.wait(REST_SECONDS):
                    return
            self._note_damage(reader)
            if not live:
                if recording.live:
                    recording.ended_ns = columns.wall_ns(len(columns) - 1) if columns else 0
                    recording.live = False
                self._take_notes(reader)
            self._take_findings(reader, live)
            if not live:
                return
            self._closing.wait(LOOK_SECONDS)

    def _load_from_end(self, reader: RecordingReader) -> int:
        """Load the last page, then the earlier ones; return the seq of the last entry, 0 for none.

        Loads nothing if the numbers of the entries do not show how many there are.
        """
        columns = self.recording.entries
        first, last = reader.span()
        if reader.damage or not LAST_PAGE < last - first < reader.most_entries():
            return 0
        rows = reader.column_rows(last - LAST_PAGE, LAST_PAGE)
        seqs = [row[0] for row in rows]
        if reader.damage or first < 1 or seqs != list(range(last - LAST_PAGE + 1, last + 1)):
            return 0
        try:
            columns.begin_at_end(first, rows)
        except BAD_VALUES:
            return 0
        self._painted.wait(PAINTED_SECONDS)
        # Before the entries, so that a filter for them is right about all that is loaded.
        self._take_notes(reader)
        self._take_stored(reader, is_live(self._path))
        while not self._closing.is_set():
            start, end = columns.hole
            if start == end:
                return last
            missing = columns.seq(start)
            stop = min(missing + PAGE, columns.seq(end))
            reader.hand_rows(lambda rows: _fill(columns, rows), missing - 1, stop - missing)
            self._note_damage(reader)
            self._closing.wait(REST_SECONDS)
        return last

    def _note_damage(self, reader: RecordingReader) -> None:
        damage = reader.damage
        if self._lost_notes:
            damage = message(
                "{damage}. Its marks and notes could not be read",
                damage=damage or message("the recording is damaged"),
            )
        self.problem = damage

    def _take_notes(self, reader: RecordingReader) -> None:
        try:
            self.recording.annotations.notes.update(take_notes(self._path, self.recording.entries))
        except StorageError as error:
            _log.info("cannot read the notes: %s", error)
            self._lost_notes = True
            self._note_damage(reader)

    def _take_stored(self, reader: RecordingReader, live: bool) -> bool:
        """Show the stored findings; return False unless they cover all entries.

        Those of a live recording need not: its program lints only if it shows findings itself.
        """
        if not live and judged_of(reader.meta()) >= self.recording.entries.last:
            try:
                stored, self._shown = reader.flagged(self._shown)
            except StorageError as error:  # recompute damaged findings
                _log.info("cannot read the findings: %s", error)
            else:
                self.recording.entries.set_severities(stored)
                self._judged = sys.maxsize
                return True
        self._judged = 0
        return False

    def _take_findings(self, reader: RecordingReader, live: bool) -> None:
        last = self.recording.entries.last
        if self._take_stored(reader, live):
            return
        lint = self._lint or self._begin_linting()
        if lint.judged < last and (page := reader.columns(last - 1, 1)):
            lint.offer(page)
        while not live and not lint.settle(LOOK_SECONDS):
            if self._closing.wait(LOOK_SECONDS):  # `settle` does not wait for a linter that has given up
                return
        if not live and self._found is not None and not lint.faults and not reader.damage:
            try:
                self._found.keep(self._path, last)
            except StorageError as error:  # linted when it is opened again
                _log.info("cannot store the findings: %s", error)

    def _begin_linting(self) -> "LintThread":
        from tui.runtime.recording import model_judge
        from tui.traffic.lint.lint_thread import LintThread

        def open_reader() -> RecordingReader:
            end_reads_when_set(self._closing)
            return RecordingReader(self._path)

        self._found = JudgedFindings()
        self._lint = LintThread(self._show, open_reader, model_judge)
        self._lint.start()
        self._ended.enter_context(closing(self._lint))
        return self._lint

    def _show(self, found: Sequence[Finding], judged: int) -> None:
        """Add findings, in the linter's thread."""
        try:
            if self._found is not None:
                self._found.add(found)
        except StorageError as error:  # the entries are there
            self.problem = as_sentences(filter(None, (self.problem, str(error))))
        self.recording.entries.set_severities((finding.severity, (finding.seq,)) for finding in found)


_DROPPED_ROW: Row = (
    *("", int(Direction.NONE), int(Kind.EVENT), DROPPED, "", "", 0, 0, 0, int(Outcome.NONE)),
    *(None, None, None),
)
"""The columns of an event, from `source` to `call`."""


def _fill(columns: EntryColumns, rows: Sequence[ListRow]) -> None:
    """Fill the gap with rows, and an event for each missing number, with the time of an entry beside it."""
    start, end = columns.hole
    near = start - 1 if start else end
    dropped = (columns.mono[near], columns.wall_ns(near), *_DROPPED_ROW)
    found = {row[0]: row for row in rows}
    missing = range(columns.seq(start), min(columns.seq(start) + PAGE, columns.seq(end)))
    columns.fill([found.get(seq) or (seq, *dropped) for seq in missing])
