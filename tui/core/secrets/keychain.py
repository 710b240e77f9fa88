"""Reads and writes the system's keychain, with the optional package keyring.

A keychain may wait forever until the user unlocks it, so it is used in a daemon thread, with a timeout.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from tui.core.daemon_thread import in_daemon_thread
from tui.core.errors import ConfigError
from tui.core.secrets.redact import Secret
from tui.core.text import clean_line

SECONDS = 30.0
"""Time in seconds that the user has to unlock it."""


_REASONS = {
    "KeyringLocked": "it is locked",
    "InitError": "it cannot be opened",
    "PasswordSetError": "it does not store the value",
    "PasswordDeleteError": "it does not delete the entry",
}
"""The words of the errors of keyring, whose backends quote D-Bus and numbers of the system."""


async def key_in_keychain(
    place: str,
    *,
    where: str = "",
    otherwise: str = "Use api_key_env.",
    missing: str = "",
    seconds: float = SECONDS,
) -> Secret:
    """Return the key that is stored at `place`, "SERVICE/NAME", split at the last slash.

    `otherwise` says what to do without a keychain, `missing` how to store the key. Raises ConfigError if
    there is no keychain, it stays locked for `seconds`, or it holds no such key.
    """
    service, _, name = place.rpartition("/")
    try:
        key = await read(service, name, seconds)
    except ConfigError as error:
        step = error.next_step
        if step.startswith("Unlock"):
            step += " Then try again."
        raise ConfigError(
            f"{error.message} ({clean_line(place, 80)})", where=where, next_step=f"{step} {otherwise}".strip()
        ) from None
    if not key:
        step = missing or f"Store it with `keyring set {clean_line(service, 60)} {clean_line(name, 60)}`."
        raise ConfigError(
            f"the key is not in the keychain ({clean_line(place, 80)})", where=where, next_step=step
        )
    return Secret(key.strip())


async def read(service: str, name: str, seconds: float = SECONDS) -> str | None:
    """Return the stored value, or None. This, `store` and `remove` raise ConfigError without a keychain."""
    found = await _use(lambda keyring: keyring.get_password(service, name), seconds)
    return found if isinstance(found, str) else None


async def store(service: str, name: str, value: str, seconds: float = SECONDS) -> None:
    """Store a value, replacing an older one. Raises ConfigError, also if the keychain is a plain file."""

    def work(keyring: Any) -> None:
        _require_backend(keyring)
        keyring.set_password(service, name, value)
        if keyring.get_password(service, name) != value:
            raise ConfigError("the keychain did not keep the value")

    await _use(work, seconds)


async def problem(seconds: float = SECONDS) -> str:
    """Return why values cannot be stored, or "". Does not touch the keychain, which may be locked."""
    try:
        await _use(_require_backend, seconds)
    except ConfigError as error:
        return error.message
    return ""


def _require_backend(keyring: Any) -> None:
    """Raise ConfigError without a backend that keeps what it is given, encrypted."""
    found = getattr(keyring, "get_keyring", lambda: None)()
    inside = getattr(found, "backends", None) or [found]
    name, module = type(inside[0]).__name__, type(inside[0]).__module__
    if module in ("keyring.backends.fail", "keyring.backends.null"):
        raise ConfigError("no supported keychain found")
    if "Plaintext" in name:  # of keyrings.alt
        raise ConfigError(f"keyring has only the backend {name}, which does not encrypt")


async def remove(service: str, name: str, seconds: float = SECONDS) -> None:
    """Remove an entry, if there is one."""

    def work(keyring: Any) -> None:
        if keyring.get_password(service, name) is not None:
            keyring.delete_password(service, name)

    await _use(work, seconds)


async def _use(work: Callable[[Any], Any], seconds: float) -> Any:
    try:
        async with asyncio.timeout(seconds):
            # By name: the package is optional, also for type checking.
            return await in_daemon_thread("keychain", lambda: work(importlib.import_module("keyring")))
    except TimeoutError:
        raise ConfigError(
            f"no response from the keychain within {seconds:g} s",
            next_step="Unlock it if it asks for a password.",
        ) from None
    except ImportError:
        raise ConfigError(
            "the Python package keyring is not installed",
            next_step="Install it next to mcptui: `pip install keyring`.",
        ) from None
    except ConfigError:
        raise
    except Exception as error:
        # The backends of keyring are third-party; they may raise anything.
        kind = type(error).__name__
        if kind == "NoKeyringError":
            raise ConfigError("no supported keychain found") from None
        reason = _REASONS.get(kind) or clean_line(str(error), 160) or "unknown cause"
        step = "Unlock it." if "Locked" in kind else ""
        raise ConfigError(f"cannot use the keychain: {reason}", next_step=step) from None
