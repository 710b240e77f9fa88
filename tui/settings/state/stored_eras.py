"""Stores the eras of servers from one run to the next, in a private JSON file that is written in a thread.

Keys are hashes, so that the file contains no commands or addresses. It is disposable.
"""

import json
import logging
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.servers import MAX_VERSION, Era
from tui.settings.files import locked, read_state
from tui.settings.save import write_state

FORMAT = 1
MAX_BYTES = 256 * 1024
MAX_ENTRIES = 500
MAX_DAYS = 30
"""After this, a server is asked again: it may have been upgraded without a new version."""

_KEY = re.compile(r"[0-9a-f]{16}")
_log = logging.getLogger(__name__)


class StoredEras:
    """A `tui.core.servers.EraStore` in a file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread: ThreadPoolExecutor | None = None

    def load(self) -> Mapping[str, Era]:
        """Return the stored eras, none if the file is missing or damaged.

        Blocks while it reads the small file.
        """
        return {key: era for key, (era, _) in _read(self._path).items()}

    def changed(self, key: str, era: Era | None) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "eras")
        self._thread.submit(_change, self._path, key, era)

    def close(self) -> None:
        """Wait until everything is written."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


def _change(path: Path, key: str, era: Era | None) -> None:
    """Change the file, which is read again, since another mcptui may have changed it."""
    try:
        with locked(path):
            eras = _read(path, to_change=True)
            eras.pop(key, None)
            if era is not None:
                eras[key] = era, time.time()
            listed = [
                {"key": one, "handshake": era.has_handshake, "version": era.version, "at": int(at)}
                for one, (era, at) in list(eras.items())[-MAX_ENTRIES:]
            ]
            write_state(path, json.dumps({"format": FORMAT, "eras": listed}, indent=1) + "\n")
    except (ConfigError, OSError, ValueError) as error:
        _log.warning("cannot save the era of a server: %s", error)


def _read(path: Path, *, to_change: bool = False) -> dict[str, tuple[Era, float]]:
    listed = read_state(path, MAX_BYTES, form=FORMAT, to_change=to_change).get("eras")
    now = time.time()
    return {
        key: (era, at)
        for key, era, at in map(_entry, listed[-MAX_ENTRIES:] if isinstance(listed, list) else ())
        if 0 <= now - at < MAX_DAYS * 86_400
    }


def _entry(value: Any) -> tuple[str, Era, float]:
    """Return an entry; an invalid one gets the time 0, so that it has expired."""
    match value:
        case {"key": str(key), "handshake": bool(has_handshake), "version": str(version), "at": int(at)} if (
            _KEY.fullmatch(key) and len(version) <= MAX_VERSION
        ):
            return key, Era(has_handshake, version), at
    return "", Era(False), 0.0
