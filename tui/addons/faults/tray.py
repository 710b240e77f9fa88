"""What the breakpoints of one run hold: those of its own servers, and those of taps."""

import asyncio
import time
from collections.abc import Callable, Sequence

from tui.addons.faults.breakpoints import Breakpoints, BreakpointStage, Held, Patience
from tui.core.time_limits import CallTimeout

LOOK_SECONDS = 1.0
"""How often it is checked whether a side that waits needs progress."""


class Tray:
    """The breakpoint of a run, and the messages that wait. Used by the event loop.

    `timeout` returns how long a call may take. Messages of all servers have one order.
    """

    def __init__(self, timeout: Callable[[], CallTimeout], *, is_silent: bool = False) -> None:
        self.own = Breakpoints(time.monotonic_ns, is_silent=is_silent)
        self.own.changed = self._look_later
        self._timeout = timeout
        self._timer: asyncio.TimerHandle | None = None

    def stage(self) -> BreakpointStage:
        """Return the stage of one connection to a server of this run."""
        timeout = self._timeout()
        return self.own.stage(Patience(timeout.seconds, timeout.most))

    @property
    def text(self) -> str:
        """The filter of the breakpoint, "" for none."""
        return self.own.text

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return self.own.revision

    @property
    def messages(self) -> Sequence[Held]:
        """The held messages, in the order in which they arrived."""
        return list(self.own.held.values())

    def set(self, text: str) -> None:
        """Replace the breakpoint. Raises ValueError as `Breakpoints.set` does."""
        self.own.set(text)

    def release_all(self) -> None:
        """Send everything on, in order."""
        self.own.release_all()

    def _look_later(self) -> None:
        if self.own.held and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        self.own.keep_waiting()
        self._look_later()
