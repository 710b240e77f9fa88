"""Stores what was learned about endpoints in a disposable JSON file in the state directory.

Reading never fails. What cannot be read is learned again, and a damaged file is kept as a copy.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.units import bounded
from tui.settings.files import locked, read_state
from tui.settings.locations import learned_file
from tui.settings.save import write_state

FORMAT = 1
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

    def entries(self) -> list[LearnedEntry]:
        """Return all entries, the newest first."""
        return sorted(self._read(), key=lambda entry: -entry.at)

    def load(self, endpoint: str, model: str) -> Mapping[str, Any]:
        """Return what was learned about one model, empty if nothing was."""
        for entry in self._read():
            if (entry.endpoint, entry.model) == (endpoint, model):
                return entry.learned
        return {}

    def save(self, endpoint: str, model: str, learned: Mapping[str, Any]) -> None:
        """Replace what was learned about one model. An empty value removes its entry."""
        try:
            with locked(self._path):
                kept = sorted(self._read(to_change=True), key=lambda entry: -entry.at)
                others = [one for one in kept if (one.endpoint, one.model) != (endpoint, model)]
                mine = [LearnedEntry(endpoint, model, time.time(), learned)] if learned else []
                write_state(self._path, _text([*mine, *others][:MAX_ENTRIES]))
        except ConfigError as error:
            _log.warning("cannot save what was learned from an endpoint: %s", error)

    def forget(self) -> int:
        """Remove everything, or raise `ConfigError`. Return how many entries there were."""
        count = len(self._read())
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be removed: {error.strerror}", where=str(self._path)) from error
        return count

    def _read(self, *, to_change: bool = False) -> list[LearnedEntry]:
        listed = read_state(self._path, MAX_BYTES, form=FORMAT, to_change=to_change).get("learned")
        oldest = time.time() - MAX_AGE_SECONDS
        found = map(_entry, listed[:MAX_ENTRIES] if isinstance(listed, list) else ())
        return [entry for entry in found if entry is not None and entry.at > oldest]


def _text(entries: list[LearnedEntry]) -> str:
    """Return the content of the file: the newest entries that fit."""
    text = json.dumps({"format": FORMAT, "learned": [asdict(one) for one in entries]}, indent=1) + "\n"
    return text if len(text) <= MAX_BYTES else _text(entries[: len(entries) // 2])


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
