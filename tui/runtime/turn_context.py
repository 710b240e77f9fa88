"""What a conversation needs of the rest of the program. `runtime.Runtime` is the real thing."""

from typing import Protocol

from tui.core.events import Event
from tui.core.ports import Clock, Toolbox
from tui.core.turn.approval_policy import Policy
from tui.core.turn.limits import Limits
from tui.runtime.readiness import Starting


class TurnContext(Protocol):
    """What a conversation needs of the rest of the program; all of it may change between turns."""

    @property
    def toolbox(self) -> Toolbox:
        """The tools of the running servers."""
        ...

    @property
    def starting(self) -> Starting:
        """The servers that are starting."""
        ...

    @property
    def policy(self) -> Policy:
        """What may run without a question."""
        ...

    @property
    def limits(self) -> Limits:
        """The hard limits of a turn."""
        ...

    @property
    def clock(self) -> Clock:
        """Time."""
        ...

    @property
    def recording_name(self) -> str:
        """The recording that what travels now goes to, or ""."""
        ...

    def notice(self, event: Event) -> None:
        """See an event of a turn before anyone else does."""
        ...

    def discreet(self, event: Event) -> Event:
        """Return an event without secrets."""
        ...
