"""Lock files: the definitions of a server as JSON that is pleasant to review in a diff.

Only `mcptui test --lock` and `mcptui diff` use them; a lock is never changed by a run. It is a file from
elsewhere: bounded when it is read. Only a lock is overwritten, in the folder of its test file or below.
"""

import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.addons.tests.contract.listing import LISTS, OTHERS, Entries, Kind, ServerListing, entries_of
from tui.addons.tests.suite.find import shown_path
from tui.core.errors import ConfigError, reason_of
from tui.core.files import atomic_write
from tui.core.jsonrpc.reader import NotJson, read_json
from tui.core.text import UNSEEN, clean_line, list_in, mapping, text_in
from tui.settings.files import Unreadable, read_bytes

MARK = "mcptui_lock"
"""The first key of a lock; its value is the version of the format."""

VERSION = 1
MAX_BYTES = 16 * 1024 * 1024
NEW_MODE = 0o644
FULL, SHAPE = "full", "shape"

_BEGINS = re.compile(rb'(?:<<<<<<< [^\n]*\n)?\s*\{\s*"mcptui_lock"')
"""The beginning of a lock, also of one with merge conflicts."""

_CONFLICT = re.compile(rb"^<<<<<<< ", re.M)
_HIDDEN = re.compile(UNSEEN)


@dataclass(frozen=True, slots=True)
class Lock:
    """The content of a lock file. `strength` is "full", or "shape": without texts, except suspicious ones."""

    listing: ServerListing
    strength: str = FULL

    def text(self) -> str:
        """Return the file: sorted, so that equal definitions have equal text; hidden characters escaped."""
        listing = self.listing.shape() if self.strength == SHAPE else self.listing
        value: dict[str, Any] = {MARK: VERSION, "strength": self.strength, "protocol": listing.protocol}
        value["capabilities"] = _sorted(listing.capabilities or {})
        if self.strength == FULL or listing.instructions:
            value["instructions"] = listing.instructions or ""
        for kind, one in LISTS.items():
            value[one.member] = _sorted(listing.entries(kind))
        text = json.dumps(value, ensure_ascii=False, indent=2)
        return _HIDDEN.sub(_escaped, text) + "\n"


class DamagedLock(ConfigError):
    """A lock that cannot be read, such as one with conflicts of a merge. It may be written again."""


def _sorted(value: Any) -> Any:
    """Return a value with sorted keys, and names of required arguments."""
    if isinstance(value, list):
        return [_sorted(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _sorted(value[key]) for key in sorted(value)}


def _escaped(match: re.Match[str]) -> str:
    raw = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{raw[at]:02x}{raw[at + 1]:02x}" for at in range(0, len(raw), 2))


def read_lock(path: Path) -> Lock | None:
    """Return the lock at a path, None if there is no file.

    Raises DamagedLock if a lock cannot be read, ConfigError if it is another file.
    """
    where = shown_path(path)
    try:
        raw = read_bytes(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except Unreadable as error:
        raise ConfigError(f"the lock {error}.", where=where) from None
    if raw and not _BEGINS.match(raw):
        raise ConfigError("not a lock of mcptui.", where=where, next_step=_ANOTHER)
    if conflict := _CONFLICT.search(raw):
        line = raw.count(b"\n", 0, conflict.start()) + 1
        raise DamagedLock(f"line {line}: the lock has merge conflicts.", where=where, next_step=_AGAIN)
    try:
        value = read_json(raw)
    except RecursionError:
        raise DamagedLock("the lock is nested too deeply.", where=where, next_step=_AGAIN) from None
    except (NotJson, ValueError) as error:
        why = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise DamagedLock(f"the lock is not JSON: {why}.", where=where, next_step=_AGAIN) from None
    found = mapping(value)
    version = found.get(MARK)
    if not isinstance(version, int) or isinstance(version, bool):
        raise ConfigError("not a lock of mcptui.", where=where, next_step=_ANOTHER)
    if version > VERSION:
        raise ConfigError(
            f"the lock has format {version}, and this version of mcptui reads {VERSION}.",
            where=where,
            next_step="Update mcptui.",
        )
    if member := _unsound(found):
        raise DamagedLock(f"the lock has no valid `{member}`.", where=where, next_step=_AGAIN)
    return _lock(found)


_AGAIN = "Restore it, or write it again with mcptui test --lock."
_ANOTHER = "Name another file in `lock` of [contract]."


def _unsound(found: Mapping[str, Any]) -> str:
    """Return a member that is not as it is written, or ""."""
    if found.get("strength") not in (FULL, SHAPE):
        return "strength"
    for member in (one.member for one in LISTS.values()):
        entries = found.get(member)
        if not isinstance(entries, Mapping) or not all(isinstance(one, Mapping) for one in entries.values()):
            return member
    if not isinstance(found.get("capabilities"), Mapping):
        return "capabilities"
    is_missing = "instructions" not in found and found["strength"] == SHAPE
    return "" if is_missing or isinstance(found.get("instructions"), str) else "instructions"


def _lock(found: Mapping[str, Any]) -> Lock:
    lists: dict[Kind, Entries] = {}
    for kind, listed in LISTS.items():
        items = (
            {**each, listed.key: name}
            for name, one in found[listed.member].items()
            for each in (one, *map(mapping, list_in(one, OTHERS)))
        )
        lists[kind], _ = entries_of(kind, items)
    instructions, protocol = text_in(found, "instructions"), text_in(found, "protocol")
    return Lock(ServerListing(lists, instructions, found["capabilities"], protocol), found["strength"])


def is_lock(path: Path) -> bool:
    """Return whether a file is a lock by its beginning, even a damaged one."""
    try:
        with path.open("rb") as file:
            return _BEGINS.match(file.read(256)) is not None
    except OSError:
        return False


def lock_path(suite: Path, lock: str) -> Path:
    """Return the path of the lock of a test file. Raises ConfigError if it is outside of its folder."""
    folder = os.path.realpath(suite.absolute().parent)
    found = os.path.realpath(os.path.join(folder, lock))
    is_plain = lock and not os.path.isabs(lock) and ".." not in Path(lock).parts
    if not is_plain or os.path.commonpath((folder, found)) != folder or found == folder:
        raise ConfigError(
            f"the lock {clean_line(lock, 200)} must be in the folder of the test file or below.",
            where=shown_path(suite),
        )
    return suite.absolute().parent / lock


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock. Raises ConfigError if another file is there, or it cannot be written. Blocks."""
    where = shown_path(path)
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode) if path.exists() else NEW_MODE
        if path.exists() and path.stat().st_size and not is_lock(path):
            raise ConfigError(
                "not a lock of mcptui, so it was not overwritten.",
                where=where,
                next_step=_ANOTHER,
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, [lock.text()], mode=mode)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"the lock cannot be written: {reason_of(error)}.", where=where) from None
