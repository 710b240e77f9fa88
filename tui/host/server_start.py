"""Loads the SDK and the transports while a server's process starts.

Each takes a second, on its own core. Output of the server waits in its transport meanwhile. Importable
without the SDK.
"""

import asyncio
import importlib
import os
from collections.abc import Callable, Mapping
from types import ModuleType

from tui.core.library_imports import importing
from tui.core.secrets.secret_names import keychain_entry
from tui.core.servers import ServerSpec, Transport
from tui.host.transports import ServerTransport
from tui.host.waits import cancel_all, first_of

LAUNCHERS = frozenset({"npx", "uvx", "uv", "docker", "podman", "pipx", "bunx", "pnpm", "deno"})
LAUNCHER_SECONDS = 180.0
USUAL_SECONDS = 60.0


def start_seconds(spec: ServerSpec) -> float:
    """Return the start timeout: longer than the default if a launcher may have to download first."""
    launcher = os.path.basename(spec.command).removesuffix(".cmd").removesuffix(".exe") in LAUNCHERS
    return LAUNCHER_SECONDS if launcher and spec.start_seconds == USUAL_SECONDS else spec.start_seconds


async def with_secrets(
    spec: ServerSpec, remember: Callable[[Mapping[str, str]], None], stop: asyncio.Event
) -> ServerSpec:
    """Return `spec` with keychain values in its environment, unchanged if `stop` is set meanwhile.

    Raises ConfigError.
    """
    if not any(map(keychain_entry, spec.env.values())):
        return spec
    from tui.host.sign_in.token_store import resolved_env

    reading = asyncio.ensure_future(resolved_env(spec, remember))
    await first_of(asyncio.wait([reading]), stop.wait())
    if not reading.done():
        reading.cancel()
        return spec
    return await reading


async def load_transport(spec: ServerSpec) -> None:
    """Import, in a thread, the modules that the transport of a server needs."""

    def load_stdio() -> None:
        with importing():
            importlib.import_module("tui.host.transports.stdio")

    begins_early = spec.transport in (Transport.STDIO, Transport.LINES)
    await asyncio.to_thread(load_stdio if begins_early else connections)


async def connections_beside(transport: ServerTransport, stop: asyncio.Event) -> ModuleType | None:
    """Begin a transport, and return the `connection` module once it is imported.

    Returns None if `stop` was set first. Then, or if anything is raised, the transport is closed completely.
    """
    has_begun = transport.begin()
    loading = asyncio.ensure_future(asyncio.to_thread(connections))
    module = None
    try:
        await first_of(asyncio.wait([loading]), stop.wait())
        if loading.done():
            module = loading.result()
        return module
    finally:
        await cancel_all([loading])  # the import itself continues in its thread
        if module is None and has_begun:
            await transport.__aexit__(None, None, None)


def connections() -> ModuleType:
    """Import the `connection` module, and with it the SDK. Call it off the event loop."""
    with importing():
        return importlib.import_module("tui.host.connection")


def remote_transports() -> ModuleType:
    """Import what all remote servers need, and with it the SDK. Call it off the event loop."""
    return importlib.import_module("tui.host.transports.remote")
