"""The folder of recordings: names, which ones are live, lookup by name, removing old ones."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tui.core.errors import StorageError
from tui.core.files import make_folder
from tui.core.language.translate import message
from tui.core.matching import by_name
from tui.core.units import file_stamp
from tui.storage.files.live_lock import is_live, live_file
from tui.storage.files.sqlite_file import files_of, remove_files

SUFFIX = ".mcptrace"

TOTAL_CAP = 2 * 1024 * 1024 * 1024
"""Default maximum bytes of all recordings."""

_NEXT = message("List recordings with `mcptui traffic --list`.")


@dataclass(frozen=True, slots=True)
class KeptRecording:
    """A recording in the folder, with SQLite's files next to it: bytes on disk, and their last change."""

    path: Path
    size: int
    live: bool
    changed_ns: int = 0

    @property
    def name(self) -> str:
        """The file name without its suffix: the UTC start time and the process that wrote it."""
        return self.path.stem


class Recordings:
    """The folder where every run stores its recording. It need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def new_path(self) -> Path:
        """Return a free path for a new recording, and try to create its folder. Names sort by time."""
        with suppress(OSError):  # the writer reports why, and retries
            make_folder(self.folder)
        began = file_stamp()
        path = self.folder / f"{began}-{os.getpid()}{SUFFIX}"
        again = 2
        while os.path.exists(path):
            path = self.folder / f"{began}-{os.getpid()}-{again}{SUFFIX}"
            again += 1
        return path

    def list(self) -> Sequence[KeptRecording]:
        """Return the recordings, newest first, or none if the folder cannot be read."""
        try:
            named = (path for path in self.folder.iterdir() if path.suffix == SUFFIX)
            paths = sorted((path for path in named if not path.is_dir()), reverse=True)
        except OSError:
            return []
        return list(map(_kept, paths))

    def find(self, text: str) -> Path:
        """Return the recording with this path or name, or whose name starts or ends with `text`."""
        path = Path(os.path.expanduser(text))
        if path.is_file():
            return path
        if os.sep in text:
            raise StorageError(message("recording not found"), where=text, next_step=_NEXT)
        known = {kept.name: kept.path for kept in self.list()}
        found = by_name(known, text.removesuffix(SUFFIX))
        if len(found) != 1:
            raise StorageError(
                message("{n} recordings match", n=len(found)) if found else message("recording not found"),
                where=text,
                next_step=_NEXT,
            )
        return known[found[0]]

    def discard(self, path: Path) -> bool:
        """Remove a recording; return whether it is gone."""
        with suppress(OSError):  # an old lock without its recording means nothing
            live_file(path).unlink(missing_ok=True)
        return remove_files(path)

    def remove(self, kept: KeptRecording) -> bool:
        """Remove a recording of the folder unless it has become live; return whether it is gone."""
        is_here = kept.path.parent == self.folder and kept.path.suffix == SUFFIX
        return is_here and not is_live(kept.path) and self.discard(kept.path)

    def make_room(self, cap_bytes: int = TOTAL_CAP) -> None:
        """Remove the oldest recordings until the others need at most `cap_bytes`.

        Never removes a live recording or one that the system does not release.
        """
        kept = self.list()
        total = sum(one.size for one in kept)
        for one in reversed(kept):
            if total <= cap_bytes:
                break
            if not one.live and self.discard(one.path):
                total -= one.size


def _kept(path: Path) -> KeptRecording:
    size = changed_ns = 0
    for file in files_of(path):
        with suppress(OSError):
            found = file.stat()
            size, changed_ns = size + found.st_size, max(changed_ns, found.st_mtime_ns)
    return KeptRecording(path, size, is_live(path), changed_ns)
