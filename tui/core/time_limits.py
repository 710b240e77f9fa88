"""Time limits that pause while the user is asked."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

from tui.core.language.translate import N_, as_message, message


class Pausable(Protocol):
    """Something that counts time. Must neither raise nor wait."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...


PROGRESS, REQUESTS = message("reported progress"), message("sent requests")
TOOL_SECONDS, TOOL_MAX_SECONDS = "tool_seconds", "tool_max_seconds"


@dataclass(frozen=True, slots=True)
class CallTimeout:
    """How long a call may take.

    Attributes:
        seconds: without a response or a sign of life, such as progress.
        most: in all.
        setting: where `seconds` is set, for messages; "" if it is no setting.
        most_setting: where `most` is set.
    """

    seconds: float
    most: float
    setting: str = TOOL_SECONDS
    most_setting: str = TOOL_MAX_SECONDS

    @classmethod
    def of(cls, timeout: "float | CallTimeout") -> "CallTimeout":
        """Return a timeout; a number is one that nothing extends."""
        return timeout if isinstance(timeout, CallTimeout) else cls(timeout, timeout, "", "")

    def of_server(self, seconds: float | None, most: float | None) -> "CallTimeout":
        """Return it with a server's own settings, which do not override an option of the command line."""
        if not self.setting:  # not the timeout of a tool: it can only become shorter
            return self if seconds is None or seconds >= self.seconds else CallTimeout(seconds, seconds)
        if self.setting != TOOL_SECONDS:
            return self
        if seconds is None and most is None:
            return self
        limit = max(self.most, seconds or 0.0) if most is None else most
        return replace(self, seconds=self.seconds if seconds is None else seconds, most=limit)

    def limit(self) -> "TimeLimit":
        return TimeLimit(self.seconds, self.most)

    def passed(self, limit: "TimeLimit") -> str:
        """Say after the name of a call which of its limits has ended it, and where that is set."""
        if limit.is_total and (limit.signs or self.most < self.seconds):
            said = message("did not finish within {seconds:g} s", seconds=self.most)
            setting, signs = self.most_setting, [*limit.signs]
            if signs:
                both = message("{one} and {other}", one=signs[0], other=signs[-1])
                signs_words = both if len(signs) > 1 else signs[0]
                said = message("{said}, although it {signs}", said=said, signs=signs_words)
        else:
            words = N_("did not respond or report progress within {seconds:g} s")
            words = words if limit.signs else N_("did not respond within {seconds:g} s")
            said, setting = message(words, seconds=self.seconds), self.setting
        return (
            message("{said} ({setting}).", said=said, setting=setting)
            if setting
            else as_message("{text}.", text=said)
        )


class Stopwatch:
    """Counts the seconds since it was made, except while it is paused. `now` returns seconds.

    `began`: the time from which it counts, moved by the pauses.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.began = now()
        self._paused_at: float | None = None

    @property
    def seconds(self) -> float:
        return (self._now() if self._paused_at is None else self._paused_at) - self.began

    def pause(self) -> None:
        if self._paused_at is None:
            self._paused_at = self._now()

    def resume(self) -> None:
        if self._paused_at is not None:
            self.began += self._now() - self._paused_at
            self._paused_at = None


class TimeLimit:
    """`asyncio.timeout` that can be paused; like it, raises TimeoutError once the time is used up.

    With `most`, `restart` gives it `seconds` again, until `most` are used up in all. Without any, only
    `expire` ends it.
    """

    def __init__(self, seconds: float = math.inf, most: float | None = None) -> None:
        self._seconds = seconds
        self._most = seconds if most is None else most
        self._restarted_at = 0.0
        self._timeout: asyncio.Timeout | None = None
        self._watch: Stopwatch | None = None
        self._is_paused = self._is_fixed = False
        self.signs: list[str] = []

    async def __aenter__(self) -> Self:
        self._watch = watch = Stopwatch(asyncio.get_running_loop().time)
        if self._is_paused:
            watch.pause()
        left = math.inf if self._is_paused else min(self._seconds, self._most)
        self._timeout = asyncio.Timeout(None if left == math.inf else watch.began + left)
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._timeout is not None and self._watch is not None
        self._is_fixed = True
        self._watch.pause()
        await self._timeout.__aexit__(kind, error, trace)

    @property
    def expired(self) -> bool:
        return self._timeout is not None and self._timeout.expired()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return min(self._restarted_at + self._seconds, self._most) - self._used

    def pause(self) -> None:
        self._is_paused = True
        if self._watch is not None:
            self._watch.pause()
        self._count()

    def resume(self) -> None:
        self._is_paused = False
        if self._watch is not None and not self._is_fixed:
            self._watch.resume()
        self._count()

    def end(self) -> None:
        """Remove the limit for good."""
        self._fix(None)

    def expire(self, seconds: float = 0.0) -> None:
        """Let it pass in `seconds`, even while it is paused. No effect once it has ended."""
        self._fix(seconds)

    def _fix(self, seconds: float | None) -> None:
        """Set what is left for good."""
        self._reschedule(seconds)
        self._is_fixed = self._timeout is not None

    def restart(self, sign: str = PROGRESS) -> None:
        """Start again, as far as the total allows it; `sign` says what the server has done."""
        if not self._can_change or (self.is_total and not self.signs):
            return
        if sign not in self.signs:
            self.signs.append(sign)
        if not self.is_total:
            self._restarted_at = self._used
            self._count()

    @property
    def is_total(self) -> bool:
        """Whether the total is what ends it, or has ended it."""
        return self._most <= self._restarted_at + self._seconds

    @property
    def _used(self) -> float:
        return 0.0 if self._watch is None else self._watch.seconds

    @property
    def _can_change(self) -> bool:
        return self._timeout is not None and not self._is_fixed and not self._timeout.expired()

    def _count(self) -> None:
        left = math.inf if self._is_paused else self.left
        self._reschedule(None if left == math.inf else left)

    def _reschedule(self, left: float | None) -> None:
        if self._timeout is not None and self._can_change:
            now = asyncio.get_running_loop().time()
            self._timeout.reschedule(None if left is None else now + left)


class TimeLimits:
    """Clocks that pause together. Pausing nests: they continue after as many resumes."""

    def __init__(self, *held: Pausable) -> None:
        self._held = list(held)
        self._pauses = 0

    def pause(self) -> None:
        self._pauses += 1
        if self._pauses == 1:
            for one in tuple(self._held):
                one.pause()

    def resume(self) -> None:
        self._pauses -= 1
        if self._pauses == 0:
            for one in tuple(self._held):
                one.resume()

    def restart(self) -> None:
        """Restart the limits of calls: a request of the server shows that it works on them."""
        for one in tuple(self._held):
            if isinstance(one, TimeLimit):
                one.restart(REQUESTS)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    @contextmanager
    def holding(self, *clocks: Pausable) -> Iterator[None]:
        """Pause `clocks` together with the others, at once if they are paused, and resume it at the end."""
        self._held.extend(clocks)
        if self._pauses:
            for one in clocks:
                one.pause()
        try:
            yield
        finally:
            for one in clocks:
                self._held.remove(one)
                if self._pauses:
                    one.resume()

    @asynccontextmanager
    async def within(self, limit: TimeLimit) -> AsyncIterator[TimeLimit]:
        """Apply a limit that pauses together with the others."""
        with self.holding(limit):
            async with limit:
                yield limit


NO_CLOCKS: Pausable = TimeLimits()
"""Counts nothing."""
