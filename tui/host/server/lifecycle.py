"""A server's states as a table, and the delays before a restart. Pure."""

from dataclasses import dataclass, field

from tui.core.background import RetryDelay
from tui.core.errors import IllegalTransition
from tui.core.servers import ServerState

FIRST_DELAY = 1.0
LONGEST_DELAY = 60.0
HEALTHY_SECONDS = 60.0
LOOP_DEATHS = 5
LOOP_SECONDS = 120.0
SECOND = 1_000_000_000

TRANSITIONS = frozenset(
    {
        (ServerState.STOPPED, ServerState.STARTING),
        (ServerState.STARTING, ServerState.RUNNING),
        (ServerState.STARTING, ServerState.STOPPING),
        (ServerState.RUNNING, ServerState.STOPPING),
        (ServerState.STOPPING, ServerState.STOPPED),
    }
)
"""Every legal transition. Every end passes STOPPING, so STOPPED always means that no process is left."""


def require_transition(state: ServerState, after: ServerState) -> None:
    """Raise IllegalTransition, which is a bug in mcptui, never in a server."""
    if (state, after) not in TRANSITIONS:
        raise IllegalTransition(f"a server that is {state} cannot become {after}")


@dataclass(slots=True)
class RestartPolicy:
    """Decides whether and when a server that died is restarted.

    The delay doubles from 1 s to 60 s, a minute of running resets it, and five deaths in two minutes are a
    crash loop, after which only the user starts it again. All times are monotonic nanoseconds.
    """

    _deaths: list[int] = field(default_factory=list)
    _delay: RetryDelay = field(default_factory=lambda: RetryDelay(FIRST_DELAY, LONGEST_DELAY))
    _due_ns: int | None = None

    @property
    def is_due(self) -> bool:
        """Whether it died and may be restarted automatically."""
        return self._due_ns is not None

    def seconds_left(self, now_ns: int) -> float | None:
        """Return how long a call must wait before it restarts the server; None if it must not."""
        return None if self._due_ns is None else max(0.0, (self._due_ns - now_ns) / SECOND)

    def is_ready(self) -> None:
        """Record that it is running, so no restart is due."""
        self._due_ns = None

    def delay_after_death(self, now_ns: int, lived_ns: int, jitter: float = 1.0) -> float | None:
        """Record a death; return the seconds until the restart, or None for a crash loop.

        `lived_ns` is how long it had been RUNNING. `jitter` is a factor, so that servers that died together
        do not restart together.
        """
        if lived_ns >= HEALTHY_SECONDS * SECOND:
            self._delay.reset()
        self._deaths = [at for at in self._deaths if now_ns - at < LOOP_SECONDS * SECOND]
        self._deaths.append(now_ns)
        self._due_ns = None
        if len(self._deaths) >= LOOP_DEATHS:
            return None
        delay = min(LONGEST_DELAY, self._delay.after_failure() * jitter)
        self._due_ns = now_ns + int(delay * SECOND)
        return delay

    def forget(self) -> None:
        """Reset, because the user requested a start or a stop."""
        self._deaths.clear()
        self._delay.reset()
        self._due_ns = None
