"""Stores the accepted definitions of servers, each in a file that is named by a hash."""

import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tui.core.language.translate import message, sentences
from tui.core.permission.definitions import MAX_ACCEPTED, Accepted, DefinitionRecord
from tui.core.permission.differences import digest_of
from tui.settings.state.state_file import OTHER_VERSION, Content, StateFile, WriteThread

MAX_BYTES = 16 * 1024 * 1024
MAX_DEFINITIONS = 4 * 1024 * 1024
"""Characters of a server's definitions that are stored; of the others, only digests are."""

MAX_FILES = 300
"""Number of servers that are stored; those that were started least recently are removed."""

_log = logging.getLogger(__name__)


class StoredDefinitions:
    """A `tui.core.permission.definitions.DefinitionStore` in a folder, which need not exist.

    `redact` removes configured secrets from a JSON value: a server may put its own into a definition. Digests
    are computed with the secrets. A tool whose name contains a secret is not stored.
    """

    def __init__(self, folder: Path, redact: Callable[[Any], Any] = lambda value: value) -> None:
        self._folder = folder
        self._redact = redact
        self._thread = WriteThread("definitions")
        self.close = self._thread.close

    def load(self, key: str) -> DefinitionRecord | None:
        content, damage = self._file(key, "").look()
        if damage:
            _log.warning("the accepted definitions of a server cannot be read: %s", damage)
            why = message("What you accepted before cannot be read: {problem}", problem=damage)
            step = message("Everything counts as changed until you accept it.")
            return DefinitionRecord(damage=sentences(why, step))
        if not content:
            return None
        with suppress(OSError):  # the disk is read-only
            os.utime(self._path(key))  # mark it as used
        return _record(content)

    def save(self, key: str, server: str, kept: DefinitionRecord) -> None:
        def change(content: Content) -> Content:
            before = _record(content) if content else DefinitionRecord(probed=True)
            accepted = {**before.accepted, **kept.accepted}
            last = dict(list(accepted.items())[-MAX_ACCEPTED:])
            probed = kept.probed and before.probed
            return self._content(server, DefinitionRecord(last, kept.refused, probed=probed))

        self._file(key, server).change_later(change)
        self._thread.submit(self._forget_old)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _file(self, key: str, server: str) -> StateFile:
        return StateFile(
            self._path(key),
            f"the accepted definitions of {server}",
            max_bytes=MAX_BYTES,
            problem_of=_problem_of,
            indent=None,
            thread=self._thread,
        )

    def _forget_old(self) -> None:
        with suppress(OSError):
            files = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for path in files[: max(0, len(files) - MAX_FILES)]:
                path.unlink(missing_ok=True)

    def _content(self, server: str, kept: DefinitionRecord) -> Content:
        room, listed = MAX_DEFINITIONS, []
        for name, one in kept.accepted.items():
            if self._redact(name) != name:
                continue
            entry: dict[str, Any] = {"name": name, "digest": one.digest}
            size = len(json.dumps(one.definition)) if one.definition is not None else 0
            if one.definition is not None and size <= room:
                entry["definition"] = stored = self._redact(one.definition)
                if (digest := digest_of(stored)) != one.digest:
                    entry["redacted"] = digest
                room -= size
            listed.append(entry)
        without = {name: digest for name, digest in kept.refused.items() if self._redact(name) == name}
        probed = {"probed": True} if kept.probed else {}
        return {"server": server, "accepted": listed, "refused": without, **probed}


def _problem_of(content: Content) -> str:
    match content:
        case {"accepted": list(listed), "refused": dict()}:
            pairs = [(one.get("name"), one.get("digest")) if isinstance(one, dict) else () for one in listed]
            whole = all(pair and all(isinstance(text, str) for text in pair) for pair in pairs)
            return "" if whole else message("has an invalid entry")
    return OTHER_VERSION


def _record(content: Content) -> DefinitionRecord:
    accepted = {}
    for entry in content["accepted"]:
        digest, definition = entry["digest"], entry.get("definition")
        # A definition that is not the accepted one would hide what has changed since.
        if not isinstance(definition, dict) or digest_of(definition) != entry.get("redacted", digest):
            definition = None
        accepted[entry["name"]] = Accepted(digest, definition)
    return DefinitionRecord(
        accepted,
        {name: one for name, one in content["refused"].items() if isinstance(one, str)},
        probed=content.get("probed") is True,
    )
