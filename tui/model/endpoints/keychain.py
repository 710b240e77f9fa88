"""Reads a key from the system's keychain, with the optional package keyring.

A keychain may ask the user to unlock it and wait for ever, so it is read in a daemon thread, with a
timeout.
"""

import asyncio
import importlib
import threading
from collections.abc import Callable
from contextlib import suppress

from tui.core.errors import ConfigError
from tui.core.secrets.redact import Secret
from tui.core.text import clean_line

SECONDS = 30.0
"""How long the user has to unlock it."""


async def key_in_keychain(place: str, *, where: str = "", seconds: float = SECONDS) -> Secret:
    """Return the key that is stored at `place`, "SERVICE/NAME", split at the last slash.

    Raises ConfigError if there is no keychain, it stays locked for `seconds`, or it holds no such key.
    """
    service, _, name = place.rpartition("/")

    def failed(what: str, step: str) -> ConfigError:
        return ConfigError(f"{what} ({clean_line(place, 80)})", where=where, next_step=step)

    try:
        async with asyncio.timeout(seconds):
            key = await _in_thread(lambda: _read(service, name))
    except TimeoutError:
        step = "Is it waiting for you to unlock it? Unlock it, then choose the model again."
        raise failed(f"the keychain gave no answer within {seconds:g} s", step) from None
    except ImportError:
        step = "Install it where mcptui is: `pip install keyring`, or use api_key_env."
        raise failed("the package keyring, which reads the keychain, is not installed", step) from None
    except Exception as error:
        # The backends of keyring are third-party; they may raise anything.
        kind = type(error).__name__
        if kind == "NoKeyringError":
            raise failed("this system has no keychain that keyring can use", "Use api_key_env.") from None
        reason = clean_line(str(error) or kind, 160)
        step = "Unlock it, then choose the model again." if "Locked" in kind else "Or use api_key_env."
        raise failed(f"the keychain cannot be read: {reason}", step) from None
    if not key:
        step = f"Store it: `keyring set {clean_line(service, 60)} {clean_line(name, 60)}`."
        raise failed("the keychain holds no such key", step)
    return Secret(key.strip())


def _read(service: str, name: str) -> str | None:
    # By name: the package is optional, also for type checking.
    key = importlib.import_module("keyring").get_password(service, name)
    return key if isinstance(key, str) else None


async def _in_thread(work: Callable[[], str | None]) -> str | None:
    """Return what `work` returns; after a timeout its daemon thread is abandoned."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str | None] = loop.create_future()

    def settle(value: str | None, error: BaseException | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(value)

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except Exception as error:
            # The caller gets it.
            failure = error
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=run, name="keychain", daemon=True).start()
    return await done
