"""Stores secrets of the user: in the system's keychain, or else in files that only their owner can read.

The keychain needs the optional package keyring. It may wait forever until the user unlocks it, so it is used
in a daemon thread, with a timeout.

An entry of `StoredSecrets` is a JSON file, named by a hash of what it belongs to. Its secrets are in the
keychain if that works, otherwise in the file itself. Sign-ins and keys of models are stored so. A value of a
server's configuration, which `${file:PATH}` reads, is alone in its file.
"""

import asyncio
import hashlib
import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from tui.core.background import in_daemon_thread
from tui.core.errors import ConfigError, reason_of
from tui.core.files import open_file, read_limited, write_private
from tui.core.language.translate import message, sentences
from tui.core.secrets.redact import Secret
from tui.core.text import clean_line

SECONDS = 30.0
"""Time in seconds that the user has to unlock it."""


_REASONS = {
    "KeyringLocked": message("it is locked"),
    "InitError": message("it cannot be opened"),
    "PasswordSetError": message("it does not store the value"),
    "PasswordDeleteError": message("it does not delete the entry"),
}
"""The words of the errors of keyring, whose backends quote D-Bus and numbers of the system."""


async def key_in_keychain(
    place: str, *, where: str = "", otherwise: str = message("Use api_key_env."), missing: str = ""
) -> Secret:
    """Return the key that is stored at `place`, "SERVICE/NAME", split at the last slash.

    `otherwise` says what to do without a keychain, `missing` how to store the key. Raises ConfigError if
    there is no keychain, it stays locked, or it holds no such key.
    """
    service, _, name = place.rpartition("/")
    try:
        key = await read(service, name)
    except ConfigError as error:
        step = error.next_step
        if step.startswith("Unlock"):
            step = sentences(step, message("Then try again."))
        said = message("{problem} ({place})", problem=error.message, place=clean_line(place, 80))
        raise ConfigError(said, where=where, next_step=sentences(step, otherwise)) from None
    if not key:
        entry = {"service": clean_line(service, 60), "name": clean_line(name, 60)}
        step = missing or message("Store it with `keyring set {service} {name}`.", **entry)
        lost = message("the key is not in the keychain ({place})", place=clean_line(place, 80))
        raise ConfigError(lost, where=where, next_step=step)
    return Secret(key.strip())


async def read(service: str, name: str) -> str | None:
    """Return the stored value, or None. This, `store` and `remove` raise ConfigError without a keychain."""
    found = await _use(lambda keyring: keyring.get_password(service, name))
    return found if isinstance(found, str) else None


async def store(service: str, name: str, value: str) -> None:
    """Store a value, replacing an older one. Raises ConfigError, also if the keychain is a plain file."""

    def work(keyring: Any) -> None:
        _require_backend(keyring)
        keyring.set_password(service, name, value)
        if keyring.get_password(service, name) != value:
            raise ConfigError(message("the keychain did not keep the value"))

    await _use(work)


async def problem() -> str:
    """Return why values cannot be stored, or "". Does not touch the keychain, which may be locked."""
    try:
        await _use(_require_backend)
    except ConfigError as error:
        return error.message
    return ""


def _require_backend(keyring: Any) -> None:
    """Raise ConfigError without a backend that keeps what it is given, encrypted."""
    found = getattr(keyring, "get_keyring", lambda: None)()
    inside = getattr(found, "backends", None) or [found]
    name, module = type(inside[0]).__name__, type(inside[0]).__module__
    if module in ("keyring.backends.fail", "keyring.backends.null"):
        raise ConfigError(message("no supported keychain found"))
    if "Plaintext" in name:  # of keyrings.alt
        raise ConfigError(message("keyring has only the backend {name}, which does not encrypt", name=name))


async def remove(service: str, name: str) -> None:
    """Remove an entry, if there is one."""

    def work(keyring: Any) -> None:
        if keyring.get_password(service, name) is not None:
            keyring.delete_password(service, name)

    await _use(work)


async def _use(work: Callable[[Any], Any]) -> Any:
    try:
        async with asyncio.timeout(SECONDS):
            # By name: the package is optional, also for type checking.
            return await in_daemon_thread("keychain", lambda: work(importlib.import_module("keyring")))
    except TimeoutError:
        raise ConfigError(
            message("no response from the keychain within {seconds:g} s", seconds=SECONDS),
            next_step=message("Unlock it if it asks for a password."),
        ) from None
    except ImportError:
        raise ConfigError(
            message("the Python package keyring is not installed"),
            next_step=message("Install it next to mcptui: `pip install keyring`."),
        ) from None
    except ConfigError:
        raise
    except Exception as error:
        # The backends of keyring are third-party; they may raise anything.
        kind = type(error).__name__
        if kind == "NoKeyringError":
            raise ConfigError(message("no supported keychain found")) from None
        reason = _REASONS.get(kind) or reason_of(error, 160)
        step = message("Unlock it.") if "Locked" in kind else ""
        raise ConfigError(
            message("cannot use the keychain: {reason}", reason=reason), next_step=step
        ) from None


_T = TypeVar("_T")

SERVICE = "mcptui"
MAX_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a file that is read: more than a token and metadata of the largest replies take."""

IN_KEYCHAIN = "keychain"
IN_FILE = "file"


def name_of(*owner: str) -> str:
    """Return the name of the entry that belongs to `owner`, such as a server, its address and its issuer."""
    return hashlib.sha256("\0".join(owner).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def private_place(path: Path, reason: str) -> str:
    """Return where a secret is that was written to a file for a reason, in words for the user."""
    return message("in {path} (mode 0600, because {reason})", path=str(path), reason=reason)


class StoredSecrets:
    """The entries of one kind, such as "sign-in", in a folder."""

    def __init__(self, folder: Path, kind: str, *, use_keychain: bool = True) -> None:
        self._folder = folder
        self._kind = kind
        self._use_keychain = use_keychain

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def place_in_keychain(self, name: str) -> str:
        """Return the place of an entry in the keychain, "SERVICE/NAME"."""
        return f"{SERVICE}/{self._entry(name)}"

    async def into_keychain(self, name: str, secrets: str) -> tuple[str, str]:
        """Store the secrets of an entry in the keychain.

        Returns `IN_KEYCHAIN`, or `IN_FILE` with the reason why the caller has to write them to its file.
        """
        if not self._use_keychain:
            return IN_FILE, message("the keychain is not available")
        try:
            await store(SERVICE, self._entry(name), secrets)
        except ConfigError as error:
            return IN_FILE, error.message
        return IN_KEYCHAIN, ""

    async def why_in_file(self) -> str:
        """Return why secrets would be written to files, or "" if there is a keychain. Stores nothing."""
        return await problem() if self._use_keychain else message("the keychain is not available")

    async def from_keychain(self, name: str) -> str:
        """Return the secrets of an entry from the keychain, or "" if they cannot be read."""
        try:
            return await read(SERVICE, self._entry(name)) or ""
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
                await remove(SERVICE, self._entry(name))

    def shown_place(self, name: str, place: str, reason: str) -> str:
        """Return where the secrets of an entry are, in words for the user."""
        if place == IN_KEYCHAIN:
            return message("in the keychain")
        if place != IN_FILE:
            return message("in memory only ({reason})", reason=reason)
        return private_place(self.path(name), reason)

    def read(self, name: str, checked: Callable[[dict[str, Any]], _T]) -> _T | None:
        """Return the entry of a file; None if it is missing or damaged, or others can read it. Blocks.

        `checked` raises TypeError or ValueError for content that it does not accept.
        """
        try:
            with open_file(self.path(name), links=False) as file:
                about = os.fstat(file.fileno())
                if os.name == "posix" and (about.st_uid != os.getuid() or about.st_mode & 0o077):
                    return None
                raw = json.loads(read_limited(file, MAX_BYTES))
            json.dumps(raw, ensure_ascii=False).encode()  # half of a surrogate pair cannot be sent
            return checked(raw) if isinstance(raw, dict) else None
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def all(self, checked: Callable[[dict[str, Any]], _T]) -> Iterator[_T]:
        """Yield the entries that `read` would return. Blocks."""
        try:
            paths = sorted(self._folder.glob("*.json"))
        except OSError:
            return
        for path in paths:
            if (found := self.read(path.stem, checked)) is not None:
                yield found

    def _entry(self, name: str) -> str:
        return f"{self._kind} {name}"
