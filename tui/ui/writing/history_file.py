"""Keeps what was written between runs: a line of JSON for each message, readable by its owner only."""

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from tui.settings.save import write_private
from tui.ui.writing.history import MOST

MOST_CHARS = 16 * 1024
"""A longer message is not kept on disk: it was pasted, not written."""
MOST_BYTES = 4 * 1024 * 1024
"""So much of the end of the file is read; what stands before it is dropped."""

_NOW = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""Neither a pipe nor a child of ours has anything to do with it."""


class HistoryFile:
    """The file; its methods block, so call them in a thread. A damaged line costs that line.

    Args:
        path: the file; it need not be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> list[str]:
        """Return what is kept, the oldest first.

        Raises:
            OSError: the file is there and cannot be read.
            ConfigError: it had grown too long and could not be shortened.
        """
        try:
            raw, is_whole = _tail(self._path)
        except FileNotFoundError:
            return []
        lines = raw.decode("utf-8", "replace").split("\n")
        texts = [text for text in map(_text, lines if is_whole else lines[1:]) if text]
        if not is_whole or len(lines) > 2 * MOST:
            self._shorten(texts[-MOST:])
        return texts[-MOST:]

    def add(self, text: str) -> None:
        """Keep one message. `text` has no secret in it any more.

        Raises:
            OSError: the file cannot be written.
        """
        if len(text) > MOST_CHARS:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NOW, 0o600)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, 0o600)  # whoever made it
            # One write, so that several programs can keep theirs in one file.
            os.write(handle, _line(text).encode("utf-8", "replace"))
        finally:
            os.close(handle)

    def _shorten(self, texts: Sequence[str]) -> None:
        write_private(self._path, "".join(map(_line, texts)))


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


def _line(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) + "\n"


def _text(line: str) -> str:
    try:
        found = json.loads(line) if line else ""
    except ValueError:
        return ""
    return found if isinstance(found, str) and len(found) <= MOST_CHARS else ""
