"""Stores tokens in the system's keychain, or else in a file that only its owner can read.

One sign-in is one file in the state directory, per server, address and issuer. Its tokens and client secret
are in the keychain if that works, otherwise in the file itself; `StoredSignIn.place` says which.
"""

import asyncio
import hashlib
import json
import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tui.core.atomic_write import atomic_write
from tui.core.errors import ConfigError, StorageError
from tui.core.files.private_files import make_folder
from tui.core.secrets import keychain
from tui.core.secrets.oauth_values import with_lifetime
from tui.core.units import bounded
from tui.core.web import header_value_fault

SERVICE = "mcptui"
MAX_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a file that is read: more than a token and metadata of the largest replies take."""

IN_KEYCHAIN = "keychain"
IN_FILE = "file"
_SECRET_OF = {"tokens": ("access_token", "refresh_token"), "client": ("client_secret",)}


@dataclass(frozen=True, slots=True)
class StoredSignIn:
    """A sign-in to one server at one issuer.

    Attributes:
        server: the configured name.
        url: the server's address; tokens are never used for another one.
        client: the registration (RFC 7591); tokens: the token response (RFC 6749, 5.1).
        expires_at: when the access token expires, in seconds since 1970; None if the issuer did not say.
        metadata: the issuer's own metadata (RFC 8414); resource: that of the server (RFC 9728).
        renewable: there is a refresh token.
        wanted: scopes that the server required since and that were not granted, for the next `mcptui login`.
        place: "keychain" or "file": where the secrets are.
        reason: why they are not in the keychain, or "".
    """

    server: str
    url: str
    issuer: str = ""
    client: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, Any] = field(default_factory=dict, repr=False)
    expires_at: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    resource: Mapping[str, Any] = field(default_factory=dict, repr=False)
    saved_at: float = 0.0
    renewable: bool = False
    place: str = ""
    reason: str = ""
    wanted: str = ""

    @property
    def key(self) -> str:
        """The name of its file, and of its entry in the keychain."""
        parts = "\0".join((self.server, self.url, self.issuer))
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def revocation_endpoint(self) -> str:
        """The address at which its tokens can be revoked (RFC 7009), or ""."""
        found = self.metadata.get("revocation_endpoint")
        return found if isinstance(found, str) else ""

    def secrets(self) -> dict[str, str]:
        """Return its secret values, by names that may be shown."""
        return {
            name: str(value)
            for part, names in _SECRET_OF.items()
            for name in names
            if (value := getattr(self, part).get(name))
        }


class TokenStore:
    """The sign-ins of this user. Files are read and written in threads."""

    def __init__(self, folder: Path, *, use_keychain: bool = True) -> None:
        self._folder = folder
        self._use_keychain = use_keychain

    async def find(self, server: str, url: str) -> StoredSignIn | None:
        """Return the newest sign-in to a server at this address, with its secrets; None if there is none.

        A sign-in whose secrets cannot be read does not count: the user signs in again.
        """
        for found in await asyncio.to_thread(self._all):
            if (found.server, found.url) == (server, url):
                return await self._with_secrets(found)
        return None

    async def of(self, server: str) -> list[StoredSignIn]:
        """Return all sign-ins to a server whose secrets can be read, with the secrets."""
        mine = [found for found in await asyncio.to_thread(self._all) if found.server == server]
        return [found for one in mine if (found := await self._with_secrets(one)) is not None]

    async def listed(self) -> list[StoredSignIn]:
        """Return all sign-ins, newest first, without secrets: the keychain is not touched."""
        return [_without_secrets(found) for found in await asyncio.to_thread(self._all)]

    async def save(self, sign_in: StoredSignIn) -> StoredSignIn:
        """Store a sign-in; return it with its `place`. Raises StorageError."""
        place, reason = await self._into_keychain(sign_in)
        renewable = bool(sign_in.tokens.get("refresh_token"))
        kept = replace(sign_in, saved_at=time.time(), renewable=renewable, place=place, reason=reason)
        stored = kept if place == IN_FILE else _without_secrets(kept)
        try:
            await asyncio.to_thread(self._write, stored)
        except OSError as error:
            raise StorageError(
                f"cannot store the sign-in: {error.strerror}.",
                where=str(self._folder),
                next_step="It is valid until mcptui quits.",
            ) from error
        return kept

    async def want(self, sign_in: StoredSignIn) -> None:
        """Write what is `wanted` to the newest sign-in to the same server and address, and nothing else."""
        same = (sign_in.server, sign_in.url)

        def write() -> None:
            known = (found for found in self._all() if (found.server, found.url) == same)
            newest = next(known, StoredSignIn(*same, place=IN_FILE))
            self._write(replace(newest, wanted=sign_in.wanted))

        with suppress(OSError):  # then it is known until mcptui quits
            await asyncio.to_thread(write)

    async def forget(self, server: str) -> int:
        """Delete every sign-in to a server, tokens first; return how many there were."""
        mine = [found for found in await asyncio.to_thread(self._all) if found.server == server]
        for found in mine:
            await self._delete(found)
        return len(mine)

    async def forget_other_issuers(self, kept: StoredSignIn) -> None:
        """Delete the sign-ins to the same server and address at other issuers."""
        for found in await asyncio.to_thread(self._all):
            same = (found.server, found.url) == (kept.server, kept.url)
            if same and found.key != kept.key:
                await self._delete(found)

    async def _delete(self, found: StoredSignIn) -> None:
        path = self._path(found)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        if found.place == IN_KEYCHAIN:
            with suppress(ConfigError):
                await keychain.remove(SERVICE, _entry(found))

    def shown_place(self, sign_in: StoredSignIn) -> str:
        """Return where the secrets of a stored sign-in are, in words for the user."""
        if sign_in.place == IN_KEYCHAIN:
            return "in the keychain"
        if sign_in.place != IN_FILE:
            return f"in memory only ({sign_in.reason})"
        return f"in {self._path(sign_in)} (mode 0600, because {sign_in.reason})"

    async def _into_keychain(self, sign_in: StoredSignIn) -> tuple[str, str]:
        if not self._use_keychain:
            return IN_FILE, "the keychain is not available"
        try:
            await keychain.store(SERVICE, _entry(sign_in), json.dumps(sign_in.secrets()))
        except ConfigError as error:
            return IN_FILE, error.message
        return IN_KEYCHAIN, ""

    async def _with_secrets(self, found: StoredSignIn) -> StoredSignIn | None:
        if found.place != IN_KEYCHAIN:
            return found
        try:
            text = await keychain.read(SERVICE, _entry(found))
            secrets = json.loads(text or "")
        except (ConfigError, ValueError, RecursionError):
            return None
        if not isinstance(secrets, dict):
            return None
        parts: dict[str, Any] = {
            part: _with_sendable(
                {**getattr(found, part), **{name: secrets[name] for name in names if name in secrets}}, part
            )
            for part, names in _SECRET_OF.items()
        }
        return replace(found, **parts)

    # ---- files ----------------------------------------------------------------------------------------

    def _path(self, sign_in: StoredSignIn) -> Path:
        return self._folder / f"{sign_in.key}.json"

    def _write(self, sign_in: StoredSignIn) -> None:
        make_folder(self._folder)
        atomic_write(self._path(sign_in), [json.dumps(asdict(sign_in), indent=1)], links=False)

    def _all(self) -> list[StoredSignIn]:
        """Return sign-ins, newest first, except from files that are damaged or that others can read."""
        try:
            paths = sorted(self._folder.glob("*.json"))
        except OSError:
            return []
        found = [one for path in paths if (one := _read(path)) is not None]
        return sorted(found, key=lambda one: -one.saved_at)


def _entry(sign_in: StoredSignIn) -> str:
    return f"sign-in {sign_in.key}"


def _without_secrets(sign_in: StoredSignIn) -> StoredSignIn:
    parts: dict[str, Any] = {
        part: {name: value for name, value in getattr(sign_in, part).items() if name not in names}
        for part, names in _SECRET_OF.items()
    }
    return replace(sign_in, **parts)


def _read(path: Path) -> StoredSignIn | None:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or not _is_private(about):
            return None
        try:
            raw = json.loads(file.read(MAX_BYTES))
            json.dumps(raw, ensure_ascii=False).encode()  # half of a surrogate pair cannot be sent
            return _checked(StoredSignIn(**raw))
        except (OSError, ValueError, TypeError, RecursionError):
            return None


def _is_private(about: os.stat_result) -> bool:
    if os.name != "posix":
        return True
    return about.st_uid == os.getuid() and not about.st_mode & 0o077


def _checked(found: StoredSignIn) -> StoredSignIn:
    """Return a sign-in that was read, its numbers within bounds; raise TypeError if it is not one."""
    texts = (found.server, found.url, found.issuer, found.place, found.reason, found.wanted)
    tables = (found.client, found.tokens, found.metadata, found.resource)
    if not (
        all(isinstance(text, str) for text in texts) and all(isinstance(table, dict) for table in tables)
    ):
        raise TypeError("not a sign-in")
    tokens = with_lifetime(found.tokens)
    expires = bounded(found.expires_at)
    if "expires_in" in found.tokens and "expires_in" not in tokens:
        expires = None  # from a lifetime that says nothing
    return replace(
        found,
        tokens=_with_sendable(tokens, "tokens"),
        client=_with_sendable(found.client, "client"),
        expires_at=expires,
        saved_at=bounded(found.saved_at) or 0.0,
        renewable=found.renewable is True,
    )


def _with_sendable(table: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return a part without secrets that cannot be sent."""
    return {
        name: value
        for name, value in table.items()
        if name not in _SECRET_OF[part] or (isinstance(value, str) and not header_value_fault(value))
    }
