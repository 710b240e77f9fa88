"""Stores which servers are trusted from one run to the next: a private JSON file, written in a thread.

The key of an answer is the server's name with a hash of what runs, so a changed command invalidates it.
"""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tui.core.errors import ConfigError
from tui.core.servers import ServerSpec
from tui.settings.files import locked, read_state, state_damage
from tui.settings.save import write_state

FORMAT = 1
MAX_BYTES = 1024 * 1024
MAX_ENTRIES = 1000

Key = tuple[str, str]
_log = logging.getLogger(__name__)


class StoredTrust:
    """The answers and their file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: dict[Key, bool] | None = None
        self._damage = ""
        self._thread: ThreadPoolExecutor | None = None

    def find(self, spec: ServerSpec) -> bool | None:
        """Return the answer about a server, None if there is none. The file is small and read only once."""
        return self._read_once().get(_key(spec))

    def damage(self) -> str:
        """Return why answers of earlier runs could not be read, with the path of the file, or ""."""
        self._read_once()
        return self._damage

    def _read_once(self) -> dict[Key, bool]:
        if self._answers is None:
            self._answers = _read(self._path)
            if not self._answers and (why := state_damage(self._path, MAX_BYTES, form=FORMAT)):
                self._damage = f"Which servers you trust cannot be read: {why}"
        return self._answers

    def keep(self, spec: ServerSpec, trusted: bool) -> None:
        self._read_once()[_key(spec)] = trusted
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "trust")
        self._thread.submit(_change, self._path, _key(spec), trusted)

    def close(self) -> None:
        """Wait until everything is written."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


def _key(spec: ServerSpec) -> Key:
    return spec.name, spec.digest()


def _change(path: Path, key: Key, trusted: bool) -> None:
    """Change the file, which is read again, since another mcptui may have changed it."""
    try:
        with locked(path):
            answers = _read(path, to_change=True)
            answers.pop(key, None)
            answers[key] = trusted
            listed = [
                {"name": name, "runs": runs, "trusted": answer}
                for (name, runs), answer in list(answers.items())[-MAX_ENTRIES:]
            ]
            write_state(path, json.dumps({"format": FORMAT, "servers": listed}, indent=1) + "\n")
    except (ConfigError, OSError, ValueError) as error:
        _log.warning("cannot save which servers are trusted: %s", error)


def _read(path: Path, *, to_change: bool = False) -> dict[Key, bool]:
    listed = read_state(path, MAX_BYTES, form=FORMAT, to_change=to_change).get("servers")
    answers: dict[Key, bool] = {}
    for entry in listed if isinstance(listed, list) else ():
        match entry:
            case {"name": str(name), "runs": str(runs), "trusted": bool(trusted)}:
                answers[(name, runs)] = trusted
    return answers
