"""The overview tab: what is known of the server, its identity asked for once a second."""

import asyncio
import time
from collections.abc import Callable

from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerState, ServerStatus
from tui.core.workbench import ServerIdentity, Workbench
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.overview_rows import ServerFacts, overview_rows

ASK_SECONDS = 1.0


class IdentityWatch:
    """Asks for the identity of a server once a second while it is shown, never twice at once.

    Attributes:
        identity: the last answer; None before the first.
        share: of one processor, between the last two answers; None if unknown.
    """

    def __init__(self, bench: Workbench, server: str) -> None:
        self._bench = bench
        self._server = server
        self.identity: ServerIdentity | None = None
        self.share: float | None = None
        self._asked = float("-inf")
        self._measured: tuple[float, float, tuple[int, ...]] | None = None
        self._state: ServerState | None = None
        self._task: asyncio.Task[None] | None = None

    def look(self, status: ServerStatus | None) -> None:
        """Ask if it is time, and at once when the state has changed."""
        now = time.monotonic()
        state = status.state if status is not None else None
        if self._task is not None and not self._task.done():
            return
        if now - self._asked >= ASK_SECONDS or state is not self._state:
            self._asked, self._state = now, state
            self._task = asyncio.create_task(self._ask(), name="identity of a server")

    async def _ask(self) -> None:
        identity = await self._bench.identity(self._server)
        now, spent = time.monotonic(), identity.cpu_seconds
        before, self._measured = self._measured, None
        self.identity, self.share = identity, None
        if spent is None:
            return
        self._measured = (now, spent, identity.pids)
        # Comparable only for the same processes: the time of one that ended is gone from the sum.
        if before is not None and before[2] == identity.pids and now > before[0]:
            self.share = max(0.0, (spent - before[1]) / (now - before[0]))

    def started(self, status: ServerStatus) -> str:
        """Return the time of day at which the current state began, or ""."""
        ago = (time.monotonic_ns() - status.since_ns) / 1e9
        return time.strftime("%H:%M:%S", time.localtime(time.time() - ago)) if status.since_ns else ""

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


class Overview(LinePane):
    """Shows what is known of the server; rows that have not changed are not painted again.

    Args:
        workbench: asks the server.
        server: its name.
        status: returns its state, None once it is no longer configured.
        symbols: what the terminal can show.
        redactor: hides secrets in commands and errors.
        overrides: the keys in force.
    """

    FOLLOWS = False
    BINDINGS = bench_list_bindings()

    def __init__(
        self,
        workbench: Workbench,
        server: str,
        status: Callable[[], ServerStatus | None],
        symbols: Symbols,
        redactor: Redactor,
        overrides: KeyOverrides,
        *,
        id: str,
    ) -> None:
        super().__init__(id=id)
        self.identity = IdentityWatch(workbench, server)
        self._status = status
        self._symbols = symbols
        self._redactor = redactor
        self._overrides = overrides
        self._rows: list[Row] = []

    def look(self) -> None:
        """Show what is known now; cheap if nothing changed."""
        self.identity.look(self._status())
        rows = self._make()
        if rows != self._rows:
            self._rows = rows
            self.rows_changed()

    def _make(self) -> list[Row]:
        status = self._status()
        if status is None:
            return [((" This server is not in the configuration any more.", "bad"),)]
        identity = self.identity
        facts = ServerFacts(
            status, identity.identity, identity.share, time.monotonic_ns(), identity.started(status)
        )
        start_key = self._overrides.first_of("bench.toggle")
        return overview_rows(facts, self.columns, self._symbols, self._redactor, start_key)

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]

    def rewrap(self) -> None:
        self._rows = self._make()

    async def on_unmount(self) -> None:
        await self.identity.close()
