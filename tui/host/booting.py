"""Starts a server's process first and imports the SDK beside it: both take a second, on cores of their own.

What the server writes meanwhile waits in its transport. Importable without the SDK.
"""

import asyncio
import importlib
import sys
from types import ModuleType

from tui.core.importing import importing
from tui.core.servers import ServerSpec, Transport
from tui.host.sdk.client_import import load_client_half, load_first_uses
from tui.host.sdk.sdk_log import quiet_sdk_logging
from tui.host.transports import ServerTransport
from tui.host.waits import first_of


def has_process(spec: ServerSpec) -> bool:
    """Whether the transport of a server is one that needs no SDK to begin."""
    return spec.transport in (Transport.STDIO, Transport.LINES) and sys.platform != "win32"


async def load_transport(spec: ServerSpec) -> None:
    """Import in a thread what opening the transport of a server imports."""
    await asyncio.to_thread(_stdio_transport if has_process(spec) else connections)


async def connections_beside(transport: ServerTransport, stop: asyncio.Event) -> ModuleType | None:
    """Begin a transport, and return the module of connections once it is imported.

    Returns None if `stop` was set first. Then, and if anything is raised, nothing of the transport is left.
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
        loading.cancel()  # the import itself goes on, in its thread
        await asyncio.gather(loading, return_exceptions=True)
        if module is None and has_begun:
            await transport.__aexit__(None, None, None)


def connections() -> ModuleType:
    """Import what drives a connection, and with it the SDK: call it off the event loop."""
    with importing():
        load_client_half()
        quiet_sdk_logging()
        load_first_uses()
        return importlib.import_module("tui.host.connection")


def remote_transports() -> ModuleType:
    """Import what remote servers have in common, and with it the SDK: call it off the event loop."""
    load_client_half()
    quiet_sdk_logging()
    return importlib.import_module("tui.host.transports.remote")


def _stdio_transport() -> None:
    with importing():
        importlib.import_module("tui.host.transports.stdio")
