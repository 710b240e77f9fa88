"""Stores secrets of the user: in the system's keychain, or else in files that only their owner can read.

An entry is a JSON file, named by a hash of what it belongs to. Its secrets are in the keychain if that works,
otherwise in the file itself. Sign-ins and keys of models are stored so. A value of a server's configuration,
which `${file:PATH}` reads, is alone in its file: `write_private`.
"""

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from tui.core.atomic_write import atomic_write
from tui.core.errors import ConfigError
from tui.core.files.private_files import make_folder
from tui.core.secrets import keychain

_T = TypeVar("_T")

SERVICE = "mcptui"
MAX_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a file that is read: more than a token and metadata of the largest replies take."""

IN_KEYCHAIN = "keychain"
IN_FILE = "file"


def name_of(*owner: str) -> str:
    """Return the name of the entry that belongs to `owner`, such as a server, its address and its issuer."""
    return hashlib.sha256("\0".join(owner).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in a folder of mcptui's. Raises OSError."""
    make_folder(path.parent)
    atomic_write(path, [text], links=False)


def private_place(path: Path, reason: str) -> str:
    """Return where a secret is that was written to a file for a reason, in words for the user."""
    return f"in {path} (mode 0600, because {reason})"


class StoredSecrets:
    """The entries of one kind, such as "sign-in", in a folder."""

    def __init__(self, folder: Path, kind: str, *, use_keychain: bool = True) -> None:
        self._folder = folder
        self._kind = kind
        self._use_keychain = use_keychain

    def path(self, name: str) -> Path:
        """Return the file of an entry."""
        return self._folder / f"{name}.json"

    def place_in_keychain(self, name: str) -> str:
        """Return the place of an entry in the keychain, "SERVICE/NAME"."""
        return f"{SERVICE}/{self._entry(name)}"

    async def into_keychain(self, name: str, secrets: str) -> tuple[str, str]:
        """Store the secrets of an entry in the keychain.

        Returns `IN_KEYCHAIN`, or `IN_FILE` with the reason why the caller has to write them to its file.
        """
        if not self._use_keychain:
            return IN_FILE, "the keychain is not available"
        try:
            await keychain.store(SERVICE, self._entry(name), secrets)
        except ConfigError as error:
            return IN_FILE, error.message
        return IN_KEYCHAIN, ""

    async def why_in_file(self) -> str:
        """Return why secrets would be written to files, or "" if there is a keychain. Stores nothing."""
        return await keychain.problem() if self._use_keychain else "the keychain is not available"

    async def from_keychain(self, name: str) -> str:
        """Return the secrets of an entry from the keychain, or "" if they cannot be read."""
        try:
            return await keychain.read(SERVICE, self._entry(name)) or ""
        except ConfigError:
            return ""

    async def write(self, name: str, about: Mapping[str, Any]) -> None:
        """Write the file of an entry. Raises OSError."""
        await asyncio.to_thread(write_private, self.path(name), json.dumps(about, indent=1))

    async def remove(self, name: str, *, place: str) -> None:
        """Remove an entry. Raises OSError if its file stays."""
        await asyncio.to_thread(self.path(name).unlink, missing_ok=True)
        if place == IN_KEYCHAIN:
            with suppress(ConfigError):
                await keychain.remove(SERVICE, self._entry(name))

    def shown_place(self, name: str, place: str, reason: str) -> str:
        """Return where the secrets of an entry are, in words for the user."""
        if place == IN_KEYCHAIN:
            return "in the keychain"
        if place != IN_FILE:
            return f"in memory only ({reason})"
        return private_place(self.path(name), reason)

    def read(self, name: str, checked: Callable[[dict[str, Any]], _T]) -> _T | None:
        """Return the entry of a file; None if it is missing or damaged, or others can read it. Blocks.

        `checked` raises TypeError or ValueError for content that it does not accept.
        """
        return _read(self.path(name), checked)

    def all(self, checked: Callable[[dict[str, Any]], _T]) -> Iterator[_T]:
        """Yield the entries that `read` would return. Blocks."""
        try:
            paths = sorted(self._folder.glob("*.json"))
        except OSError:
            return
        for path in paths:
            if (found := _read(path, checked)) is not None:
                yield found

    def _entry(self, name: str) -> str:
        return f"{self._kind} {name}"


def _read(path: Path, checked: Callable[[dict[str, Any]], _T]) -> _T | None:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        is_private = os.name != "posix" or (about.st_uid == os.getuid() and not about.st_mode & 0o077)
        if not stat.S_ISREG(about.st_mode) or not is_private:
            return None
        try:
            raw = json.loads(file.read(MAX_BYTES))
            json.dumps(raw, ensure_ascii=False).encode()  # half of a surrogate pair cannot be sent
            return checked(raw) if isinstance(raw, dict) else None
        except (OSError, ValueError, TypeError, RecursionError):
            return None
