"""Stores the eras of servers from one run to the next.

Keys are hashes, so that the file contains no commands or addresses. It is disposable.
"""

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tui.core.servers import MAX_VERSION, Era
from tui.core.units import bounded
from tui.settings.state.state_file import Content, StateFile, entries

MAX_BYTES = 256 * 1024
MAX_ENTRIES = 500
MAX_DAYS = 30
"""After this, a server is asked again: it may have been upgraded without a new version."""

_KEY = re.compile(r"[0-9a-f]{16}")


class StoredEras:
    """A `tui.core.servers.EraStore` in a file."""

    def __init__(self, path: Path) -> None:
        self._file = StateFile(path, "the era of a server", max_bytes=MAX_BYTES)
        self.close = self._file.close

    def load(self) -> Mapping[str, Era]:
        """Return the stored eras. Blocks while it reads the small file."""
        return {key: era for key, (era, _) in _eras(self._file.read()).items()}

    def changed(self, key: str, era: Era | None) -> None:
        def change(content: Content) -> Content:
            eras = _eras(content)
            eras.pop(key, None)
            if era is not None:
                eras[key] = era, time.time()
            listed = [
                {"key": one, "handshake": not era.modern, "version": era.version, "at": int(at)}
                for one, (era, at) in list(eras.items())[-MAX_ENTRIES:]
            ]
            return {"eras": listed}

        self._file.change_later(change)


def _eras(content: Content) -> dict[str, tuple[Era, float]]:
    now = time.time()
    return {
        key: (era, at)
        for key, era, at in map(_entry, entries(content, "eras")[-MAX_ENTRIES:])
        if 0 <= now - at < MAX_DAYS * 86_400
    }


def _entry(value: Any) -> tuple[str, Era, float]:
    """Return an entry; an invalid one gets the time 0, so that it has expired."""
    match value:
        case {"key": str(key), "handshake": bool(has_handshake), "version": str(version), "at": int(at)} if (
            _KEY.fullmatch(key) and len(version) <= MAX_VERSION
        ):
            return key, Era(not has_handshake, version), bounded(at) or 0.0
    return "", Era(modern=True), 0.0
