"""The history of calls made by hand in one run of the program: what was asked, what came. Pure, bounded."""

import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.call_memory import CallKey

MAX_CALLS = 500
MAX_HEAD = 4_096
"""Characters of a result that are kept; the whole is in the recording, by the call's id."""


@dataclass(frozen=True, slots=True)
class HandCall:
    """One call.

    Attributes:
        id: "hand-N", the `Cause.call` of its frames.
        key: what was called.
        arguments: with what, a JSON value.
        wall_ns: when, nanoseconds since 1970, UTC.
        ms: how long it took; None while it runs.
        head: the beginning of its result, raw.
        error: why it gave none, or that the server said so; "" if it went well or still runs.
    """

    id: str
    key: CallKey
    arguments: Any
    wall_ns: int
    ms: float | None = None
    head: str = ""
    error: str = ""

    @property
    def running(self) -> bool:
        """Whether there is no answer yet."""
        return self.ms is None


class HandHistory:
    """The last calls, the oldest forgotten first.

    Attributes:
        revision: grows with every change; screens poll it.
    """

    def __init__(self, limit: int = MAX_CALLS) -> None:
        self.revision = 0
        self._limit = limit
        self._count = 0
        self._calls: OrderedDict[str, HandCall] = OrderedDict()

    def begin(self, key: CallKey, arguments: Any, wall_ns: int) -> HandCall:
        """Note a call that begins; return it with its id, which is given only once."""
        self._count += 1
        call = HandCall(f"hand-{self._count}", key, arguments, wall_ns)
        self._calls[call.id] = call
        if len(self._calls) > self._limit:
            # One that runs is still to be ended, so the oldest that is over goes before it.
            over = next((known.id for known in self._calls.values() if not known.running), None)
            del self._calls[over if over is not None else next(iter(self._calls))]
        self.revision += 1
        return call

    def end(self, call: str, ms: float, *, head: str = "", error: str = "") -> HandCall | None:
        """Note how a call ended; return it, or None if it is forgotten or over already."""
        known = self._calls.get(call)
        if known is None or not known.running:
            return None
        ended = dataclasses.replace(known, ms=ms, head=head[:MAX_HEAD], error=error[:MAX_HEAD])
        self._calls[call] = ended
        self.revision += 1
        return ended

    def get(self, call: str) -> HandCall | None:
        """Return a call by its id."""
        return self._calls.get(call)

    def calls(self, key: CallKey | None = None, *, server: str = "") -> Sequence[HandCall]:
        """Return the calls, the newest first: all, or those of one thing, or those of one server."""
        return [
            call
            for call in reversed(self._calls.values())
            if (key is None or call.key == key) and (not server or call.key.server == server)
        ]

    def before(self, call: str) -> HandCall | None:
        """Return the call of the same thing that came before, to compare it with."""
        known = self._calls.get(call)
        if known is None:
            return None
        same = [other for other in self._calls.values() if other.key == known.key]
        place = same.index(known)
        return same[place - 1] if place else None
