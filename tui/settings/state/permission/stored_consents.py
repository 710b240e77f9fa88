"""Consents and refusals by the hash of what would run: a private JSON file in the state directory.

It contains no secrets: values that are not shown are stored as salted hashes. If it is lost, the user is
asked again. A damaged file counts as empty, and an invalid entry is ignored; the questions mention both, and
a copy is made before the file is replaced.
"""

import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.core.permission.launch import Launch
from tui.core.text import clean_line
from tui.core.units import whole
from tui.settings.files import damaged_copy, keep_damaged, locked, read_state, state_damage
from tui.settings.save import write_state

FORMAT = 1
MAX_BYTES = 4 * 1024 * 1024
MAX_ENTRIES = 500

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Consent:
    """A consent: to what, for which server of which source, and when (seconds since the epoch)."""

    digest: str
    server: str
    source: str
    salt: str
    summary: Mapping[str, Any]
    at: int


@dataclass(slots=True)
class _Answers:
    """The answers in the file, by hash: consents, and when consent was refused, in seconds since the epoch.

    `invalid` counts the other entries.
    """

    agreed: dict[str, Consent] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    invalid: int = 0


class StoredConsents:
    """The consent file, which need not exist; it is read again when another process has changed it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._kept = _Answers()
        self._damage = ""

    def has(self, digest: str) -> bool:
        """Return whether the user has consented to what has this hash."""
        return digest in self._current().agreed

    def refused(self, digest: str) -> int:
        """Return when the user refused what has this hash, in seconds since the epoch; 0 if never."""
        return self._current().refused.get(digest, 0)

    def damage(self) -> str:
        """Return why earlier answers cannot be read, as sentences with the path of the file, or ""."""
        self._current()
        return self._damage

    def changes(self, server: str, source: str, launch: Launch) -> list[str]:
        """Return the differences from the last consent for a server; none if there was no consent."""
        for one in reversed(self._current().agreed.values()):
            if (one.server, one.source) == (server, source):
                return launch.changes(one.summary, one.salt)
        return []

    def add(self, server: str, source: str, launch: Launch) -> None:
        """Store a consent. Blocks. Raises ConfigError if it cannot be written."""
        salt = secrets.token_hex(16)
        digest = launch.digest()
        yes = Consent(digest, server, source, salt, launch.summary(salt), int(time.time()))
        with locked(self._path):
            kept = _read(self._path, to_change=True)
            kept.agreed.pop(digest, None)
            kept.refused.pop(digest, None)
            kept.agreed[digest] = yes
            write_state(self._path, _written(kept))

    def refuse(self, digest: str) -> None:
        """Store a refusal. Blocks. Raises ConfigError if it cannot be written."""
        with locked(self._path):
            kept = _read(self._path, to_change=True)
            kept.refused.pop(digest, None)
            kept.refused[digest] = int(time.time())
            write_state(self._path, _written(kept))

    def _damage_of(self, kept: _Answers) -> str:
        if kept.invalid:
            which = "1 earlier answer is" if kept.invalid == 1 else f"{kept.invalid} earlier answers are"
            copy = f"Before it is replaced, it is copied to {damaged_copy(self._path).name}."
            return f"{which} invalid and left out: {clean_line(str(self._path), 400)}. {copy}"
        if kept.agreed or kept.refused:
            return ""
        why = state_damage(self._path, MAX_BYTES, form=FORMAT)
        return f"Your earlier answers cannot be read: {why}" if why else ""

    def _current(self) -> _Answers:
        try:
            about = self._path.stat()
        except OSError:
            self._stamp, self._kept, self._damage = None, _Answers(), ""
            return self._kept
        stamp = (about.st_ino, about.st_size, about.st_mtime_ns)
        if stamp != self._stamp:
            self._stamp, self._kept = stamp, _read(self._path)
            self._damage = self._damage_of(self._kept)
        return self._kept


def _written(answers: _Answers) -> str:
    """Return the text of the file, without the oldest consents if it would be too large to read."""
    refused = [{"digest": one, "at": at} for one, at in list(answers.refused.items())[-MAX_ENTRIES:]]
    kept = list(answers.agreed.values())[-MAX_ENTRIES:]
    while True:
        listed = [
            {
                "digest": one.digest,
                "server": one.server,
                "source": one.source,
                "salt": one.salt,
                "at": one.at,
                "summary": one.summary,
            }
            for one in kept
        ]
        text = json.dumps({"format": FORMAT, "consents": listed, "refused": refused}, indent=1) + "\n"
        if len(text) <= MAX_BYTES or len(kept) <= 1:
            return text
        kept = kept[len(kept) // 2 :]


def _read(path: Path, *, to_change: bool = False) -> _Answers:
    """Return the valid entries of the file; none if it is missing, damaged or a link."""
    found = read_state(path, MAX_BYTES, form=FORMAT, to_change=to_change)
    kept = _Answers()
    for value in _entries(found, "refused", kept):
        match value:
            case {"digest": str(digest), "at": int(at)} if _DIGEST.fullmatch(digest):
                kept.refused[digest] = whole(at) or 0
            case _:
                kept.invalid += 1
    for value in _entries(found, "consents", kept):
        match value:
            case {
                "digest": str(digest),
                "server": str(server),
                "source": str(source),
                "salt": str(salt),
                "at": int(at),
                "summary": dict(summary),
            } if _DIGEST.fullmatch(digest):
                kept.agreed[digest] = Consent(digest, server, source, salt, summary, whole(at) or 0)
            case _:
                kept.invalid += 1
    if to_change and kept.invalid:
        keep_damaged(path)
    return kept


def _entries(found: Mapping[str, Any], name: str, kept: _Answers) -> list[Any]:
    """Return a list of the file; a value that is not a list counts as one invalid entry of `kept`."""
    listed = found.get(name, [])
    if isinstance(listed, list):
        return listed
    kept.invalid += 1
    return []
