"""The time of one turn: its bars, and the shares of what the turn waited for. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tui.core.comparison.argument_words import Written
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import N_, message
from tui.core.text import clean_line, mapping
from tui.core.traffic import ANSWERS, Entry, Kind, Outcome
from tui.traffic.methods import QUESTION
from tui.traffic.spans.span_values import CallSpan, CallState, Span, StepSpan, StepState, TurnSpan

TOUCHING_NS = 2_000_000
"""A bar that ends at most this long before another starts is what the other waited for."""

MOST_BARS = 2_000


class TimeShare(StrEnum):
    """The activities that take time in a turn. The values are the words on screen."""

    MODEL = N_("model")
    YOU = N_("waiting for you")
    TOOL = N_("tools")
    REST = "mcptui"


@dataclass(frozen=True, slots=True)
class TimeBar:
    """One stretch of time, in nanoseconds since the turn began (monotonic until it is in a waterfall).

    `call` is the id of the tool call, "" for the model. `critical`: the turn would have been shorter without
    it. `arguments` are those of a call, or their previews as `Written`.
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
    arguments: Any = None


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
        found = zip(self.shares, percents([share for _, share in self.shares]), strict=True)
        return ", ".join(f"{part} {percent} %" for (part, _), percent in found if percent)

    def calls_of(self, bar: TimeBar) -> list[TimeBar]:
        """Return the bars of the calls in the step of a bar; without steps, those of the turn."""
        return [
            one for one in self.bars if one.part is TimeShare.TOOL and (one.step == bar.step or not bar.step)
        ]


def percents(shares: Sequence[float]) -> list[int]:
    """Return shares as whole percents that add up to 100; only a share that is alone is 100."""
    found = [int(share * 100) for share in shares]
    by_rest = sorted(range(len(shares)), key=lambda at: (found[at] == 99, found[at] - shares[at] * 100))
    for at in by_rest[: 100 - sum(found)]:
        found[at] += 1
    return found


def cells_of_shares(shares: Sequence[float], width: int) -> list[int]:
    """Return the cells of each share in a bar of this width: together the width, each at least one."""
    if not shares or width < len(shares):
        return [1] * min(width, len(shares))
    cells = [max(1, int(share * width)) for share in shares]
    while (left := width - sum(cells)) != 0:
        # The share whose cells are the furthest from their size, among those that can give one.
        off = [share * width - had for share, had in zip(shares, cells, strict=True)]
        places = [at for at, had in enumerate(cells) if left > 0 or had > 1]
        at = (max if left > 0 else min)(places, key=off.__getitem__)
        cells[at] += 1 if left > 0 else -1
    return cells


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
                label = message("step {step}", step=span.number)
                if span.final:
                    label = message("step {step} (final answer)", step=span.number)
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
        given = {name: Written(text) for name, text in span.arguments}
        part = TimeShare.TOOL
        yield TimeBar(part, label, span.started_ns, end, running, failed, span.step, span.id, arguments=given)


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
        arguments=mapping(mapping(mapping(json_value(entry.body)).get("params")).get("arguments")),
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
