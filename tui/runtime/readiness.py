"""What the first question waits for: servers that are just starting, a model that is not loaded yet."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from tui.core.ports import Clock
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line

PATIENCE_NS = 8_000_000_000
"""How long after its start began a server is waited for; one that downloads itself takes longer."""

LOOK_SECONDS = 0.05


class Waiting(Protocol):
    """Something that is worth waiting for before a question is sent."""

    def awaited(self) -> str:
        """Return what is waited for, as a sentence, or "" if nothing is."""
        ...

    async def wait(self) -> None:
        """Wait for it. Bounded in time; cancelling ends it."""
        ...

    def missing(self) -> str:
        """Return what is still not there afterwards, as a sentence, or ""."""
        ...


class Starting:
    """The servers that are starting: a question waits a little for them, so that the model has their tools.

    Args:
        statuses: gives the state of all servers. Cheap.
        clock: time.
    """

    def __init__(self, statuses: Callable[[], Sequence[ServerStatus]], clock: Clock) -> None:
        self._statuses = statuses
        self._clock = clock

    def awaited(self) -> str:
        """Return which may well run in a moment, as a sentence, or ""."""
        if names := self._worth_waiting():
            return f"Waiting for {_listed(names)} to start, so that the model has all tools."
        return ""

    async def wait(self) -> None:
        """Wait until none of them is worth waiting for any more."""
        while self._worth_waiting():
            await self._clock.sleep(LOOK_SECONDS)

    def missing(self) -> str:
        """Return which take longer, as a sentence, or ""."""
        names = [one.name for one in self._statuses() if one.state is ServerState.STARTING]
        return f"Still starting: {_listed(names)}. What they offer is used once they run." if names else ""

    def _worth_waiting(self) -> list[str]:
        since = self._clock.now_ns() - PATIENCE_NS
        starting = (one for one in self._statuses() if one.state is ServerState.STARTING)
        return [one.name for one in starting if one.since_ns > since]


class Loading:
    """A model that its server has yet to load, as the first question would: only then it says what fits.

    Args:
        to_load: gives the model's name, or "" if there is nothing to load. Cheap.
        load: loads it.
    """

    def __init__(self, to_load: Callable[[], str], load: Callable[[], Awaitable[None]]) -> None:
        self._to_load = to_load
        self._load = load

    def awaited(self) -> str:
        """Return that it is loaded, as a sentence, or ""."""
        name = clean_line(self._to_load(), 60)
        return f"{name} is being loaded, to know how much it can read." if name else ""

    async def wait(self) -> None:
        """Wait until it is loaded."""
        await self._load()

    def missing(self) -> str:
        """Return nothing: a model that cannot be loaded says why when it is asked."""
        return ""


async def wait_for(waits: Sequence[Waiting]) -> None:
    """Wait for all of them."""
    await asyncio.gather(*(one.wait() for one in waits))


def _listed(names: Sequence[str]) -> str:
    shown = [clean_line(name, 60) for name in names[:5]]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
