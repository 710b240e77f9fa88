"""Stores which servers are trusted.

The key of an answer is the server's name with a hash of what runs, so a changed command invalidates it.
"""

from pathlib import Path

from tui.core.servers import ServerSpec
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
