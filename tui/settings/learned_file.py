"""Stores what was learned about endpoints in a disposable JSON file in the state directory.

Reading never fails. What cannot be read is learned again, and a damaged file is renamed.
"""

import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.units import bounded
from tui.settings.files import Unopened, Unreadable, locked, read_bounded
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

    def __init__(self, path: Path) -> None:
        self._path = path

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
                self._write([*mine, *others])
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
        try:
            found = json.loads(read_bounded(self._path, MAX_BYTES, links=False))
        except FileNotFoundError:
            return []
        except Unopened as error:
            if to_change:
                raise ConfigError(f"{error}.", where=str(self._path)) from error
            return []
        except (Unreadable, ValueError, RecursionError) as error:
            self._put_aside(str(error))
            return []
        listed = (
            found.get("learned") if isinstance(found, Mapping) and found.get("format") == FORMAT else None
        )
        if not isinstance(listed, list):
            self._put_aside("has an unknown format")
            return []
        oldest = time.time() - MAX_AGE_SECONDS
        return [entry for one in listed[:MAX_ENTRIES] if (entry := _entry(one)) and entry.at > oldest]

    def _put_aside(self, why: str) -> None:
        aside = self._path.with_name(f"{self._path.name}.damaged")
        _log.warning("%s %s. Renaming it to %s", self._path, why, aside.name)
        try:
            os.replace(self._path, aside)
        except OSError as error:
            _log.warning("cannot rename it: %s", error.strerror)

    def _write(self, entries: list[LearnedEntry]) -> None:
        kept = entries[:MAX_ENTRIES]
        while True:
            listed = [
                {"endpoint": one.endpoint, "model": one.model, "at": one.at, "learned": one.learned}
                for one in kept
            ]
            text = json.dumps({"format": FORMAT, "learned": listed}, indent=1) + "\n"
            if len(text) <= MAX_BYTES:
                break
            kept = kept[: len(kept) // 2]
        write_state(self._path, text)


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
