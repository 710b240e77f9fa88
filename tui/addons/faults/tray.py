"""What the breakpoints of one run hold: those of its own servers, and those of taps."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tui.addons.faults.breakpoints import Breakpoints, Held, Patience
from tui.addons.faults.fault_stage import LiveFaults
from tui.addons.faults.tray_taps import TapHeld, Taps
from tui.core.time_limits import CallTimeout
from tui.host.frames.stage import Stage

AnyHeld = Held | TapHeld

LOOK_SECONDS = 1.0
"""How often it is checked whether a side that waits needs progress."""


class Tray:
    """The breakpoint of a run, and the messages that wait. Used by the event loop.

    `noticed` is called with each message that is new in it. `timeout` returns how long a call may take. Taps
    have sockets in `folder`.
    """

    def __init__(self, timeout: Callable[[], CallTimeout], folder: Path, *, is_silent: bool = False) -> None:
        self.own = Breakpoints(time.monotonic_ns, is_silent=is_silent)
        self.own.changed = self._changed
        self.faults = LiveFaults()
        self.noticed: Callable[[AnyHeld], object] = lambda held: None
        self._revision = self._newest_ns = 0
        self._taps = Taps(folder, self._changed)
        self._timeout = timeout
        self._timer: asyncio.TimerHandle | None = None

    def stages(self) -> Sequence[Stage]:
        """Return the stages of one connection to a server of this run."""
        timeout = self._timeout()
        return [self.own.stage(Patience(timeout.seconds, timeout.most)), self.faults.stage()]

    def inject(self, text: str) -> None:
        """Replace the faults of this run. Raises ValueError as `LiveFaults.set` does."""
        self.faults.set(text)
        self._changed()

    @property
    def text(self) -> str:
        """The filter of the breakpoint, "" for none."""
        return self.own.text

    @property
    def has_taps(self) -> bool:
        """Whether there is a tap, and all taps have the breakpoint."""
        return self._taps.is_set

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return self._revision

    @property
    def messages(self) -> Sequence[AnyHeld]:
        """The held messages, in the order in which they arrived."""
        return sorted([*self.own.held.values(), *self._taps.messages], key=lambda held: held.at_ns)

    def set(self, text: str) -> None:
        """Replace the breakpoint. Raises ValueError as `Breakpoints.set` does."""
        self.own.set(text)
        self._taps.set(self.own.text)

    def let_go(self) -> None:
        """Remove the breakpoint and send everything on, because the app is about to end."""
        self.set("")
        self.inject("")
        self.release_all()

    async def close(self) -> None:
        """Disconnect from the taps."""
        await self._taps.close()

    def release_all(self) -> None:
        """Send everything on, in order."""
        for held in self.messages:
            if held.is_gone:
                held.drop()
            else:
                held.release()

    def _changed(self) -> None:
        self._revision += 1
        self._look_later()
        messages = self.messages
        if messages and messages[-1].at_ns > self._newest_ns:
            self._newest_ns = messages[-1].at_ns
            self.noticed(messages[-1])

    def _look_later(self) -> None:
        if self.own.held and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        self.own.keep_waiting()
        self._look_later()
