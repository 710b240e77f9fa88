"""What a server needs before it starts: consent, secrets, the modules of its transport, a time limit."""

import asyncio
import importlib
import os
from types import ModuleType

from tui.core.library_imports import importing
from tui.core.permission.consent import ConsentGate
from tui.core.servers import ServerSpec, ServerState, Transport
from tui.host import error_sentences as explain
from tui.host.server.host_context import HostContext
from tui.host.server.status import StatusBoard

LAUNCHERS = frozenset({"npx", "uvx", "uv", "docker", "podman", "pipx", "bunx", "pnpm", "deno"})
LAUNCHER_SECONDS = 180.0
USUAL_SECONDS = 60.0


def start_seconds(spec: ServerSpec) -> float:
    """Return the start timeout: longer than the default if a launcher may have to download first."""
    launcher = os.path.basename(spec.command).removesuffix(".cmd").removesuffix(".exe") in LAUNCHERS
    return LAUNCHER_SECONDS if launcher and spec.start_seconds == USUAL_SECONDS else spec.start_seconds


def remote_transports() -> ModuleType:
    """Import what all remote servers need, which takes 0.2 s. Call it off the event loop."""
    with importing():
        return importlib.import_module("tui.host.transports.remote")


async def load_transport(spec: ServerSpec) -> None:
    """Import the modules that the transport of a server needs."""
    if spec.transport not in (Transport.STDIO, Transport.LINES):
        await asyncio.to_thread(remote_transports)


class StartConsent:
    """Asks the user whether a server may start, and shows on its board that they have not consented."""

    def __init__(self, around: HostContext, board: StatusBoard) -> None:
        self._around = around
        self._board = board

    @property
    def _gate(self) -> ConsentGate:
        return self._around.answerers.consent

    def is_refused(self) -> bool:
        """Whether the user declined it in an earlier run, which is then shown."""
        if refused := self._gate.refuses(self._board.now.spec):
            self._show(refused=True)
        return refused

    async def is_given(self) -> bool:
        """Whether the server may be started, or already is; the user may be asked."""
        spec, state = self._board.now.spec, self._board.now.state
        if state in (ServerState.STARTING, ServerState.RUNNING) or self._gate.allows(spec):
            return True
        if state is ServerState.STOPPED:
            self._show()
        return await self._gate.ask(spec)

    def withdraw(self) -> None:
        """Withdraw the pending question."""
        self._gate.withdraw(self._board.now.name)

    def _show(self, *, refused: bool = False) -> None:
        why = explain.needs_consent(self._board.now.spec, refused=refused)
        self._board.show(reason=why.reason, detail=why.detail, next_step=why.next_step)
