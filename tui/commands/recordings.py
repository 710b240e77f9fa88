"""Recordings for the commands: the folder, new recordings, lookup by name, and summaries."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.errors import StorageError, UsageError, reason_of, sentences
from tui.core.text import clean_line
from tui.core.units import count, day_and_time, duration, size

if TYPE_CHECKING:
    from tui.core.secrets.redact import Redactor
    from tui.core.traffic import Entry, EntryNote
    from tui.storage.recordings.folder import KeptRecording, Recordings
    from tui.storage.recordings.reader import RecordingReader
    from tui.traffic.record.recorder import Recorder

PAGE = 2000
"""Entries to read at a time."""


def recordings() -> "Recordings":
    """Return the folder of recordings."""
    from tui.settings.locations import state_dir
    from tui.storage.recordings.folder import Recordings

    return Recordings(state_dir() / "recordings")


def open_recorder(
    redactor: "Redactor", tap: str, opened: Callable[[Path], object] | None = None
) -> "Recorder":
    """Return a recorder that has begun a new recording; `problem` says what failed.

    `opened` gets the path of the recording, in the recorder's thread. The configured secret arguments of the
    server `tap` are redacted.
    """
    from tui.settings.config_file import quick_tap
    from tui.storage.recordings.writer import RecordingWriter
    from tui.traffic.record.entry_columns import EntryColumns
    from tui.traffic.record.recorder import Recorder

    keep_all, recording_bytes, secret_arguments = quick_tap(os.environ, tap)

    def writer() -> RecordingWriter:
        folder = recordings()
        folder.make_room()
        path = folder.new_path()
        if opened is not None:
            opened(path)
        return RecordingWriter(path, cap_bytes=recording_bytes, meta={"tap": tap, "pid": str(os.getpid())})

    redactor.arguments.set_rules({tap: secret_arguments})
    recorder = Recorder(writer, EntryColumns(), redact=redactor.redact_bytes, arguments=redactor.arguments)
    recorder.start(keep_all=keep_all)
    return recorder


@dataclass(frozen=True, slots=True)
class OpenRecording:
    """A recording, open for reading. If `path` is an export, the reader has the imported copy."""

    path: Path
    reader: "RecordingReader"

    @property
    def is_live(self) -> bool:
        """Whether a running process is writing it."""
        from tui.storage.files.live_lock import is_live

        return is_live(self.path)

    def entries(self, after: int = 0) -> "Iterator[Entry]":
        """Yield the entries with seq > `after`, without bodies."""
        while page := self.reader.columns(after, PAGE):
            yield from page
            after = page[-1].seq

    def whole_entries(self) -> "Iterator[Entry]":
        """Yield the entries whose bodies can be read."""
        for entry in self.entries():
            whole = self.reader.entry(entry.seq) if entry.size else entry
            if whole is not None and not whole.is_body_lost:
                yield entry


@contextmanager
def open_entries(path: Path) -> Iterator[OpenRecording]:
    """Open a recording, or a JSON lines export, which is imported into a temporary recording.

    Raises StorageError if it cannot be read.
    """
    from tui.storage.recordings.reader import RecordingReader

    with ExitStack() as stack:
        file = path
        if is_export(path):
            import tempfile

            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mcptui-"))
            file = Path(folder) / "imported.mcptrace"
            import_export(path, file)
        yield OpenRecording(path, stack.enter_context(closing(RecordingReader(file))))


def is_export(path: Path) -> bool:
    """Return whether a file is a JSON lines export, by its name."""
    return path.suffix.lower() in (".jsonl", ".ndjson")


def import_export(source: Path, target: Path) -> None:
    """Import a JSON lines export as a recording. Raises StorageError if that fails."""
    from tui.storage.exports.jsonl import read_jsonl
    from tui.storage.recordings.writer import RecordingWriter

    notes: dict[int, EntryNote] = {}
    try:
        with source.open("rb") as lines, closing(RecordingWriter(target, cap_bytes=1 << 40)) as writer:
            waiting = read_jsonl(lines, str(source), notes)
            while batch := list(islice(waiting, PAGE)):
                writer.write(batch)
                while notes:
                    seq, note = notes.popitem()
                    writer.note(seq, marked=note.marked, text=note.text)
                if writer.problem:
                    raise StorageError(f"cannot import it: {writer.problem}", where=str(target))
    except OSError as error:
        raise StorageError(f"cannot be read: {reason_of(error)}", where=str(source)) from error


SLACK_NS = 5_000_000_000
"""Maximum time between the last entry and the last write to its file."""

MOST_SERVERS = 50
"""Maximum servers to list for a recording."""


@dataclass(frozen=True, slots=True)
class About:
    """Summary of a recording.

    `began_ns` and `ended_ns` are the times of its first and last entries, in nanoseconds since 1970, 0 if
    there are none. `tap` is the name of the server that was tapped, `command` the command that recorded it,
    "" for the app. `problem` is why it cannot be read, `damage` why only a part of it can be read, as far as
    known.
    """

    kept: "KeptRecording"
    entries: int = 0
    began_ns: int = 0
    ended_ns: int = 0
    tap: str = ""
    command: str = ""
    servers: tuple[str, ...] = ()
    problem: str = ""
    damage: str = ""

    @property
    def of(self) -> str:
        if self.tap:
            return f"tap of {clean_line(self.tap, 60)}"
        return f"mcptui {clean_line(self.command, 20)}".rstrip()

    @property
    def is_short(self) -> bool:
        """Return whether a command with a single request recorded it, such as `mcptui call`."""
        return self.command not in ("", "run")


def about(kept: "KeptRecording", with_servers: bool = False) -> About:
    """Return the summary of a recording. `with_servers` reads the columns of all entries."""
    from tui.storage.files.foreign_file import LIST_SECONDS, time_limit
    from tui.storage.recordings.reader import RecordingReader

    try:
        with time_limit(LIST_SECONDS), closing(RecordingReader(kept.path)) as reader:
            first, last = reader.span()
            began_ns, ended_ns = reader.ends_ns()
            sources = reader.sources(MOST_SERVERS) if with_servers else []
            meta = reader.meta()
            return About(
                kept,
                last - first + 1 if last else 0,
                began_ns,
                ended_ns,
                tap=meta.get("tap", ""),
                command=meta.get("command", ""),
                servers=tuple(sorted(one for one in sources if one and not one.startswith("model:"))),
                damage=reader.damage,
            )
    except StorageError as error:
        problem = clean_line(sentences(error.message, error.next_step), 400)
        return About(kept, problem=problem)


def newest(live_first: bool = False, *, without: str | None = None) -> About:
    """Return the recording with the newest entry. Recordings of single requests come last.

    With `live_first`, recordings that are being written come first. Given a command `without`, its own and
    those that cannot be read are ignored, and single requests count like others. Raises UsageError if there
    is none.
    """
    kept = recordings().list()
    found: list[About] = []
    newest_ns = 0
    for one in sorted(kept, key=lambda each: (live_first and each.live, each.changed_ns), reverse=True):
        if newest_ns and one.changed_ns + SLACK_NS < newest_ns:
            break  # no other can have a newer entry, and there may be thousands
        this = about(one)
        if without is not None and (this.command == without or this.problem):
            continue
        found.append(this)
        newest_ns = max(newest_ns, 0 if without is None and this.is_short else this.ended_ns)
    if not found:
        raise UsageError(
            "no recordings yet",
            next_step="Start mcptui, or record another host's server with: mcptui tap -- COMMAND",
        )
    return max(
        found,
        key=lambda one: (
            live_first and one.kept.live,
            without is not None or not one.is_short,
            *last_entry(one),
        ),
    )


def last_entry(one: About) -> tuple[bool, int, str]:
    """Return the time of the last entry for sorting; recordings without entries come first."""
    return one.entries > 0, one.ended_ns, one.kept.name


def since(wall_ns: int) -> list[About]:
    """Return the recordings with entries since `wall_ns`, oldest first, and the unreadable ones.

    `wall_ns` is in nanoseconds since 1970; 0 selects all recordings with entries.
    """
    changed = (one for one in recordings().list() if one.changed_ns + SLACK_NS >= wall_ns)
    found = map(about, changed)
    return sorted(
        (one for one in found if one.problem or (one.entries and (not wall_ns or one.ended_ns >= wall_ns))),
        key=lambda one: (one.began_ns, one.kept.name),
    )


SHOWN = 400
"""Maximum characters of the server names, or of why it is unreadable, in a row. --json prints all."""


def row_of(one: About) -> tuple[str, ...]:
    """Return the cells of a recording in a list of them."""
    lasted = "live" if one.kept.live else duration((one.ended_ns - one.began_ns) / 1e6) if one.entries else ""
    servers = clean_line(one.problem or ", ".join(one.servers), SHOWN)
    began = day_and_time(one.began_ns / 1e9)
    of = "unreadable" if one.problem else f"damaged, {one.of}" if one.damage else one.of
    return (one.kept.name, began, lasted, count(one.entries), size(one.kept.size), of, servers)
