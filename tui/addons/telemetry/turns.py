"""The spans of turns, and the trace of each. Pure.

A recording does not say when a turn ends, and its trace is only known from its first call: the server was
sent it. Until then, spans of the turn wait.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tui.addons.telemetry import conventions as names
from tui.addons.telemetry.span import Span, made_id
from tui.core.traffic import Entry

MAX_TURNS = 5_000
"""Maximum turns to remember. The oldest ends, and is forgotten."""

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
        is_over: its span was returned. Spans that come later are below it, too.
        chats: the span of the last request to the model, by step.
    """

    span: Span
    start_ns: int
    last_ns: int
    open: int = 0
    is_answered: bool = False
    is_over: bool = False
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
        self._turns: OrderedDict[int, Turn] = OrderedDict()

    def begin(self, entry: Entry) -> Turn | None:
        """Return the turn that a request belongs to, which may begin with it."""
        if entry.cause is None or not (number := entry.cause.turn):
            return None
        turn = self._turns.get(number)
        if turn is None:
            ident = made_id(16, "turn", number, entry.wall_ns, entry.mono_ns)
            title, at = f"invoke_agent {names.AGENT}", entry.wall_ns
            span = Span("", ident, "", title, names.INTERNAL, at, at)
            span.attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": names.AGENT,
                "mcptui.turn": number,
            }
            turn = self._turns[number] = Turn(span, entry.mono_ns, entry.mono_ns)
        turn.last_ns = max(turn.last_ns, entry.mono_ns)
        turn.open += 1
        turn.is_answered = False
        return turn

    def settle(self, mono_ns: int) -> list[Span]:
        """Return the spans of turns that seem to have ended."""
        return _ended(
            turn
            for turn in self._turns.values()
            if not turn.open and mono_ns - turn.last_ns > (DONE_NS if turn.is_answered else IDLE_NS)
        )

    def bounded(self) -> list[Span]:
        """Forget the oldest of too many turns; return its spans."""
        return _ended([self._turns.popitem(last=False)[1]]) if len(self._turns) > MAX_TURNS else []

    def finish(self) -> list[Span]:
        """Return the spans of all turns."""
        return _ended(self._turns.values())


def _ended(turns: Iterable[Turn]) -> list[Span]:
    found: list[Span] = []
    for turn in turns:
        if not turn.is_over:
            turn.is_over = True
            turn.span.end_ns = turn.span.start_ns + turn.last_ns - turn.start_ns
            found += [*turn.set_trace(""), turn.span]
    return found
