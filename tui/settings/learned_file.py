"""Stores what was learned about endpoints. What cannot be read is learned again."""

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.units import bounded
from tui.settings.locations import learned_file
from tui.settings.state.state_file import Content, StateFile, entries

MAX_BYTES = 1024 * 1024
MAX_ENTRIES = 300
MAX_AGE_SECONDS = 90 * 86_400
"""After three months, an entry expires: the endpoint may have changed."""

MAX_NAME = 512

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LearnedEntry:
    """What was learned about one model of one endpoint. `at` is in seconds since the epoch.

    The endpoint's URL contains no secrets. `learned` has the format of `tui.model`.
    """

    endpoint: str
    model: str
    at: float
    learned: Mapping[str, Any]


class LearnedFile:
    """Reads and writes the file. All methods block; the file is small."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or learned_file()
        self._file = StateFile(self._path, "endpoints", max_bytes=MAX_BYTES, forgets="learned")

    def entries(self) -> list[LearnedEntry]:
        """Return all entries, the newest first."""
        return _entries(self._file.read())

    def load(self, endpoint: str, model: str) -> Mapping[str, Any]:
        """Return what was learned about one model, empty if nothing was."""
        for entry in self.entries():
            if (entry.endpoint, entry.model) == (endpoint, model):
                return entry.learned
        return {}

    def save(self, endpoint: str, model: str, learned: Mapping[str, Any]) -> None:
        """Replace what was learned about one model. An empty value removes its entry."""

        def change(content: Content) -> Content:
            mine = [LearnedEntry(endpoint, model, time.time(), learned)] if learned else []
            others = [one for one in _entries(content) if (one.endpoint, one.model) != (endpoint, model)]
            return {"learned": [asdict(one) for one in [*mine, *others][:MAX_ENTRIES]][::-1]}

        try:
            self._file.change(change)
        except ConfigError as error:
            _log.warning("cannot save what was learned from an endpoint: %s", error)

    def forget(self) -> int:
        """Remove everything, or raise `ConfigError`. Return how many entries there were."""
        count = len(self.entries())
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be removed: {error.strerror}", where=str(self._path)) from error
        return count


def _entries(content: Content) -> list[LearnedEntry]:
    """Return the entries that have not expired, the newest first."""
    oldest = time.time() - MAX_AGE_SECONDS
    found = [entry for one in entries(content, "learned") if (entry := _entry(one)) and entry.at > oldest]
    return sorted(found, key=lambda entry: -entry.at)


def _entry(value: Any) -> LearnedEntry | None:
    match value:
        case {
            "endpoint": str(endpoint),
            "model": str(model),
            "at": int() | float() as at,
            "learned": {} as learned,
        } if max(len(endpoint), len(model)) <= MAX_NAME and not isinstance(at, bool):
            return LearnedEntry(endpoint, model, bounded(at) or 0.0, learned)
    return None
