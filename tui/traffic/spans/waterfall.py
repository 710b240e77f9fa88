"""The time of one turn: its bars, and the shares of what the turn waited for. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tui.core.text import clean_line
from tui.core.traffic import ANSWERS, Entry, Kind, Outcome
from tui.traffic.methods import QUESTION
from tui.traffic.spans.span_values import CallSpan, CallState, Span, StepSpan, StepState, TurnSpan

TOUCHING_NS = 2_000_000
"""A bar that ends at most this long before another starts is what the other waited for."""

MOST_BARS = 2_000


class TimeShare(StrEnum):
    """The activities that take time in a turn. The values are the words on screen."""

    MODEL = "model"
    YOU = "waiting for you"
    TOOL = "tools"
    REST = "mcptui"


@dataclass(frozen=True, slots=True)
class TimeBar:
    """One stretch of time, in nanoseconds since the turn began (monotonic until it is in a waterfall).

    `call` is the id of the tool call, "" for the model. `critical`: the turn would have been shorter without
    it.
    """

    part: TimeShare
    label: str
    start_ns: int
    end_ns: int
    running: bool = False
    failed: bool = False
    step: int = 0
    call: str = ""
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Waterfall:
    """One turn: its bars in the order of their start.

    `shares` are those of the turn's time, largest first; they add up to 1.
    """

    turn: int
    ns: int
    bars: tuple[TimeBar, ...]
    shares: tuple[tuple[TimeShare, float], ...]

    @property
    def words(self) -> str:
        """The shares as a line: "model 62 %, tools 31 %, waiting for you 7 %"."""
        return ", ".join(
            f"{part} {share * 100:.0f} %" for part, share in self.shares if round(share * 100) > 0
        )


def of_spans(spans: Iterable[Span], turn: int, now_ns: int) -> Waterfall | None:
    """Return the waterfall of a turn from the spans of the conversation, None if there is no such turn."""
    head: TurnSpan | None = None
    stretches: list[TimeBar] = []
    for span in spans:
        match span:
            case TurnSpan(traffic=number) if number == turn and not span.past:
                head = span
            case StepSpan() if head is not None and span.turn == head.number:
                running = span.ms is None
                end = now_ns if span.ms is None else span.started_ns + _ns(span.ms)
                label = f"step {span.number}" + (" (final answer)" if span.final else "")
                failed = span.state is StepState.FAILED
                step = (span.started_ns, end, running, failed, span.number)
                stretches.append(TimeBar(TimeShare.MODEL, label, *step))
            case CallSpan() if head is not None and span.turn == head.number:
                stretches += _of_call(span, now_ns)
    if head is None:
        return None
    end = now_ns if head.ms is None else head.started_ns + _ns(head.ms)
    return _waterfall(turn, head.started_ns, end, stretches)


def of_entries(entries: Sequence[Entry], turn: int, now_ns: int | None = None) -> Waterfall | None:
    """Return the waterfall of a turn from the entries that it caused, None if there are none.

    `now_ns` is the end of requests without a response; None for a finished recording.
    """
    mine = [entry for entry in entries if entry.cause is not None and entry.cause.turn == turn]
    if not mine:
        return None
    last = max(mine[-1].mono_ns, now_ns or 0)
    ended = {entry.pair: entry for entry in reversed(mine) if entry.kind in ANSWERS and entry.pair}
    # No response, or one that the host rejected.
    ended |= {entry.pair: entry for entry in mine if entry.kind is Kind.EVENT and entry.outcome}
    stretches = [
        _of_request(entry, ended.get(entry.seq), last, now_ns is not None)
        for entry in mine
        if entry.kind in (Kind.REQUEST, Kind.MODEL_REQUEST)
    ]
    return _waterfall(turn, mine[0].mono_ns, last, stretches)


def _of_call(span: CallSpan, now: int) -> Iterable[TimeBar]:
    label = clean_line(f"{span.server} › {span.tool}" if span.server else span.tool, 80)
    if span.asked_ns is not None:
        running = span.answered_ns is None
        end = now if span.answered_ns is None else span.answered_ns
        yield TimeBar(TimeShare.YOU, label, span.asked_ns, end, running, step=span.step, call=span.id)
    if span.started_ns is not None:
        running = span.ms is None and not span.state.over
        end = span.started_ns + _ns(span.ms) if span.ms is not None else now
        failed = span.state in (CallState.FAILED, CallState.CANCELLED)
        yield TimeBar(TimeShare.TOOL, label, span.started_ns, end, running, failed, span.step, span.id)


def _of_request(entry: Entry, answer: Entry | None, last: int, live: bool) -> TimeBar:
    cause = entry.cause
    is_model = entry.kind is Kind.MODEL_REQUEST
    name = entry.tool or entry.method
    label = clean_line(entry.method if is_model else f"{entry.source} › {name}", 80)
    failed = answer is not None and answer.outcome in (Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.CANCELLED)
    return TimeBar(
        TimeShare.MODEL if is_model else TimeShare.YOU if entry.method == QUESTION else TimeShare.TOOL,
        label,
        entry.mono_ns,
        answer.mono_ns if answer is not None else last,
        running=answer is None and live,
        failed=failed or (answer is None and not live),
        step=cause.step if cause is not None else 0,
        call=cause.call if cause is not None else "",
    )


def _ns(ms: float) -> int:
    return int(ms * 1e6)


def _waterfall(turn: int, start: int, end: int, stretches: list[TimeBar]) -> Waterfall:
    end = max([start, end, *(stretch.end_ns for stretch in stretches)])
    stretches = sorted(stretches, key=lambda stretch: (stretch.start_ns, stretch.end_ns))[:MOST_BARS]
    shares, critical = _shares(start, end, stretches)
    bars = tuple(
        replace(
            stretch,
            start_ns=stretch.start_ns - start,
            end_ns=max(stretch.start_ns, stretch.end_ns) - start,
            critical=number in critical,
        )
        for number, stretch in enumerate(stretches)
    )
    return Waterfall(turn, end - start, bars, shares)


def _shares(
    start: int, end: int, stretches: Sequence[TimeBar]
) -> tuple[tuple[tuple[TimeShare, float], ...], set[int]]:
    """Return the shares of the time, and the critical bars.

    It walks back from the end of the turn, always to the bar that ended last, for which the turn waited.
    """
    spent = dict.fromkeys(TimeShare, 0)
    critical: set[int] = set()
    by_end = sorted(enumerate(stretches), key=lambda each: (each[1].end_ns, each[1].start_ns))
    at = end
    while by_end and at > start:
        number, stretch = by_end.pop()
        if stretch.end_ns > at + TOUCHING_NS or stretch.start_ns >= at:
            continue  # it ran in parallel with the counted one
        spent[TimeShare.REST] += max(0, at - stretch.end_ns)
        spent[stretch.part] += min(at, stretch.end_ns) - stretch.start_ns
        critical.add(number)
        at = stretch.start_ns
    spent[TimeShare.REST] += max(0, at - start)
    whole = sum(spent.values())
    shares = [(part, value / whole) for part, value in spent.items() if value]
    return tuple(sorted(shares, key=lambda share: -share[1])), critical
