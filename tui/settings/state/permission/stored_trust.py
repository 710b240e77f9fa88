"""Stores which servers are trusted.

The key of an answer is the server's name with a hash of what runs, so a changed command invalidates it.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.core.servers import ServerSpec
from tui.settings.locations import runs_sample
from tui.settings.state.state_file import KeyedList

MAX_ENTRIES = 1000

Key = tuple[str, str]


class StoredTrust:
    """The answers, which are read from their file once."""

    def __init__(self, path: Path) -> None:
        self._list = KeyedList(
            path, "which servers are trusted", "servers", _read, _entry, max_entries=MAX_ENTRIES
        )
        self._answers: dict[Key, bool] | None = None
        self._damage = ""
        self.close = self._list.file.close

    def find(self, spec: ServerSpec) -> bool | None:
        """Return the answer about a server, None if there is none."""
        return self._read_once().get(_key(spec))

    def applied(self, spec: ServerSpec) -> ServerSpec:
        """Return a server with its stored trust, unless configuration or command line set it.

        Samples change with mcptui, so their changes are accepted.
        """
        is_sample = runs_sample(spec)
        spec = replace(spec, accept_changes=True) if is_sample else spec
        if spec.trusted is not None:
            return spec
        known = self.find(spec)
        return replace(spec, trusted=True if known is None and is_sample else known)

    def damage(self) -> str:
        """Return why answers of earlier runs could not be read, with the path of the file, or ""."""
        self._read_once()
        return self._damage

    def _read_once(self) -> dict[Key, bool]:
        if self._answers is None:
            content, damage = self._list.file.look()
            self._answers = self._list.of(content)
            self._damage = f"Which servers you trust cannot be read: {damage}" if damage else ""
        return self._answers

    def keep(self, spec: ServerSpec, trusted: bool) -> None:
        self._read_once()[_key(spec)] = trusted
        self._list.file.change_later(self._list.change({_key(spec): trusted}))


def _key(spec: ServerSpec) -> Key:
    return spec.name, spec.digest()


def _read(entry: Any) -> tuple[Key, bool] | None:
    match entry:
        case {"name": str(name), "runs": str(runs), "trusted": bool(trusted)}:
            return (name, runs), trusted
    return None


def _entry(key: Key, trusted: bool) -> dict[str, Any]:
    return {"name": key[0], "runs": key[1], "trusted": trusted}
