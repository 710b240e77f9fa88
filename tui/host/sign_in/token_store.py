"""Stores tokens in the system's keychain, or else in a file that only its owner can read.

One sign-in is one file in the state directory, per server, address and issuer. Its tokens and client secret
are in the keychain if that works, otherwise in the file itself; `StoredSignIn.place` says which.
"""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from tui.core.errors import StorageError, reason_of
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message
from tui.core.secrets.keychain import IN_FILE, IN_KEYCHAIN, StoredSecrets
from tui.core.secrets.stored_sign_in import StoredSignIn, checked


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
        return [found.without_secrets() for found in await asyncio.to_thread(self._all)]

    async def save(self, sign_in: StoredSignIn) -> StoredSignIn:
        """Store a sign-in; return it with its `place`. Raises StorageError."""
        place, reason = await self._stored.into_keychain(sign_in.key, json.dumps(sign_in.secrets()))
        renewable = bool(sign_in.tokens.get("refresh_token")) or bool(sign_in.identity_provider[0])
        kept = replace(sign_in, saved_at=time.time(), renewable=renewable, place=place, reason=reason)
        stored = kept if place == IN_FILE else kept.without_secrets()
        try:
            await self._stored.write(stored.key, asdict(stored))
        except OSError as error:
            raise StorageError(
                message("cannot store the sign-in: {reason}.", reason=reason_of(error)),
                where=str(self._folder),
                next_step=message("It is valid until mcptui quits."),
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
        return found.with_secrets(secrets) if isinstance(secrets, dict) else None

    def _all(self) -> list[StoredSignIn]:
        """Return sign-ins, newest first, except from files that are damaged or that others can read."""
        found = self._stored.all(lambda raw: checked(StoredSignIn(**raw)))
        return sorted(found, key=lambda one: -one.saved_at)
