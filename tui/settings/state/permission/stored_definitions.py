"""Stores the accepted definitions of servers from one run to the next, each in a private JSON file.

Files are named by a hash, read in a thread and written in another one. A damaged file accepts nothing: the
user is informed and asked again, and the damaged file stays next to the new one.
"""

import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, reason_of
from tui.core.jsonrpc.reader import loads
from tui.core.permission.definitions import MAX_ACCEPTED, Accepted, DefinitionRecord
from tui.core.permission.differences import digest_of
from tui.settings.files import Unopened, Unreadable, damage_text, keep_damaged, read_bounded
from tui.settings.save import write_state
from tui.settings.state.list_file import WriteThread

FORMAT = 1
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

    def load(self, key: str) -> DefinitionRecord | None:
        path = self._path(key)
        try:
            found = _read(path)
            if found is not None:
                with suppress(OSError):  # the disk is read-only
                    os.utime(path)  # mark it as used
        except (ConfigError, Unreadable, OSError) as error:
            _log.warning("the accepted definitions of a server cannot be read: %s: %s", path, error)
            return DefinitionRecord(damage=_damage(path, error))
        return found

    def save(self, key: str, server: str, kept: DefinitionRecord) -> None:
        path = self._path(key)
        write = partial(self._add, path, server, kept)
        self._thread.change(path, write, f"the accepted definitions of {server}")

    def close(self) -> None:
        """Wait until everything is written."""
        self._thread.close()

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _add(self, path: Path, server: str, new: DefinitionRecord) -> None:
        """Add to a file, which is read again, since another mcptui may have changed it."""
        try:
            before = _read(path) or DefinitionRecord(probed=True)
        except Unopened as error:
            raise ConfigError(f"{error}.", where=str(path)) from error
        except Unreadable:
            before = DefinitionRecord()
            keep_damaged(path)
        accepted = {**before.accepted, **new.accepted}
        last = dict(list(accepted.items())[-MAX_ACCEPTED:])
        kept = DefinitionRecord(last, new.refused, probed=new.probed and before.probed)
        write_state(path, _text(server, kept, self._redact))
        self._forget_old()

    def _forget_old(self) -> None:
        files = list(self._folder.glob("*.json"))
        if len(files) > MAX_FILES:
            files.sort(key=lambda path: path.stat().st_mtime)
            for path in files[: len(files) - MAX_FILES]:
                path.unlink(missing_ok=True)


def _damage(path: Path, error: Exception) -> str:
    return (
        f"What you accepted before cannot be read: {damage_text(path, error)} "
        "Everything counts as changed until you accept it."
    )


def _text(server: str, kept: DefinitionRecord, redact: Callable[[Any], Any]) -> str:
    room, listed = MAX_DEFINITIONS, []
    for name, one in kept.accepted.items():
        if redact(name) != name:
            continue
        entry: dict[str, Any] = {"name": name, "digest": one.digest}
        size = len(json.dumps(one.definition)) if one.definition is not None else 0
        if one.definition is not None and size <= room:
            entry["definition"] = stored = redact(one.definition)
            if (digest := digest_of(stored)) != one.digest:
                entry["redacted"] = digest
            room -= size
        listed.append(entry)
    without = {name: digest for name, digest in kept.refused.items() if redact(name) == name}
    whole = {"format": FORMAT, "server": server, "accepted": listed, "refused": without}
    whole |= {"probed": True} if kept.probed else {}
    return json.dumps(whole, separators=(",", ":")) + "\n"  # indenting deep values multiplies the size


def _read(path: Path) -> DefinitionRecord | None:
    """Return the content of a file, None if it is missing. Raises Unreadable if it is damaged."""
    try:
        found = loads(read_bounded(path, MAX_BYTES, links=False))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is not JSON: {reason_of(error)}") from error
    match found:
        case {"format": int(number), "accepted": list(listed), "refused": dict(refused)} if number == FORMAT:
            return DefinitionRecord(
                dict(map(_entry, listed)),
                {name: one for name, one in refused.items() if isinstance(one, str)},
                probed=found.get("probed") is True,
            )
    raise Unreadable("was written by another version of mcptui")


def _entry(value: Any) -> tuple[str, Accepted]:
    match value:
        case {"name": str(name), "digest": str(digest)}:
            definition = value.get("definition")
            # A definition that is not the accepted one would hide what has changed since.
            if not isinstance(definition, dict) or digest_of(definition) != value.get("redacted", digest):
                definition = None
            return name, Accepted(digest, definition)
    raise Unreadable("has an invalid entry")
