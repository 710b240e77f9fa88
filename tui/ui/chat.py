"""The chat: which turn runs, what waits to be sent, and how a turn is stopped or continued."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from tui.core.errors import McptuiError
from tui.core.events import Event
from tui.core.limits import Meter
from tui.ui.approvals import Approvals
from tui.ui.bridge import Bridge
from tui.ui.ports import AppRuntime, RunningTurn

_log = logging.getLogger(__name__)


class ChatView(Protocol):
    """What the chat itself writes into the conversation; the rest goes through the bridge."""

    def add_user(self, text: str, at: str) -> None:
        """What the person said, and when."""
        ...

    def add_note(self, text: str, kind: str = "info") -> None:
        """A line of mcptui's own."""
        ...


class Chat:
    """One turn at a time. What is sent meanwhile waits and is sent after it, in order.

    Args:
        runtime: asks the model.
        approvals: answers the calls' questions.
        bridge: shows the events.
        view: shows what the person said.
        record: the trace; given each event.
        clock: returns the time of day as it is shown.
        on_change: called when a turn begins or ends, or the waiting messages change.
    """

    def __init__(
        self,
        runtime: AppRuntime,
        approvals: Approvals,
        bridge: Bridge,
        view: ChatView,
        record: Callable[[Event], None],
        clock: Callable[[], str],
        on_change: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._approvals = approvals
        self._bridge = bridge
        self._view = view
        self._record = record
        self._clock = clock
        self._on_change = on_change
        self._waiting: list[str] = []
        self._turn: RunningTurn | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._turn is not None

    @property
    def stopping(self) -> bool:
        """Whether the turn that runs was told to stop."""
        return self._stopping

    @property
    def meter(self) -> Meter | None:
        """What the running turn has used up, or None."""
        return self._turn.meter if self._turn is not None else None

    @property
    def waiting(self) -> int:
        """How many messages wait to be sent."""
        return len(self._waiting)

    def send(self, text: str) -> None:
        """Send a message, or let it wait until it can be sent."""
        self._waiting.append(text)
        self.flush()
        self._on_change()

    def flush(self) -> None:
        """Send the next waiting message if nothing stands in its way."""
        if self._waiting and not self.running and self._runtime.is_ready and not self._closed:
            text = self._waiting.pop(0)
            self._view.add_user(text, self._clock())
            self._begin(lambda: self._runtime.ask(text, self._approvals))

    def go_on(self) -> None:
        """Continue after a limit."""
        if self._bridge.can_continue and not self.running:
            self._begin(lambda: self._runtime.continue_turn(self._approvals))

    def cancel(self) -> str:
        """Stop the turn; return what was waiting to be sent, which is not sent then."""
        if self._turn is None:
            return ""
        self._stopping = True
        self._turn.cancel()
        held = "\n".join(self._waiting)
        self._waiting.clear()
        self._on_change()
        return held

    async def close(self) -> None:
        """Stop the turn and wait until it has ended; nothing is shown any more. Bounded in time."""
        self._closed = True
        task = self._task
        if task is not None:
            self.cancel()
            _, late = await asyncio.wait({task}, timeout=2.0)
            if late:
                task.cancel()
                await asyncio.wait({task}, timeout=1.0)

    def _begin(self, start: Callable[[], RunningTurn]) -> None:
        try:
            self._turn = start()
        except McptuiError as error:
            self._view.add_note(str(error), "bad")
            return
        self._stopping = False
        self._task = asyncio.create_task(self._drive(self._turn), name="turn on screen")
        self._task.add_done_callback(self._ended)

    async def _drive(self, turn: RunningTurn) -> None:
        async for event in turn.events():
            if not self._closed:
                self._bridge.apply(event)
                self._record(event)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._turn = self._task = None
        self._stopping = False
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("a turn broke on its way to the screen", exc_info=error)
        if self._closed:
            return
        if error is not None:
            self._bridge.abandon()
            self._view.add_note(
                f"This turn could not be shown to its end ({type(error).__name__}). Ask again.", "bad"
            )
        self.flush()
        self._on_change()
