"""Records the traffic of one run in a file, and saves named filters, a small TOML file, beside it."""

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.addons import service
from tui.core.errors import StorageError
from tui.core.files import current_folder
from tui.core.language.translate import message
from tui.core.secrets.redact import Redactor
from tui.core.traffic import BodyTerm, Captured, Entry, Kind, TrafficReader, TrafficSink, TrafficWriter
from tui.settings.files import Unreadable, read_bounded
from tui.traffic.lint.lint_thread import LintThread
from tui.traffic.record.column_parts import mark_of
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import Annotations, Recording
from tui.traffic.record.recorder import RecentEntries, Recorder

if TYPE_CHECKING:
    from tui.host.schemas.judge import ModelJudge
    from tui.runtime.tap_follower import TapWatch
    from tui.settings.schema import TelemetrySettings, TrafficSettings

CLOSE_SECONDS = 2.0
SETTLE_SECONDS = 0.2
"""How long the linter may take to check the last entries when the run ends."""

FEW, FEW_SECONDS = 200, 1.0
"""The same if at most `FEW` entries are left to check, as in a short run."""

UNCONFIGURED = "unconfigured"
"""`server` in the meta of a recording whose only server came from the command line."""

MIB = 1024 * 1024

LEAST_BYTES = 200
"""What an entry takes at least in the file."""

LEAST_ROOM = 128 * MIB
"""What a flood must not fill before the linter has seen the first entries; without a file there is none."""

MAX_FILTERS = 500


class RunRecording:
    """A `core.traffic.TrafficSink` that records.

    `path` is the file, once it exists. `listener` gets all traffic first, and must neither raise nor wait.
    `is_unconfigured`: the only server comes from the command line.
    """

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        """Record traffic from now on. Nothing is written before `start()`.

        `redactor` is called for every body, because keys may become known late.
        """
        self.columns = EntryColumns()
        self.path = Path()
        self.is_unconfigured = False
        self.listener: TrafficSink | None = None
        self._redactor = redactor
        self._telemetry: Any = None
        self._listeners: list[TrafficSink] = []
        self._settings: TrafficSettings | None = None
        self._folder: Path | None = None
        self._filters: Path | None = None
        self._command, self._stored = "", 0
        self._taps: TapWatch | None = None
        self._linting = LintThread(
            lambda found, judged: self._recorder.add_findings(found, judged), self._reader, model_judge
        )
        self._recorder = Recorder(
            self._open,
            self.columns,
            redact=lambda raw: redactor().redact_bytes(raw),
            arguments=redactor().arguments,
            on_batch=self._offer,
        )
        self.recording = Recording(
            self.columns,
            self._reader,
            problem=lambda: self._recorder.problem,
            annotations=Annotations(
                keep_note=lambda seq, marked, text: self._recorder.submit(
                    lambda writer: writer.note(seq, marked=marked, text=text)
                ),
                redact=lambda text: redactor().redact(text),
                keep_filter=self._keep_filter,
            ),
            lint=self._linting.start,
            judged=lambda: self._linting.judged,
            revision=self._linting.revision,
        )

    def __call__(self, captured: Captured) -> None:
        self.take_all((captured,))

    def take_all(self, several: Sequence[Captured]) -> None:
        """Record several lines from a server."""
        if self.listener is not None:
            for captured in several:
                self.listener(captured)
        for listener in self._listeners:
            for captured in several:
                listener(captured)
        self._recorder.capture_all(several)

    @contextmanager
    def heard_by(self, listener: TrafficSink | None) -> Iterator[None]:
        """Give all traffic to another listener meanwhile."""
        if listener is not None:
            self._listeners.append(listener)
        try:
            yield
        finally:
            if listener is not None:
                self._listeners.remove(listener)

    def mark_calls(self, notes: Mapping[str, str]) -> None:
        """Mark the request of each of these calls (ids as in `Cause`), and note a text about it."""

        def mark(writer: TrafficWriter) -> None:
            columns, texts = self.columns, {mark_of(call): text for call, text in notes.items()}
            for index in range(len(columns)):
                text = texts.get(columns.call[index]) if columns.call[index] else None
                if text is not None and columns.kind[index] == Kind.REQUEST:
                    writer.note(columns.seq(index), marked=True, text=text)

        if notes:
            self._recorder.submit(mark)

    def mark_turn(self, number: int, text: str) -> None:
        """Mark the first entry of a turn, and note a text about it."""

        def mark(writer: TrafficWriter) -> None:
            columns = self.columns
            first = next((index for index in range(len(columns)) if columns.turn[index] == number), None)
            if first is not None:
                writer.note(columns.seq(first), marked=True, text=text)

        self._recorder.submit(mark)

    def divide(self) -> None:
        """Record what follows after what came so far, even if it is older."""
        self._recorder.submit(lambda writer: None)

    def crowded(self) -> bool:
        """Whether a tap should wait before it reads more, so that nothing is dropped."""
        return self._recorder.backlog.crowded

    def start(
        self,
        settings: "TrafficSettings",
        folder: Path,
        filters: Path | None = None,
        *,
        command: str = "",
        follow_taps: bool = False,
    ) -> None:
        """Start recording, including earlier traffic.

        `folder` is that of all recordings. Without a file of named `filters`, none can be named. `command` is
        "" for the app. With `follow_taps`, also add what `mcptui tap` records.
        """
        self._settings, self._filters, self._command = settings, filters, command
        self._folder = folder if settings.record else None
        if filters is not None:
            self.recording.annotations.filters.update(load_filters(filters))
        self._recorder.start(keep_all=settings.keep_all)
        self._lint_in_time()
        if follow_taps and self._folder is not None:
            from tui.runtime.tap_follower import TapWatch

            self._taps = TapWatch(self._folder, self)
            self._taps.start()

    def send(self, settings: "TelemetrySettings") -> None:
        """Send telemetry of what is recorded from now on, if an endpoint is configured."""
        old = self._telemetry
        if old is None or old.settings != settings:
            made = service("telemetry") if settings.endpoint else None
            self._telemetry = made(settings, self._redactor()) if made is not None else None
            if old is not None:
                old.stop()

    @property
    def unsent(self) -> str:
        """Why telemetry is not sent although it should be, or ""."""
        return str(self._telemetry.problem) if self._telemetry is not None else ""

    def close(self) -> None:
        if self._taps is not None:
            self._taps.close()
        self._recorder.flush(SETTLE_SECONDS)  # the linter gets what is stored
        self._linting.settle(SETTLE_SECONDS if self._linting.lag > FEW else FEW_SECONDS)
        self._linting.close(CLOSE_SECONDS)
        self._recorder.close(CLOSE_SECONDS)
        if self._telemetry is not None:
            self._telemetry.close()
        if self._folder is not None and self.path != Path() and not len(self.columns):
            from tui.storage.recordings.folder import Recordings

            Recordings(self._folder).discard(self.path)

    # ---- in the recorder's thread --------------------------------------------------------------------

    def _offer(self, entries: Sequence[Entry]) -> None:
        self._linting.offer(entries)
        if self._telemetry is not None:
            self._telemetry.offer(entries)
        self._stored += sum(max(len(entry.body), LEAST_BYTES) for entry in entries)
        self._lint_in_time()

    def _lint_in_time(self) -> None:
        """Start the linter before the first entries are dropped. Commands show no findings."""
        if self._command:
            return
        settings, is_stored = self._settings, self._folder is not None and not self._recorder.problem
        most = settings.recording_mb * MIB if settings is not None and is_stored else 0
        if self._stored >= most - LEAST_ROOM:
            self._linting.start()

    def _open(self) -> TrafficWriter:
        from tui.storage.recordings.folder import Recordings
        from tui.storage.recordings.writer import RecordingWriter

        settings, folder = self._settings, self._folder
        if settings is None or folder is None:
            raise StorageError(message("this run is not recorded"), where="[traffic] record")
        recordings = Recordings(folder)
        self.path = recordings.new_path()
        recordings.make_room(settings.total_mb * MIB)
        meta = {
            "pid": str(os.getpid()),
            "program": "mcptui",
            "command": self._command,
            "cwd": current_folder(),
        }
        meta |= {"server": UNCONFIGURED} if self.is_unconfigured else {}
        return RecordingWriter(self.path, cap_bytes=settings.recording_mb * MIB, meta=meta)

    def _reader(self) -> TrafficReader:
        from tui.storage.recordings.reader import RecordingReader

        self._recorder.flush()
        return MemoryReader(self._recorder.memory) if self._recorder.problem else RecordingReader(self.path)

    def _keep_filter(self, name: str, text: str) -> None:
        if self._filters is None:
            return
        # A single assignment, because a thread calls this while the screen reads the filters.
        self.recording.annotations.filters = change_filter(self._filters, name, text)


def model_judge() -> "ModelJudge":
    """Return a validator of messages with the SDK's models, to be used and closed by one thread."""
    from tui.host.schemas.judge import ModelJudge

    return ModelJudge()


class MemoryReader:
    """A `core.traffic.TrafficReader` of entries that are only in memory, because storing them fails.

    For one thread; any thread may `interrupt`.
    """

    def __init__(self, kept: RecentEntries) -> None:
        from tui.storage.recordings.body_search import BodyFinder

        self.columns, self.whole, self.entry, self.body = kept.columns, kept.whole, kept.entry, kept.body
        self.findings_of = kept.findings_of
        self._kept = kept
        self._finder = BodyFinder(kept.body)
        self.interrupt, self.rearm = self._finder.interrupt, self._finder.rearm

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        from tui.storage.recordings.body_search import LARGE

        bodies = self._kept.bodies(first, last)
        return self._finder.search(
            terms, ((seq, len(body) if len(body) > LARGE else body) for seq, body in bodies)
        )

    def close(self) -> None: ...


# ---- named filters -----------------------------------------------------------------------------------------


def load_filters(path: Path) -> dict[str, str]:
    """Return the filters by name, none if the file is missing or unreadable."""
    try:
        return _usable(tomllib.loads(read_bounded(path)))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}


def change_filter(path: Path, name: str, text: str) -> dict[str, str]:
    """Save a filter, or remove it with "". Return all of them; raises `ConfigError`.

    Changes by other processes are kept. A damaged file is not overwritten.
    """
    from tui.settings.save import change_config

    found: dict[str, str] = {}

    def change(document: dict[str, Any]) -> None:
        document |= {name: text}
        if not text:
            del document[name]
        found.update(_usable(document))

    change_config(path, change, next_step=message("It was not changed. Correct it, or move it away."))
    return found


def _usable(found: Mapping[str, object]) -> dict[str, str]:
    good = {name: text for name, text in found.items() if isinstance(text, str) and text}
    return dict(list(good.items())[:MAX_FILTERS])
