"""Stores what was learned about endpoints. What cannot be read is learned again."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, reason_of
from tui.core.language.translate import message
from tui.core.units import bounded
from tui.settings.locations import state_dir
from tui.settings.state.state_file import KeyedList

MAX_ENTRIES = 300
MAX_AGE_SECONDS = 90 * 86_400
"""After three months, an entry expires: the endpoint may have changed."""

MAX_NAME = 512


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
        self._path = path or state_dir() / "learned.json"
        what = "what was learned from an endpoint"
        self._list = KeyedList(
            self._path, what, "learned", _read, lambda _, one: asdict(one), max_entries=MAX_ENTRIES
        )

    def entries(self) -> list[LearnedEntry]:
        """Return all entries, the newest first."""
        return sorted(self._list.read().values(), key=lambda entry: -entry.at)

    def load(self, endpoint: str, model: str) -> Mapping[str, Any]:
        """Return what was learned about one model, empty if nothing was."""
        entry = self._list.read().get((endpoint, model))
        return {} if entry is None else entry.learned

    def save(self, endpoint: str, model: str, learned: Mapping[str, Any]) -> None:
        """Replace what was learned about one model. An empty value removes its entry. A failure is logged."""
        key = (endpoint, model)
        put = {key: LearnedEntry(endpoint, model, time.time(), learned)} if learned else {}
        self._list.file.try_to_change(self._list.change(put, dropped=[key]))

    def forget(self) -> int:
        """Remove everything, or raise `ConfigError`. Return how many entries there were."""
        count = len(self.entries())
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(
                message("cannot be removed: {reason}", reason=reason_of(error)), where=str(self._path)
            ) from error
        return count


def _read(entry: Any) -> tuple[tuple[str, str], LearnedEntry] | None:
    match entry:
        case {
            "endpoint": str(endpoint),
            "model": str(model),
            "at": int() | float() as at,
            "learned": {} as learned,
        } if max(len(endpoint), len(model)) <= MAX_NAME and not isinstance(at, bool):
            found = LearnedEntry(endpoint, model, bounded(at) or 0.0, learned)
            return ((endpoint, model), found) if found.at > time.time() - MAX_AGE_SECONDS else None
    return None
