"""Keeps what was written between runs: a line of JSON for each message, readable by its owner only."""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from tui.settings.files import locked
from tui.settings.save import write_private
from tui.ui.chat.composer.history import MOST

MOST_CHARS = 16 * 1024
"""A longer message is not kept on disk: it was pasted, not written."""
MOST_BYTES = 4 * 1024 * 1024
"""So much of the end of the file is read; what stands before it is dropped."""

_NOW = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""Neither a pipe nor a child of ours has anything to do with it."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A message that is kept.

    Attributes:
        text: as it was written.
        attached: those of its tokens that stand for something attached; what only looks like one is text.
    """

    text: str
    attached: tuple[str, ...] = ()


class HistoryFile:
    """The file; its methods block, so call them in a thread. A damaged line costs that line.

    Args:
        path: the file; it need not be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> list[HistoryEntry]:
        """Return what is kept, the oldest first.

        Raises:
            OSError: the file is there and cannot be read.
            ConfigError: it had grown too long and could not be shortened.
        """
        kept, is_long = self._read()
        if is_long:
            with locked(self._path):  # another program may add a message, or has shortened it
                kept, is_long = self._read()
                if is_long:
                    write_private(self._path, "".join(map(_line, kept)))
        return kept

    def _read(self) -> tuple[list[HistoryEntry], bool]:
        """Return the entries, and whether the file should be shortened."""
        try:
            raw, is_whole = _tail(self._path)
        except FileNotFoundError:
            return [], False
        lines = raw.decode("utf-8", "replace").split("\n")
        kept = [one for one in map(_kept, lines if is_whole else lines[1:]) if one is not None][-MOST:]
        return kept, not is_whole or len(lines) > 2 * MOST

    def add(self, kept: HistoryEntry) -> None:
        """Keep one message; its text has no secret in it any more.

        Raises:
            OSError: the file cannot be written.
            ConfigError: another program keeps it locked.
        """
        if len(kept.text) > MOST_CHARS:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self._path):  # or it goes into a file that another program is just replacing
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NOW, 0o600)
            try:
                if hasattr(os, "fchmod"):
                    os.fchmod(handle, 0o600)  # whoever made it
                os.write(handle, _line(kept).encode("utf-8", "replace"))
            finally:
                os.close(handle)


def _tail(path: Path) -> tuple[bytes, bool]:
    """Return the end of a regular file, and whether that is all of it."""
    handle = os.open(path, os.O_RDONLY | _NOW)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise FileNotFoundError(path)  # nothing that could have been written here
        begin = max(0, state.st_size - MOST_BYTES)
        with open(handle, "rb", closefd=False) as file:
            file.seek(begin)
            return file.read(MOST_BYTES), begin == 0
    finally:
        os.close(handle)


def _line(kept: HistoryEntry) -> str:
    value = {"text": kept.text, "attached": list(kept.attached)} if kept.attached else kept.text
    return json.dumps(value, ensure_ascii=False) + "\n"


def _kept(line: str) -> HistoryEntry | None:
    try:
        found = json.loads(line) if line else ""
    except (ValueError, RecursionError):
        return None
    match found:
        case str(text):
            kept = HistoryEntry(text)
        case {"text": str(text), "attached": [*tokens]}:
            kept = HistoryEntry(text, tuple(token for token in tokens if isinstance(token, str)))
        case _:
            return None
    return kept if 0 < len(kept.text) <= MOST_CHARS else None
