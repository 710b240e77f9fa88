"""What a server needs before it starts: its secrets, the modules of its transport, a time limit."""

import asyncio
import importlib
import os
from types import ModuleType

from tui.core.background import first_of
from tui.core.library_imports import importing
from tui.core.secrets.secret_names import keychain_entry
from tui.core.server_secrets import Remember, resolved_env
from tui.core.servers import ServerSpec, Transport

LAUNCHERS = frozenset({"npx", "uvx", "uv", "docker", "podman", "pipx", "bunx", "pnpm", "deno"})
LAUNCHER_SECONDS = 180.0
USUAL_SECONDS = 60.0


def start_seconds(spec: ServerSpec) -> float:
    """Return the start timeout: longer than the default if a launcher may have to download first."""
    launcher = os.path.basename(spec.command).removesuffix(".cmd").removesuffix(".exe") in LAUNCHERS
    return LAUNCHER_SECONDS if launcher and spec.start_seconds == USUAL_SECONDS else spec.start_seconds


async def with_secrets(spec: ServerSpec, remember: Remember, stop: asyncio.Event) -> ServerSpec:
    """Return `spec` with keychain values in its environment, unchanged if `stop` is set meanwhile.

    Raises ConfigError.
    """
    if not any(map(keychain_entry, spec.env.values())):
        return spec
    reading = asyncio.ensure_future(resolved_env(spec, remember))
    await first_of(asyncio.wait([reading]), stop.wait())
    if not reading.done():
        reading.cancel()
        return spec
    return await reading


def remote_transports() -> ModuleType:
    """Import what all remote servers need, which takes 0.2 s. Call it off the event loop."""
    with importing():
        return importlib.import_module("tui.host.transports.remote")


async def load_transport(spec: ServerSpec) -> None:
    """Import the modules that the transport of a server needs."""
    if spec.transport not in (Transport.STDIO, Transport.LINES):
        await asyncio.to_thread(remote_transports)
