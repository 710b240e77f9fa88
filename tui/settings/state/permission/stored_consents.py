"""Consents and refusals by the hash of what would run.

The file contains no secrets: values that are not shown are stored as salted hashes. If it is lost, the user
is asked again. An invalid entry is ignored, and the questions mention it and a damaged file.
"""

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.core.files import Stamp, stamp_of
from tui.core.language.translate import N_, message, n_message, sentences
from tui.core.permission.launch import Launch
from tui.core.text import clean_line
from tui.core.units import whole
from tui.settings.locations import state_dir
from tui.settings.state.state_file import Content, StateFile, keep_damaged

MAX_BYTES = 4 * 1024 * 1024
MAX_ENTRIES = 500

_DIGEST = re.compile(r"[0-9a-f]{64}")
_REFUSAL: Mapping[str, type] = {"digest": str, "at": int}
_CONSENT = {**_REFUSAL, "server": str, "source": str, "salt": str, "summary": dict}


@dataclass(frozen=True, slots=True)
class Subject:
    """A server or a model: its name in questions, its source in words, and its command or address."""

    name: str
    source: str
    launch: Launch

    @property
    def digest(self) -> str:
        """The hash of what would run."""
        return self.launch.digest()


@dataclass(frozen=True, slots=True)
class _Answers:
    """The valid entries of the file by hash, and the number of the others."""

    agreed: dict[str, dict[str, Any]]
    refused: dict[str, dict[str, Any]]
    invalid: int

    @classmethod
    def of(cls, content: Content) -> "_Answers":
        agreed, wrong = _valid(content.get("consents", []), _CONSENT)
        refused, wrong_too = _valid(content.get("refused", []), _REFUSAL)
        return cls(agreed, refused, wrong + wrong_too)

    @property
    def content(self) -> Content:
        """What to write, without the oldest entries."""
        agreed, refused = list(self.agreed.values()), list(self.refused.values())
        return {"consents": agreed[-MAX_ENTRIES:], "refused": refused[-MAX_ENTRIES:]}


class StoredConsents:
    """The answers, which are read again when another process has changed their file."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_dir() / "consents.json"
        self._file = StateFile(self._path, "consents", max_bytes=MAX_BYTES, forgets="consents")
        self._stamp: Stamp = None
        self._kept = _Answers.of({})
        self._damage = ""

    def has(self, digest: str) -> bool:
        """Return whether the user has consented to what has this hash."""
        return digest in self._current().agreed

    def refused_at(self, subject: Subject) -> int:
        """Return when the user declined it, in seconds since the epoch; 0 if never."""
        refusal = self._current().refused.get(subject.digest)
        return 0 if refusal is None else whole(refusal["at"]) or 0

    def damage(self) -> str:
        """Return why earlier answers cannot be read, as sentences with the path of the file, or ""."""
        self._current()
        return self._damage

    def changes(self, subject: Subject) -> list[str]:
        """Return the differences from the last consent for a server; none if there was no consent."""
        for one in reversed(self._current().agreed.values()):
            if (one["server"], one["source"]) == (subject.name, subject.source):
                return subject.launch.changes(one["summary"], one["salt"])
        return []

    def add(self, subject: Subject) -> None:
        """Store a consent. Blocks. Raises ConfigError or OSError if it cannot be written."""
        salt = secrets.token_hex(16)
        yes = {"digest": subject.digest, "server": subject.name, "source": subject.source, "salt": salt}
        self._change({**yes, "at": int(time.time()), "summary": subject.launch.summary(salt)}, agreed=True)

    def refuse(self, subject: Subject) -> None:
        """Store a refusal. Blocks. Raises ConfigError or OSError if it cannot be written."""
        self._change({"digest": subject.digest, "at": int(time.time())}, agreed=False)

    def _change(self, answer: dict[str, Any], *, agreed: bool) -> None:
        def change(content: Content) -> Content:
            answers, digest = _Answers.of(content), answer["digest"]
            if answers.invalid:
                keep_damaged(self._path)
            answers.refused.pop(digest, None)
            if agreed:
                answers.agreed.pop(digest, None)
            (answers.agreed if agreed else answers.refused)[digest] = answer
            return answers.content

        self._file.change(change)

    def _current(self) -> _Answers:
        stamp = stamp_of(self._path)
        if stamp is None:
            self._stamp, self._kept, self._damage = None, _Answers.of({}), ""
            return self._kept
        if stamp != self._stamp:
            content, damage = self._file.look()
            self._stamp, self._kept = stamp, _Answers.of(content)
            unread = N_("Your earlier answers cannot be read: {problem}")
            self._damage = message(unread, problem=damage) if damage else ""
            if invalid := self._kept.invalid:
                said = n_message(
                    "{n} earlier answer is invalid and left out: {path}.",
                    "{n} earlier answers are invalid and left out: {path}.",
                    invalid,
                    path=clean_line(str(self._path), 400),
                )
                self._damage = sentences(said, self._file.copy)
        return self._kept


def _valid(listed: Any, members: Mapping[str, type]) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the valid entries of a list by digest, and the number of the others; no list counts as one."""
    if not isinstance(listed, list):
        return {}, 1
    whole = [one for one in listed if isinstance(one, dict)]
    whole = [one for one in whole if all(isinstance(one.get(name), kind) for name, kind in members.items())]
    valid = [one for one in whole if _DIGEST.fullmatch(one["digest"])]
    return {one["digest"]: one for one in valid}, len(listed) - len(valid)
