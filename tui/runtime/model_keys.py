"""Keys of model profiles that the user has entered: in memory for this run, or stored like tokens of servers.

A key belongs to a profile and the origin of its endpoint (scheme, host and port), and is sent to no other. It
is used instead of the one that the configuration names, because it was entered later.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tui.core.errors import ConfigError, StorageError, reason_of
from tui.core.files import short_path
from tui.core.language.translate import message
from tui.core.secrets.keychain import IN_FILE, IN_KEYCHAIN, StoredSecrets, name_of
from tui.core.secrets.redact import Secret
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import checked_key, usable_url
from tui.settings.locations import state_dir

MAX_KEY = 16 * 1024
"""Maximum characters of a key."""

THIS_RUN = message("pasted for this run")
PASTE_IT = message("Paste the key.")


class ModelKeys:
    """The keys that the user has entered. Everything but `store` and `forget` reads at most a small file."""

    def __init__(self, folder: Path | None = None) -> None:
        self._stored = StoredSecrets(folder or state_dir() / "model-keys", "model-key")
        self._of_run: dict[str, Secret] = {}

    def applied(self, profile: ModelProfile) -> ModelProfile:
        """Return the profile with the key that the user entered for it, or with its place in the keychain.

        A profile that needs consent gets none.
        """
        try:
            entry = _entry(profile)
        except (ConfigError, ValueError):  # its URL is unusable, or it needs consent
            return profile
        if (key := self._of_run.get(entry)) is not None:
            return replace(profile, api_key=key, api_key_env="", keychain="", key_place=THIS_RUN)
        found = self._stored.read(entry, _checked)
        if found is None:
            return profile
        place = self._stored.shown_place(entry, str(found["place"]), str(found["reason"]))
        in_keychain = found["place"] == IN_KEYCHAIN
        return replace(
            profile,
            api_key=None if in_keychain else Secret(str(found["key"])),
            api_key_env="",
            keychain=self._stored.place_in_keychain(entry) if in_keychain else "",
            key_place=f"stored {place}",
        )

    def renewed(self, profile: ModelProfile) -> ModelProfile | None:
        """Return a profile in use with a key that another process has stored since; None if there is none."""
        found = self.applied(profile)
        is_same = found.keychain == profile.keychain if found.keychain else found.api_key == profile.api_key
        return None if is_same else found

    def use(self, profile: ModelProfile, key: str) -> None:
        """Use a key until mcptui quits. It is kept in memory only. Raises ConfigError if it is invalid."""
        self._of_run[_entry(profile)] = Secret(valid_key(key))

    async def store(self, profile: ModelProfile, key: str) -> str:
        """Store a key in place of an older one, and return where, in words for the user.

        Raises ConfigError if it is invalid, StorageError if it cannot be written.
        """
        entry, key = _entry(profile), valid_key(key)
        place, reason = await self._stored.into_keychain(entry, key)
        about = {"profile": profile.name, "origin": _origin(profile), "place": place, "reason": reason}
        try:
            await self._stored.write(entry, about | ({"key": key} if place == IN_FILE else {}))
        except OSError as error:
            raise StorageError(
                message("cannot store the key: {reason}.", reason=reason_of(error)),
                where=str(self._stored.path(entry).parent),
                next_step=message("Use it for this run only, or set an environment variable."),
            ) from error
        self._of_run.pop(entry, None)
        return self._stored.shown_place(entry, place, reason)

    async def take_back(self, profile: ModelProfile) -> None:
        """Delete the key of a profile that was not saved after all."""
        entry = _entry(profile)
        self._of_run.pop(entry, None)
        if (found := await asyncio.to_thread(self._stored.read, entry, _checked)) is not None:
            with suppress(OSError):  # why the profile was not saved is more important
                await self._stored.remove(entry, place=str(found["place"]))

    async def forget(self, name: str) -> list[str]:
        """Delete the stored keys of a profile; return where they were. Raises StorageError."""
        places = []
        for found in await asyncio.to_thread(lambda: list(self._stored.all(_checked))):
            if found["profile"] != name:
                continue
            entry, place = name_of(name, found["origin"]), found["place"]
            try:
                await self._stored.remove(entry, place=place)
            except OSError as error:
                raise StorageError(
                    message("cannot delete the key: {reason}.", reason=reason_of(error)),
                    where=str(self._stored.path(entry)),
                ) from error
            self._of_run.pop(entry, None)
            places.append(self._stored.shown_place(entry, place, found["reason"]))
        return places

    async def future_place(self) -> tuple[str, str]:
        """Return where a key would be stored, and why it is not the keychain, or ""."""
        if reason := await self._stored.why_in_file():
            folder = short_path(str(self._stored.path("").parent))
            return message("a file that only you can read, in {folder}", folder=folder), reason
        return message("the system keychain"), ""


def stored_keys() -> Mapping[str, str]:
    """Return all keys that are stored in files, by the name that redaction shows. Blocks."""
    stored = StoredSecrets(state_dir() / "model-keys", "model-key")
    found = stored.all(_checked)
    return {f"models.{one['profile']}.api_key": str(one["key"]) for one in found if one.get("key")}


def valid_key(text: str) -> str:
    """Return a pasted key without the space around it. Raises ConfigError, which never quotes it."""
    key = text.strip()
    if not key:
        raise ConfigError(message("no key was given"), next_step=PASTE_IT)
    if len(key) > MAX_KEY:
        raise ConfigError(
            message("a key of more than {limit:,} characters", limit=MAX_KEY),
            next_step=message("Copy it again."),
        )
    return checked_key(key)


def _origin(profile: ModelProfile) -> str:
    """Return scheme, host and port of the endpoint of a profile. Raises ConfigError if it is unusable."""
    parts = urlsplit(usable_url(profile))
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname}:{port}".lower()


def _entry(profile: ModelProfile) -> str:
    """Return the name of the entry of a profile. Raises ConfigError or ValueError if it cannot have one."""
    return name_of(profile.name, _origin(profile))


def _checked(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file. Raises TypeError if it is not what `store` writes."""
    names = ("profile", "origin", "place", "reason", *(("key",) if raw.get("place") == IN_FILE else ()))
    if not all(isinstance(raw.get(name), str) for name in names):
        raise TypeError("not a stored key")
    return raw
