"""What a recording is expected to have: tools that are called or not, latencies, no errors. Pure.

Expectations see each request once and remember a bounded amount, so that a recording may have any size. What
compared nothing does not hold: a limit for a tool that was never called is not kept.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from tui.core.jsonrpc.protocol import STAY_OPEN
from tui.core.matching import nearest_name
from tui.core.text import clean_line, quoted_name
from tui.core.traffic import OUTCOME_WORDS, Outcome
from tui.core.units import and_more, span

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


def is_named(request: SeenRequest, pattern: str) -> bool:
    """Return whether a request calls a tool that a pattern names: TOOL, or SERVER/TOOL as in rules."""
    if not request.tool:
        return False
    return fnmatchcase(request.tool, pattern) or fnmatchcase(f"{request.server}/{request.tool}", pattern)


class Against(NamedTuple):
    """What speaks against an expectation in a request: words that follow its name, and how bad it is."""

    words: str = ""
    weight: int = 0


@dataclass(slots=True)
class Expectation:
    """One expectation.

    Attributes:
        option: what the user wrote.
        pattern: the tools whose calls it is about, "" for all requests.
        against: returns what speaks against it in one of them, None if nothing does.
        never: what to say if none of them was sent, with the names of the called tools; "" if that is fine.
    """

    option: str
    pattern: str
    against: Callable[[SeenRequest], Against | None]
    never: Callable[[str], str] = lambda called: ""
    _seen: bool = False
    _worst: tuple[SeenRequest, Against] | None = None
    _count: int = 0
    """Requests that are against it: with a latency if one has, otherwise all."""

    def see(self, request: SeenRequest) -> None:
        """Take the next request."""
        if self.pattern and not is_named(request, self.pattern):
            return
        self._seen = True
        if (found := self.against(request)) is None:
            return
        before = self._worst[1].weight if self._worst is not None else found.weight
        if (before < 0) == (found.weight < 0):
            self._count += 1
        elif before < 0:
            self._count = 1
        if self._worst is None or found.weight > before:
            self._worst = request, found

    def problem(self, tools: KnownTools) -> Problem | None:
        """Return why it does not hold, or None if it holds."""
        if self._worst is not None:
            request, found = self._worst
            more = f", and {self._count - 1} more" if self._count > 1 else ""
            return Problem(f"{request}{found.words}{more}", request)
        called = and_more([clean_line(name, NAME_CHARS) for name in tools.called], MOST_NAMES)
        if self._seen or not (never := self.never(called or "no tool")):
            return None
        return Problem((self.pattern != "*" and tools.unknown(self.pattern)) or never)


def tool_expected(pattern: str) -> Expectation:
    """Return the expectation that a tool is called which matches a pattern."""
    option = f"--expect-tool {clean_line(pattern, NAME_CHARS)}"
    return Expectation(
        option, pattern, lambda _: None, lambda called: f"It was not called. Called: {called}."
    )


def tool_forbidden(pattern: str) -> Expectation:
    """Return the expectation that no tool is called which matches a pattern."""
    option = f"--forbid-tool {clean_line(pattern, NAME_CHARS)}"
    return Expectation(option, pattern, lambda request: None if request.is_later else Against())


def latency_limit(pattern: str, most_ns: int, text: str) -> Expectation:
    """Return the expectation that each call of matching tools has a response within a time.

    Rounds count each. `text` is what the user wrote after the option.
    """

    def against(request: SeenRequest) -> Against | None:
        if request.took_ns < 0:
            return Against(" has no response", -1)
        if request.took_ns > most_ns:
            return Against(f" took {span(request.took_ns)}", request.took_ns)
        return None

    what = "No tool was called" if pattern == "*" else "It was not called"
    never = f"{what}, so no latency was compared."
    return Expectation(
        f"--max-latency {clean_line(text, NAME_CHARS)}", pattern, against, lambda called: never
    )


def no_errors() -> Expectation:
    """Return the expectation that no request ends with an error, or is lost because its server ended.

    A call that was cancelled has no answer: mcptui cancels what takes too long. Its own lists, streams and
    probes do not count, and a subscription ends with its server.
    """

    def against(request: SeenRequest) -> Against | None:
        is_end = request.outcome is Outcome.LOST and request.method in STAY_OPEN
        is_unanswered = request.outcome is Outcome.CANCELLED and bool(request.name)
        if is_end or not (is_unanswered or request.outcome in FAILED):
            return None
        return Against(f": {OUTCOME_WORDS[request.outcome]}")

    return Expectation("--no-errors", "", against)
