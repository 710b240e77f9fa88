"""What the screens need of the rest of the program, as Protocols. `runtime.Runtime` is the real thing."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from tui.core.events import Event
from tui.core.ports import Approver
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerStatus
from tui.core.turn.limits import Limits, Meter
from tui.core.workbench import CallMemory, Workbench
from tui.traffic.record.entry_columns import Recording

if TYPE_CHECKING:
    from tui.ui.chat_ports import ChatView


class HostView(Protocol):
    """The servers, as far as a screen may see and steer them."""

    @property
    def revision(self) -> int:
        """Grows with every change that a person can see."""
        ...

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Return every configured server, in configured order. Cheap."""
        ...

    def stderr(self, name: str) -> tuple[str, ...]:
        """Return the last lines of a server's stderr, cleaned."""
        ...

    def request_start(self, name: str) -> None:
        """Start a server; returns at once."""
        ...

    def request_stop(self, name: str) -> None:
        """Stop a server; returns at once."""
        ...

    def request_restart(self, name: str) -> None:
        """Stop a server and start it again; returns at once."""
        ...


class CallStore(Protocol):
    """What is remembered of calls made by hand; `settings.stored_calls.StoredCalls` is the real thing."""

    @property
    def memory(self) -> CallMemory:
        """What is remembered, as far as it was read."""
        ...

    async def load(self) -> None:
        """Read it."""
        ...

    async def change(self, change: Callable[[CallMemory], CallMemory]) -> None:
        """Change what is remembered.

        Raises:
            McptuiError: it could not be kept.
            ValueError: with a sentence, if the change cannot be made.
        """
        ...


class RunningTurn(Protocol):
    """One turn; `core.loop.Turn` is the real thing."""

    @property
    def meter(self) -> Meter:
        """What the turn has used up so far."""
        ...

    def events(self) -> AsyncIterator[Event]:
        """Yield what happens; the last event is always `TurnEnded`. Iterated once."""
        ...

    def cancel(self) -> None:
        """End the turn as soon as possible; `events()` still ends with `TurnEnded`."""
        ...

    def steer(self, text: str) -> None:
        """Say `text` before the next step; it comes back as `Steered` when the model is told.

        What was not told when the turn ends is in `unsaid`.
        """
        ...

    @property
    def unsaid(self) -> Sequence[str]:
        """What `steer` was given and the model was not told."""
        ...


class AppRuntime(Protocol):
    """Everything behind the screens.

    Before `ready()` has returned only `is_ready` may be used.
    """

    @property
    def is_ready(self) -> bool:
        """Whether `ready()` has returned."""
        ...

    @property
    def problems(self) -> Sequence[str]:
        """What is wrong with the configuration, a line each."""
        ...

    @property
    def unsaved(self) -> str:
        """Why the conversation is not being saved, in words, or ""."""
        ...

    @property
    def unrecorded(self) -> str:
        """Why the traffic is not being recorded although it is to be, in words, or ""."""
        ...

    @property
    def host(self) -> HostView:
        """The servers."""
        ...

    @property
    def redactor(self) -> Redactor:
        """What takes configured secrets out of what is shown."""
        ...

    @property
    def model_label(self) -> str:
        """What a person reads ("demo model, offline")."""
        ...

    @property
    def model_notice(self) -> str:
        """A line that must stand under each reply, or ""."""
        ...

    @property
    def limits(self) -> Limits:
        """The hard limits of a turn."""
        ...

    @property
    def frames(self) -> int:
        """How many frames were seen on the wire so far."""
        ...

    @property
    def recording(self) -> Recording:
        """What travels, as it is recorded."""
        ...

    @property
    def workbench(self) -> Workbench:
        """Everything that can be done with a server by hand."""
        ...

    @property
    def calls(self) -> CallStore:
        """What is remembered of calls made by hand."""
        ...

    @property
    def conversations(self) -> "ChatView":
        """The conversation on screen, all saved ones, and the models."""
        ...

    @property
    def snippets(self) -> Mapping[str, str]:
        """The texts of the configuration that are commands, by name."""
        ...

    @property
    def revision(self) -> int:
        """Grows when the model, the tools or the problems change."""
        ...

    async def ready(self) -> None:
        """Load the heavy parts, read the configuration, start the servers. Called once."""
        ...

    def continue_turn(self, approver: Approver) -> RunningTurn:
        """Go on, with fresh limits, after a turn that ended at a limit."""
        ...

    def examples(self) -> Sequence[str]:
        """Return three questions made from the tools that run now; fewer if there are none."""
        ...

    def save_theme(self, name: str) -> None:
        """Keep the theme for the next time. Called in a thread; may block.

        Raises:
            McptuiError: it could not be written.
        """
        ...

    async def shutdown(self) -> None:
        """Stop everything; bounded in time."""
        ...
