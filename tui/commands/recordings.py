"""Recordings as the commands need them: where they are, a new one, one that was named."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.errors import StorageError
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Entry
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.recorder import Recorder

if TYPE_CHECKING:
    from tui.storage.recordings.folder import Recordings
    from tui.storage.recordings.reader import RecordingReader

PAGE = 2000
"""Entries that are read at a time."""


def recordings() -> "Recordings":
    """Return the folder in which recordings are kept."""
    from tui.settings.locations import state_dir
    from tui.storage.recordings.folder import Recordings

    return Recordings(state_dir() / "recordings")


def open_recorder(redactor: Redactor, meta: Mapping[str, str]) -> Recorder:
    """Return a recorder that has begun a recording of its own; what fails is said by its `problem`.

    Args:
        redactor: knows the values that must not be stored; may learn more.
        meta: what is to be known of the recording as a whole.
    """
    from tui.settings.quick import quick_traffic
    from tui.storage.recordings.writer import RecordingWriter

    chosen = quick_traffic(os.environ)

    def writer() -> RecordingWriter:
        folder = recordings()
        folder.make_room()
        return RecordingWriter(folder.new_path(), cap_bytes=chosen.recording_bytes, meta=meta)

    recorder = Recorder(writer, EntryColumns(), redact=redactor.redact_bytes)
    recorder.start(keep_all=chosen.keep_all)
    return recorder


def named(text: str) -> Path:
    """Return the file that `text` names: a path, or the beginning or end of a kept recording's name.

    Raises:
        StorageError: there is none of this name, or several.
    """
    return recordings().find(text)


class OpenRecording:
    """A recording that is read from its beginning to its end.

    Attributes:
        path: the file that was named.
        file: the file that is read; another one if the named one is an export.
        reader: what reads it.
    """

    def __init__(self, path: Path, file: Path, reader: "RecordingReader") -> None:
        self.path = path
        self.file = file
        self.reader = reader

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries with seq > `after`, without bodies."""
        while page := self.reader.columns(after, PAGE):
            yield from page
            after = page[-1].seq

    def body(self, seq: int) -> bytes:
        """Return the stored body of an entry."""
        return self.reader.body(seq)


@contextmanager
def open_entries(path: Path) -> Iterator[OpenRecording]:
    """Open a recording, or an export as JSON lines, which is taken into a recording for the time.

    Raises:
        StorageError: it cannot be read.
    """
    from tui.storage.recordings.reader import RecordingReader

    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        reader = RecordingReader(path)
        try:
            yield OpenRecording(path, path, reader)
        finally:
            reader.close()
        return
    with tempfile.TemporaryDirectory(prefix="mcptui-") as folder:
        file = Path(folder) / "imported.mcptrace"
        take_in(path, file)
        reader = RecordingReader(file)
        try:
            yield OpenRecording(path, file, reader)
        finally:
            reader.close()


def take_in(source: Path, target: Path) -> None:
    """Make a recording of an export as JSON lines.

    Raises:
        StorageError: the export cannot be read, or the recording not be written.
    """
    from tui.storage.exports.jsonl import read_jsonl

    try:
        with source.open("rb") as lines:
            _store(read_jsonl(lines, str(source)), target)
    except OSError as error:
        raise StorageError(f"it cannot be read ({error.strerror})", where=str(source)) from error


def _store(entries: Iterable[Entry], target: Path) -> None:
    from tui.storage.recordings.writer import RecordingWriter

    writer = RecordingWriter(target, cap_bytes=1 << 40)
    try:
        waiting = iter(entries)
        while batch := list(islice(waiting, PAGE)):
            writer.write(batch)
            if writer.problem:
                raise StorageError(f"it cannot be taken in: {writer.problem}", where=str(target))
    finally:
        writer.close()
