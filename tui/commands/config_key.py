"""`mcptui config key`: store and forget the keys of model profiles, and say where they are."""

import asyncio
import getpass
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.core.errors import UsageError
from tui.core.text import clean, clean_line
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import from_environment, missing_key, usable_url, without_secrets
from tui.runtime.model_keys import MAX_KEY, ModelKeys
from tui.runtime.profiles import Profiles

if TYPE_CHECKING:
    from tui.settings.load import Loaded


def config_key(loaded: "Loaded", name: str, *, forget: bool) -> int:
    """Store the key of a profile, or forget it; without a name, print where the keys are. Return 0.

    Raises UsageError, ConfigError or StorageError.
    """
    keys = ModelKeys()
    if forget:
        return _forget(keys, name)
    found = Profiles(loaded, os.environ, keys).configured()
    taken = {one.name for one in found}
    found += [keys.applied(one) for one in from_environment(os.environ) if one.name not in taken]
    if not name:
        return _list(found)
    profile = next((one for one in found if one.name == name), None)
    if profile is None:
        # The name is not repeated: it may be a key.
        names = ", ".join(clean_line(one.name, 64) for one in found)
        known = f"Profiles: {names}." if names else "Add one in mcptui: press f10, then ctrl+n."
        raise UsageError("there is no model profile of this name", where="config key", next_step=known)
    url = clean_line(without_secrets(usable_url(profile)), 200)
    place = asyncio.run(keys.store(profile, _read_key(f"API key of {clean_line(name, 64)} ({url}): ")))
    print(clean(f"stored {place}"))
    print(f"it is used for {url} until `mcptui config key {clean_line(name, 64)} --forget`")
    return 0


def _read_key(prompt: str) -> str:
    """Return the key from the terminal, without echo, or from a pipe: one line."""
    if sys.stdin.isatty():
        try:
            return getpass.getpass(prompt)
        except (EOFError, KeyboardInterrupt) as error:  # ctrl+d, ctrl+c: behind the prompt
            print(file=sys.stderr)
            if isinstance(error, EOFError):
                return ""
            raise
    text = sys.stdin.read(MAX_KEY + 2).strip()
    if "\n" in text:
        raise UsageError("stdin has more than one line", where="config key", next_step="Pipe only the key.")
    return text


def _forget(keys: ModelKeys, name: str) -> int:
    if not name:
        raise UsageError("--forget needs a profile", next_step="Name it: mcptui config key NAME --forget")
    places = asyncio.run(keys.forget(name))
    for place in places:
        print(clean(f"deleted the key that was stored {place}"))
    if not places:
        print("no key of this profile is stored")
    return 0


def _list(profiles: Sequence[ModelProfile]) -> int:
    for one in profiles:
        print(clean(f"{one.name}: {_place(one)}"))
    if not profiles:
        print("no model profiles. Add one in mcptui: press f10, then ctrl+n.")
    return 0


def _place(profile: ModelProfile) -> str:
    if profile.blocked:
        return profile.blocked
    if profile.key_place:
        return profile.key_place
    if profile.keychain:
        return f"in the keychain at {profile.keychain}"
    if profile.api_key_env:
        return f"environment variable {profile.api_key_env} ({'set' if profile.api_key else 'not set'})"
    return "in the configuration" if profile.api_key else missing_key(profile) or "no key"
