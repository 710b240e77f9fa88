"""Stores tokens in the system's keychain, or else in a file that only its owner can read.

One sign-in is one file in the state directory, per server, address and issuer. Its tokens and client secret
are in the keychain if that works, otherwise in the file itself; `StoredSignIn.place` says which.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tui.core.errors import StorageError, reason_of
from tui.core.jsonrpc.reader import json_value
from tui.core.secrets.keychain import IN_FILE, IN_KEYCHAIN, StoredSecrets, name_of
from tui.core.secrets.oauth_values import with_lifetime
from tui.core.units import bounded
from tui.core.web import header_value_fault

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
        return name_of(self.server, self.url, self.issuer)

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
        self._stored = StoredSecrets(folder, "sign-in", use_keychain=use_keychain)

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
        return [_without_credentials(found) for found in await asyncio.to_thread(self._all)]

    async def save(self, sign_in: StoredSignIn) -> StoredSignIn:
        """Store a sign-in; return it with its `place`. Raises StorageError."""
        place, reason = await self._stored.into_keychain(sign_in.key, json.dumps(sign_in.secrets()))
        renewable = bool(sign_in.tokens.get("refresh_token"))
        kept = replace(sign_in, saved_at=time.time(), renewable=renewable, place=place, reason=reason)
        stored = kept if place == IN_FILE else _without_credentials(kept)
        try:
            await self._stored.write(stored.key, asdict(stored))
        except OSError as error:
            raise StorageError(
                f"cannot store the sign-in: {reason_of(error)}.",
                where=str(self._folder),
                next_step="It is valid until mcptui quits.",
            ) from error
        return kept

    async def want(self, sign_in: StoredSignIn) -> None:
        """Write what is `wanted` to the newest sign-in to the same server and address, and nothing else."""
        same = (sign_in.server, sign_in.url)
        known = (one for one in await asyncio.to_thread(self._all) if (one.server, one.url) == same)
        newest = replace(next(known, StoredSignIn(*same, place=IN_FILE)), wanted=sign_in.wanted)
        with suppress(OSError):  # then it is known until mcptui quits
            await self._stored.write(newest.key, asdict(newest))

    async def forget(self, server: str) -> int:
        """Delete every sign-in to a server, tokens first; return how many there were."""
        mine = [found for found in await asyncio.to_thread(self._all) if found.server == server]
        for found in mine:
            await self._stored.remove(found.key, place=found.place)
        return len(mine)

    async def forget_other_issuers(self, kept: StoredSignIn) -> None:
        """Delete the sign-ins to the same server and address at other issuers."""
        for found in await asyncio.to_thread(self._all):
            same = (found.server, found.url) == (kept.server, kept.url)
            if same and found.key != kept.key:
                await self._stored.remove(found.key, place=found.place)

    def shown_place(self, sign_in: StoredSignIn) -> str:
        """Return where the secrets of a stored sign-in are, in words for the user."""
        return self._stored.shown_place(sign_in.key, sign_in.place, sign_in.reason)

    async def _with_secrets(self, found: StoredSignIn) -> StoredSignIn | None:
        if found.place != IN_KEYCHAIN:
            return found
        secrets = json_value(await self._stored.from_keychain(found.key))
        if not isinstance(secrets, dict):
            return None
        parts: dict[str, Any] = {
            part: _with_sendable(
                {**getattr(found, part), **{name: secrets[name] for name in names if name in secrets}}, part
            )
            for part, names in _SECRET_OF.items()
        }
        return replace(found, **parts)

    def _all(self) -> list[StoredSignIn]:
        """Return sign-ins, newest first, except from files that are damaged or that others can read."""
        found = self._stored.all(lambda raw: _checked(StoredSignIn(**raw)))
        return sorted(found, key=lambda one: -one.saved_at)


def _without_credentials(sign_in: StoredSignIn) -> StoredSignIn:
    parts: dict[str, Any] = {
        part: {name: value for name, value in getattr(sign_in, part).items() if name not in names}
        for part, names in _SECRET_OF.items()
    }
    return replace(sign_in, **parts)


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
