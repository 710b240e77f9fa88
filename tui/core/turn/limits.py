"""The hard limits of a turn and the meter that watches them."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from tui.core.events import LimitName, LimitReached
from tui.core.ports import Clock, MonotonicClock, Usage
from tui.core.time_limits import CallTimeout, Stopwatch, TimeLimit, TimeLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one turn, with the names of `[limits]`.

    Attributes:
        max_steps: model requests with tools.
        max_tool_calls: calls that ran, over all steps.
        max_calls_per_reply: calls run from one reply; the rest is answered "not run".
        turn_seconds: wall-clock time of the turn; waiting for the user does not count.
        tool_seconds: wall-clock time of one call without a response or progress.
        tool_max_seconds: wall-clock time of one call with progress, or None for that of the turn.
        consecutive_errors: steps in a row in which every call failed.
        identical_calls_note: how often the same call with the same result occurs before the model gets a
            note.
        identical_calls_stop: how often before the turn ends.
        result_bytes: bytes of one result for the model.
        parallel_calls: read-only calls that run at the same time.
        turn_tokens: tokens of all requests of the turn, or None for no limit.
        turn_cost: their cost by the profile's prices, or None for no limit.
    """

    max_steps: int = 20
    max_tool_calls: int = 100
    max_calls_per_reply: int = 16
    turn_seconds: float = 900.0
    tool_seconds: float = 60.0
    tool_max_seconds: float | None = None
    consecutive_errors: int = 3
    identical_calls_note: int = 3
    identical_calls_stop: int = 5
    result_bytes: int = 32768
    parallel_calls: int = 5
    turn_tokens: int | None = None
    turn_cost: float | None = None

    @property
    def call_timeout(self) -> CallTimeout:
        """The timeout of a tool call, for a server without its own."""
        most = self.tool_max_seconds
        return CallTimeout(
            self.tool_seconds, max(self.turn_seconds, self.tool_seconds) if most is None else most
        )


def fingerprint(tool: str, arguments: Mapping[str, Any], result: str) -> str:
    """Return a key for a call and its result that does not depend on the order of object keys.

    The result is part of the key, because polling a tool until something changes is legitimate.
    """
    body = json.dumps([tool, arguments, result], sort_keys=True, default=str)
    return hashlib.sha256(body.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(slots=True)
class TurnMeter:
    """Counts the usage of a turn; `errors` are failed steps in a row, `cost` covers requests with prices.

    Its `clocks` are paused while the user is asked: its `time`, and the limits of what is running.
    """

    limits: Limits
    clock: Clock = field(default_factory=MonotonicClock)
    steps: int = 0
    tool_calls: int = 0
    errors: int = 0
    tokens: int = 0
    cost: float = 0.0
    started_ns: int = field(init=False)
    time: Stopwatch = field(init=False)
    clocks: TimeLimits = field(init=False)
    _seen: Counter[str] = field(default_factory=Counter)
    _most: int = 0

    def __post_init__(self) -> None:
        self.started_ns = self.clock.now_ns()
        self.time = Stopwatch(lambda: self.clock.now_ns() / 1e9)
        self.clocks = TimeLimits(self.time)

    def limited(self, seconds: float | None = None) -> AbstractAsyncContextManager[TimeLimit]:
        """Limit a step or a call to `seconds`, or to what is left of the turn."""
        left = max(0.0, self.limits.turn_seconds - self.time.seconds)
        return self.clocks.within(TimeLimit(left if seconds is None else seconds))

    def call_ended(self, key: str) -> int:
        """Count a call that ran, by its `fingerprint`; return how often it occurred."""
        self.tool_calls += 1
        self._seen[key] += 1
        self._most = max(self._most, self._seen[key])
        return self._seen[key]

    def spent(self, usage: Usage, cost: float | None) -> None:
        self.tokens += usage.prompt + usage.completion
        self.cost += cost or 0.0

    def step_ended(self, *, calls: int, failed: int) -> None:
        """Count a step; one in which every call failed is an error step."""
        self.errors = self.errors + 1 if calls and failed == calls else 0

    def out_of_steps(self) -> LimitReached | None:
        """Return the limit of steps if it is reached.

        Checked between steps, and before the calls of a reply run: no step would read their results.
        """
        return _reached(LimitName.MAX_STEPS, self.steps, self.limits.max_steps)

    def reached(self) -> LimitReached | None:
        limits = self.limits
        return (
            _reached(LimitName.IDENTICAL_CALLS, self._most, limits.identical_calls_stop)
            or _reached(LimitName.CONSECUTIVE_ERRORS, self.errors, limits.consecutive_errors)
            or _reached(LimitName.MAX_TOOL_CALLS, self.tool_calls, limits.max_tool_calls)
            or self.out_of_steps()
            or _reached(LimitName.TURN_SECONDS, self.time.seconds, limits.turn_seconds)
            or _reached(LimitName.TURN_TOKENS, self.tokens, limits.turn_tokens)
            or _reached(LimitName.TURN_COST, self.cost, limits.turn_cost)
        )


def _reached(limit: LimitName, spent: float, budget: float | None) -> LimitReached | None:
    return LimitReached(limit, budget) if budget is not None and spent >= budget else None
