"""What a recording is expected to have: tools that are called or not, latencies, no errors. Pure.

Expectations see each request once and remember a bounded amount, so that a recording may have any size. What
compared nothing does not hold: a limit for a tool that was never called is not kept.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple, Protocol

from tui.core.matching import nearest_name
from tui.core.text import clean_line, quoted_name
from tui.core.traffic import OUTCOME_WORDS, Outcome
from tui.core.units import and_more, span
from tui.traffic.methods import STAYS_OPEN

NAME_CHARS = 100
MOST_NAMES = 10
"""Maximum names of tools in a sentence."""

FAILED = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST})


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request of a recording.

    Attributes:
        label: the name of its recording, if there are several.
        name: of the tool, prompt or resource, or "".
        took_ns: -1 without a response.
        is_later: a round of a call that was answered with a question before.
    """

    seq: int
    server: str
    method: str
    name: str
    outcome: Outcome
    took_ns: int
    is_later: bool = False
    label: str = ""

    @property
    def tool(self) -> str:
        """The tool that it calls, or ""."""
        return self.name if self.method == "tools/call" else ""

    def __str__(self) -> str:
        label = f"{self.label} " if self.label else ""
        what = clean_line(f"{self.method} {self.name}".strip(), NAME_CHARS)
        return f"{label}#{self.seq} {what} ({clean_line(self.server, NAME_CHARS)})"


@dataclass(frozen=True, slots=True)
class KnownTools:
    """The names of the tools that were called, and of those that the servers listed."""

    called: Collection[str] = ()
    listed: Collection[str] = ()

    def has(self, pattern: str) -> bool:
        """Return whether a tool is known that a pattern matches, whichever server has it."""
        name = pattern.rpartition("/")[2]
        both = (*self.called, *self.listed)
        return any(fnmatchcase(one, pattern) or fnmatchcase(one, name) for one in both)

    def unknown(self, pattern: str) -> str:
        """Return the sentence that no tool matches a pattern, with the one that was probably meant, or ""."""
        if self.has(pattern):
            return ""
        both = sorted({*self.called, *self.listed})
        meant = nearest_name(pattern.rpartition("/")[2], both)
        hint = f" Did you mean {quoted_name(meant)}?" if meant else ""
        return f"The recording has no tool {quoted_name(pattern)}.{hint}"


class Problem(NamedTuple):
    """Why an expectation does not hold. `request` is the first, or the slowest, that is against it."""

    sentence: str
    request: SeenRequest | None = None


class Expectation(Protocol):
    """One expectation. `option` is what the user wrote."""

    @property
    def option(self) -> str: ...

    def see(self, request: SeenRequest) -> None:
        """Take the next request."""

    def problem(self, tools: KnownTools) -> Problem | None:
        """Return why it does not hold, or None if it holds."""

    @property
    def pattern(self) -> str:
        """The pattern of tools that it names, or ""."""


@dataclass(slots=True)
class _Found:
    """The first or worst request against an expectation, and the number of all."""

    request: SeenRequest | None = None
    count: int = 0

    def add(self, request: SeenRequest, *, is_worse: bool = False) -> None:
        self.count += 1
        if self.request is None or is_worse:
            self.request = request

    def problem(self, said: str = "") -> Problem | None:
        """Return the problem, in words that follow the name of the request; None if there is none."""
        more = f", and {self.count - 1} more" if self.count > 1 else ""
        return Problem(f"{self.request}{said}{more}", self.request) if self.request is not None else None


def is_named(request: SeenRequest, pattern: str) -> bool:
    """Return whether a request calls a tool that a pattern names: TOOL, or SERVER/TOOL as in rules."""
    if not request.tool:
        return False
    return fnmatchcase(request.tool, pattern) or fnmatchcase(f"{request.server}/{request.tool}", pattern)


@dataclass(slots=True)
class ToolExpected:
    """A tool that matches a pattern must be called."""

    pattern: str
    _count: int = 0

    @property
    def option(self) -> str:
        return f"--expect-tool {clean_line(self.pattern, NAME_CHARS)}"

    def see(self, request: SeenRequest) -> None:
        self._count += is_named(request, self.pattern)

    def problem(self, tools: KnownTools) -> Problem | None:
        if self._count:
            return None
        called = and_more([clean_line(name, NAME_CHARS) for name in tools.called], MOST_NAMES)
        return Problem(tools.unknown(self.pattern) or f"It was not called. Called: {called or 'no tool'}.")


@dataclass(slots=True)
class ToolForbidden:
    """No tool that matches a pattern may be called."""

    pattern: str
    _found: _Found = field(default_factory=_Found)

    @property
    def option(self) -> str:
        return f"--forbid-tool {clean_line(self.pattern, NAME_CHARS)}"

    def see(self, request: SeenRequest) -> None:
        if is_named(request, self.pattern) and not request.is_later:
            self._found.add(request)

    def problem(self, tools: KnownTools) -> Problem | None:
        return self._found.problem()


@dataclass(slots=True)
class LatencyLimit:
    """Each call of a tool that matches a pattern must have a response within a time. Rounds count each."""

    pattern: str
    most_ns: int
    text: str
    """What the user wrote after the option."""

    _slow: _Found = field(default_factory=_Found)
    _unanswered: _Found = field(default_factory=_Found)
    _count: int = 0

    @property
    def option(self) -> str:
        return f"--max-latency {clean_line(self.text, NAME_CHARS)}"

    def see(self, request: SeenRequest) -> None:
        if not is_named(request, self.pattern):
            return
        self._count += 1
        if request.took_ns < 0:
            self._unanswered.add(request)
        elif request.took_ns > self.most_ns:
            before = self._slow.request
            self._slow.add(request, is_worse=before is None or request.took_ns > before.took_ns)

    def problem(self, tools: KnownTools) -> Problem | None:
        if (slowest := self._slow.request) is not None:
            return self._slow.problem(f" took {span(slowest.took_ns)}")
        if self._count:
            return self._unanswered.problem(" has no response")
        if self.pattern == "*":
            return Problem("No tool was called, so no latency was compared.")
        return Problem(tools.unknown(self.pattern) or "It was not called, so no latency was compared.")


@dataclass(slots=True)
class NoErrors:
    """No request may end with an error, or without a response because the server ended."""

    pattern: str = ""
    _found: _Found = field(default_factory=_Found)

    @property
    def option(self) -> str:
        return "--no-errors"

    def see(self, request: SeenRequest) -> None:
        if request.outcome in FAILED and not (
            request.outcome is Outcome.LOST and request.method == STAYS_OPEN
        ):
            self._found.add(request)

    def problem(self, tools: KnownTools) -> Problem | None:
        first = self._found.request
        return self._found.problem(f": {OUTCOME_WORDS[first.outcome]}") if first is not None else None
