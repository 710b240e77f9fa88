"""Stores which servers are trusted.

The key of an answer is the server's name with a hash of what runs, so a changed command invalidates it.
"""

from dataclasses import replace
from pathlib import Path

from tui.core.servers import ServerSpec
from tui.settings.locations import runs_sample
from tui.settings.state.state_file import Content, StateFile, entries

MAX_BYTES = 1024 * 1024
MAX_ENTRIES = 1000

Key = tuple[str, str]


class StoredTrust:
    """The answers, which are read from their file once."""

    def __init__(self, path: Path) -> None:
        self._file = StateFile(path, "which servers are trusted", max_bytes=MAX_BYTES)
        self._answers: dict[Key, bool] | None = None
        self._damage = ""
        self.close = self._file.close

    def find(self, spec: ServerSpec) -> bool | None:
        """Return the answer about a server, None if there is none."""
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
            content, damage = self._file.look()
            self._answers = _answers(content)
            self._damage = f"Which servers you trust cannot be read: {damage}" if damage else ""
        return self._answers

    def keep(self, spec: ServerSpec, trusted: bool) -> None:
        key = _key(spec)
        self._read_once()[key] = trusted

        def change(content: Content) -> Content:
            answers = _answers(content)
            answers.pop(key, None)
            answers[key] = trusted
            last = list(answers.items())[-MAX_ENTRIES:]
            return {"servers": [{"name": name, "runs": runs, "trusted": one} for (name, runs), one in last]}

        self._file.change_later(change)


def _key(spec: ServerSpec) -> Key:
    return spec.name, spec.digest()


def _answers(content: Content) -> dict[Key, bool]:
    answers: dict[Key, bool] = {}
    for entry in entries(content, "servers"):
        match entry:
            case {"name": str(name), "runs": str(runs), "trusted": bool(trusted)}:
                answers[(name, runs)] = trusted
    return answers
