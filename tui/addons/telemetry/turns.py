"""The spans of turns, and the trace of each. Pure.

A recording does not say when a turn ends, and its trace is only known from its first call: the server was
sent it. Until then, spans of the turn wait.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from tui.addons.telemetry import conventions as names
from tui.addons.telemetry.span import Span, made_id
from tui.core.traffic import Entry

MAX_TURNS = 5_000
"""Maximum turns to remember, open ones and past ones. The oldest end, or are forgotten."""

MAX_HELD = 1_000
"""Maximum spans of a turn that wait for its trace."""

DONE_NS, IDLE_NS = 5_000_000_000, 600_000_000_000
"""How long nothing must happen in a turn until it has ended: after an answer without calls, after others."""


@dataclass(slots=True)
class Turn:
    """A turn.

    Attributes:
        start_ns, last_ns: monotonic nanoseconds of its first and last entry.
        open: number of requests without an answer.
        is_answered: the model has answered without calls.
        chats: the span of the last request to the model, by step.
    """

    span: Span
    start_ns: int
    last_ns: int
    open: int = 0
    is_answered: bool = False
    chats: dict[int, str] = field(default_factory=dict)
    _held: list[Span] = field(default_factory=list)

    def set_trace(self, trace: str) -> list[Span]:
        """Set the trace, "" for one of its own, unless it is set; return the spans that waited for it."""
        if self.span.trace:
            return []
        self.span.trace = trace or made_id(32, "trace", self.span.id)
        held, self._held = self._held, []
        for span in held:
            span.trace = self.span.trace
        return held

    def end(self, span: Span, mono_ns: int) -> list[Span]:
        """End a span of the turn; return what is complete now."""
        self.open -= 1
        self.last_ns = max(self.last_ns, mono_ns)
        if self.span.trace:
            span.trace = self.span.trace
            return [span]
        self._held.append(span)
        return self.set_trace("") if len(self._held) > MAX_HELD else []


class Turns:
    """The turns of a run, by number."""

    def __init__(self) -> None:
        self._open: OrderedDict[int, Turn] = OrderedDict()
        self._past: OrderedDict[int, tuple[str, str]] = OrderedDict()

    def begin(self, entry: Entry) -> Turn | None:
        """Return the turn that a request belongs to, which may begin with it; None if it has ended."""
        number = _number(entry)
        if not number or number in self._past:
            return None
        turn = self._open.get(number)
        if turn is None:
            ident = made_id(16, "turn", number, entry.wall_ns, entry.mono_ns)
            title, at = f"invoke_agent {names.AGENT}", entry.wall_ns
            span = Span("", ident, "", title, names.INTERNAL, at, at)
            span.attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": names.AGENT,
                "mcptui.turn": number,
            }
            turn = self._open[number] = Turn(span, entry.mono_ns, entry.mono_ns)
        turn.last_ns = max(turn.last_ns, entry.mono_ns)
        turn.open += 1
        turn.is_answered = False
        return turn

    def of(self, entry: Entry) -> Turn | None:
        """Return the open turn of an entry."""
        return self._open.get(_number(entry))

    def past(self, entry: Entry) -> tuple[str, str]:
        """Return trace and span of the turn of an entry, if that has ended; otherwise twice ""."""
        return self._past.get(_number(entry), ("", ""))

    def settle(self, mono_ns: int) -> list[Span]:
        """Return the spans of turns that seem to have ended."""
        over = [
            number
            for number, turn in self._open.items()
            if not turn.open and mono_ns - turn.last_ns > (DONE_NS if turn.is_answered else IDLE_NS)
        ]
        return self._ended(over)

    def bounded(self) -> list[Span]:
        """Return the spans of the oldest turns, which end because there are too many."""
        return self._ended([next(iter(self._open))]) if len(self._open) > MAX_TURNS else []

    def finish(self) -> list[Span]:
        """Return the spans of all turns."""
        return self._ended(list(self._open))

    def _ended(self, numbers: list[int]) -> list[Span]:
        found: list[Span] = []
        for number in numbers:
            turn = self._open.pop(number)
            found += turn.set_trace("")
            turn.span.end_ns = turn.span.start_ns + turn.last_ns - turn.start_ns
            found.append(turn.span)
            self._past[number] = (turn.span.trace, turn.span.id)
            if len(self._past) > MAX_TURNS:
                self._past.popitem(last=False)
        return found


def _number(entry: Entry) -> int:
    return entry.cause.turn if entry.cause is not None else 0
