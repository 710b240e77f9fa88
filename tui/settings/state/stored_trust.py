"""Stores which servers are trusted from one run to the next: a private JSON file, written in a thread.

The key of an answer is the server's name with a hash of what runs, so a changed command invalidates it.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.servers import ServerSpec
from tui.settings.locations import runs_sample
from tui.settings.state.list_file import ListFile

MAX_BYTES = 1024 * 1024
MAX_ENTRIES = 1000

Key = tuple[str, str]


class StoredTrust:
    """The answers and their file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self._file = ListFile(path, "servers", "which servers are trusted", max_bytes=MAX_BYTES)
        self._answers: dict[Key, bool] | None = None
        self._damage = ""

    def find(self, spec: ServerSpec) -> bool | None:
        """Return the answer about a server, None if there is none. The file is small and read only once."""
        return self._read_once().get(_key(spec))

    def applied(self, spec: ServerSpec) -> ServerSpec:
        """Return a server with its stored trust, unless configuration or command line set it.

        Samples change with mcptui, so their changes are accepted.
        """
        spec = replace(spec, accept_changes=True) if runs_sample(spec) else spec
        if spec.trusted is not None:
            return spec
        known = self.find(spec)
        if known is None and runs_sample(spec):
            known = True
        return spec if known is None else replace(spec, trusted=known)

    def damage(self) -> str:
        """Return why answers of earlier runs could not be read, with the path of the file, or ""."""
        self._read_once()
        return self._damage

    def _read_once(self) -> dict[Key, bool]:
        if self._answers is None:
            self._answers = _answers(self._file.read())
            if not self._answers and (why := self._file.damage()):
                self._damage = f"Which servers you trust cannot be read: {why}"
        return self._answers

    def keep(self, spec: ServerSpec, trusted: bool) -> None:
        self._read_once()[_key(spec)] = trusted
        self._file.change(partial(_changed, _key(spec), trusted))

    def close(self) -> None:
        """Wait until everything is written."""
        self._file.close()


def _key(spec: ServerSpec) -> Key:
    return spec.name, spec.digest()


def _changed(key: Key, trusted: bool, entries: Sequence[Any]) -> list[dict[str, Any]]:
    answers = _answers(entries)
    answers.pop(key, None)
    answers[key] = trusted
    return [
        {"name": name, "runs": runs, "trusted": answer}
        for (name, runs), answer in list(answers.items())[-MAX_ENTRIES:]
    ]


def _answers(entries: Sequence[Any]) -> dict[Key, bool]:
    answers: dict[Key, bool] = {}
    for entry in entries:
        match entry:
            case {"name": str(name), "runs": str(runs), "trusted": bool(trusted)}:
                answers[(name, runs)] = trusted
    return answers
