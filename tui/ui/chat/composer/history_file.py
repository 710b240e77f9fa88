"""The file of the input history: one line of JSON per message, readable by its owner only."""

import errno
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tui.core.files import make_folder, open_private, refuse_links
from tui.settings.files import locked
from tui.settings.save import write_private
from tui.ui.chat.composer.history import MOST

MOST_CHARS = 16 * 1024
"""A longer message is not saved: it was pasted, not typed."""
MOST_BYTES = 4 * 1024 * 1024
"""Number of bytes to read from the end of the file; the others are dropped."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A message; `attached` are its tokens of attachments. Other tokens in it are plain text."""

    text: str
    attached: tuple[str, ...] = ()


class HistoryFile:
    """The file; its methods block, so call them in a thread. A damaged line is skipped."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> list[HistoryEntry]:
        """Return the entries, oldest first; raises `OSError`, or `ConfigError` if it cannot be shortened."""
        kept, is_long = self._read()
        if is_long:
            with locked(self._path):  # another program may be adding a message, or may have shortened it
                kept, is_long = self._read()
                if is_long:
                    write_private(self._path, "".join(map(_line, kept)), links=False)
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
        """Append an entry without secrets; raises `OSError`, or `ConfigError` if it stays locked."""
        if len(kept.text) > MOST_CHARS:
            return
        make_folder(self._path.parent)
        refuse_links((self._path,))
        with locked(self._path):  # otherwise, it could be added to a file that another program is replacing
            handle = open_private(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                _append(handle, _line(kept).encode("utf-8", "replace"))
            finally:
                os.close(handle)


def _append(handle: int, line: bytes) -> None:
    """Write a whole line or nothing: on a full disk, a partial line would damage the next one."""
    size = os.fstat(handle).st_size
    try:
        if os.write(handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, size)
        raise


def _tail(path: Path) -> tuple[bytes, bool]:
    """Return the end of a regular file, and whether that is the whole file."""
    handle = open_private(path, os.O_RDONLY)
    try:
        state = os.fstat(handle)
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
