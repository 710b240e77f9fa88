"""A turn as a tree: turn > step > call, built from the events of the loop. Pure: time is passed in.

The entries of all turns are in one flat list in display order, which is the order in which they started. An
entry never moves and is only removed by `clear()`, so a view identifies it by index, and redraws the entries
that `changed_since()` returns.

This module stores only small cleaned previews, never a complete result.
"""

from collections import OrderedDict
from collections.abc import Sequence
from math import isfinite

from tui.core import events
from tui.core.text import clean_line
from tui.core.traffic import Cause
from tui.core.turn.prepared_calls import plain_reason
from tui.traffic.spans.span_values import (
    CALL_ENDS,
    CallSpan,
    CallState,
    NoteKind,
    NoteSpan,
    Span,
    StepSpan,
    StepState,
    TurnSpan,
    argument_lines,
    ended_note,
    error_note,
    result_preview,
)


class Spans:
    """All turns of a conversation, built by `apply()`; `revision` grows with every visible change."""

    def __init__(self) -> None:
        self.revision = 0
        self.entries: list[Span] = []
        self.turns = 0
        self._turn: int | None = None
        self._step: int | None = None
        self._calls: dict[str, int] = {}
        self._touched: OrderedDict[int, int] = OrderedDict()  # index -> revision, most recently changed last
        self._cleared = 0

    def clear(self, past: Sequence[Span] = ()) -> None:
        """Replace all turns with those of another conversation."""
        self.entries[:] = past
        self._calls.clear()
        self._touched.clear()
        self._turn = self._step = None
        self.turns = max((span.number for span in past if isinstance(span, TurnSpan)), default=0)
        self.revision += 1
        self._cleared = self.revision

    def turn_of(self, span: Span) -> TurnSpan:
        number = span.number if isinstance(span, TurnSpan) else span.turn
        turns = (one for one in self.entries if isinstance(one, TurnSpan))
        return next(one for one in turns if one.number == number)

    def cause_of(self, span: Span) -> Cause:
        """Return the cause that marks an entry's traffic; its turn is 0 if the traffic is of another run."""
        turn = self.turn_of(span).traffic
        match span:
            case CallSpan():
                return Cause(turn, span.step, span.id)
            case StepSpan():
                return Cause(turn, span.number)
            case _:
                return Cause(turn)

    def changed_since(self, revision: int) -> list[int] | None:
        """Return the indices of entries that are new or changed after `revision`, in ascending order.

        None means that the entries were replaced: start over.
        """
        if revision < self._cleared:
            return None
        changed: list[int] = []
        for index in reversed(self._touched):
            if self._touched[index] <= revision:
                break
            changed.append(index)
        return sorted(changed)

    def apply(self, event: events.Event, now_ns: int) -> None:
        """Apply one event, at monotonic `now_ns`. Never raises: unexpected events are ignored."""
        match event:
            case events.TurnStarted():
                self._begin_turn(event, now_ns)
            case events.StepStarted():
                self._begin_step(event, now_ns)
            case events.TextDelta():
                self._hear(StepState.ANSWERING, len(event.text), "", now_ns)
            case events.ReasoningDelta():
                self._hear(StepState.THINKING, len(event.text), "", now_ns)
            case events.CallForming():
                self._hear(StepState.CALLING, 0, clean_line(event.name, 64), now_ns)
            case events.RetryScheduled():
                text = f"attempt {event.attempt} of {event.attempts} in {event.delay:.1f} s: {event.reason}"
                self._hear(StepState.RETRYING, 0, clean_line(text), now_ns)
            case events.StepEnded():
                self._end_step(event)
            case events.ToolCallProposed():
                self._propose(event, now_ns)
            case events.LimitReached():
                if (turn := self._open_turn()) is not None:
                    self._add(limit_note(turn.number, event.limit, event.value))
            case events.TurnError():
                self._fail(event)
            case events.TurnEnded():
                self._end_turn(event, now_ns)
            case _:
                self._apply_to_call(event, now_ns)

    def _begin_turn(self, event: events.TurnStarted, now_ns: int) -> None:
        self.turns += 1
        self._step = None
        turn = TurnSpan(self.turns, clean_line(event.model, 64), event.tools, now_ns)
        turn.traffic = event.turn or self.turns
        self._turn = self._add(turn)

    def _begin_step(self, event: events.StepStarted, now_ns: int) -> None:
        if (turn := self._open_turn()) is None:
            return
        turn.steps += 1
        self._touch(self._turn)
        self._step = self._add(StepSpan(turn.number, event.step, now_ns, final=event.final))

    def _hear(self, state: StepState, chars: int, detail: str, now_ns: int) -> None:
        step = self._open_step()
        if step is None or step.ms is not None:
            return
        step.chars += chars
        if step.first_ms is None and state is not StepState.RETRYING:
            step.first_ms = _ms(step.started_ns, now_ns)
        if (step.state, step.detail) != (state, detail):
            step.state, step.detail = state, detail
            self._touch(self._step)

    def _end_step(self, event: events.StepEnded) -> None:
        turn, step = self._open_turn(), self._open_step()
        if turn is None or step is None:
            return
        step.state, step.detail = StepState.DONE, ""
        step.ms, step.usage, step.calls = event.ms, event.usage, event.calls
        turn.usage = turn.usage + event.usage
        self._touch(self._step)
        self._touch(self._turn)

    def _fail(self, event: events.TurnError) -> None:
        if (turn := self._open_turn()) is None:
            return
        step = self._open_step()
        if step is not None and step.ms is None:
            step.state, step.detail = StepState.FAILED, ""
            self._touch(self._step)
        self._add(error_note(turn.number, event.where, event.message))

    def _end_turn(self, event: events.TurnEnded, now_ns: int) -> None:
        turn, step = self._open_turn(), self._open_step()
        if turn is None:
            return
        if step is not None and step.ms is None:
            step.ms = _ms(step.started_ns, now_ns)
            step.detail = ""
            if step.state is not StepState.FAILED:
                step.state = StepState.CANCELLED
            self._touch(self._step)
        for call in list(self._calls.values()):
            self._abandon(call, now_ns)
        turn.ms, turn.reason, turn.usage = event.ms, event.reason, event.usage
        self._touch(self._turn)
        if (note := ended_note(turn.number, event.reason, self.entries[-1])) is not None:
            self._add(note)
        self._turn = self._step = None
        self._calls.clear()

    def _propose(self, event: events.ToolCallProposed, now_ns: int) -> None:
        if (turn := self._open_turn()) is None:
            return
        turn.calls += 1
        self._touch(self._turn)
        self._calls[event.id] = self._add(
            CallSpan(
                turn.number,
                event.step,
                event.id,
                clean_line(event.server, 64),
                clean_line(event.tool, 128),
                argument_lines(event.arguments),
                now_ns,
            )
        )

    def _apply_to_call(self, event: events.Event, now_ns: int) -> None:
        index = self._calls.get(getattr(event, "id", ""))
        call = self.entries[index] if index is not None else None
        if not isinstance(call, CallSpan) or call.state.over:
            return
        match event:
            case events.CallJudged():
                call.rule = clean_line(event.rule, 300)
            case events.ApprovalAsked():
                call.state, call.asked_ns = CallState.ASKING, now_ns
                call.why = clean_line(event.request.why)
            case events.ApprovalGiven():
                call.state, call.answer, call.why = CallState.WAITING, event.answer, clean_line(event.reason)
                self._stop_asking(call, now_ns)
            case events.ToolCallStarted():
                call.state, call.started_ns, call.why = CallState.RUNNING, now_ns, ""
            case events.ToolProgress():
                call.progress, call.total = _finite(event.progress), _finite(event.total)
                call.message = clean_line(event.message)
            case events.ToolCallEnded():
                self._end_call(call, event, now_ns)
            case _:
                return
        self._touch(index)

    def _end_call(self, call: CallSpan, event: events.ToolCallEnded, now_ns: int) -> None:
        self._stop_asking(call, now_ns)
        fallback = CallState.FAILED if event.is_error or event.why else CallState.DONE
        call.state = CALL_ENDS.get(event.why, fallback)
        call.why = clean_line(event.why) if event.why != call.state else call.why
        call.ms = event.ms
        said = event.text if event.result is not None else plain_reason(event.text, event.why)
        call.result = result_preview(said)
        call.warning = clean_line(event.result.warning) if event.result is not None else ""

    def _abandon(self, index: int, now_ns: int) -> None:
        call = self.entries[index]
        if isinstance(call, CallSpan) and not call.state.over:
            self._stop_asking(call, now_ns)
            ran = call.started_ns is not None
            call.state = CallState.CANCELLED if ran else CallState.NOT_RUN
            call.ms = _ms(call.started_ns, now_ns) if call.started_ns is not None else None
            self._touch(index)

    @staticmethod
    def _stop_asking(call: CallSpan, now_ns: int) -> None:
        if call.asked_ns is not None:
            call.waited_ms += _ms(call.asked_ns, now_ns)
            call.asked_ns = None

    def _open_turn(self) -> TurnSpan | None:
        entry = self.entries[self._turn] if self._turn is not None else None
        return entry if isinstance(entry, TurnSpan) else None

    def _open_step(self) -> StepSpan | None:
        entry = self.entries[self._step] if self._step is not None else None
        return entry if isinstance(entry, StepSpan) else None

    def _add(self, span: Span) -> int:
        self.entries.append(span)
        index = len(self.entries) - 1
        self._touch(index)
        return index

    def _touch(self, index: int | None) -> None:
        if index is not None:
            self.revision += 1
            self._touched[index] = self.revision
            self._touched.move_to_end(index)


def _ms(begin_ns: int, end_ns: int) -> float:
    return max(0, end_ns - begin_ns) / 1e6


def _finite(value: float | None) -> float | None:
    """Return a server's number if it is finite: NaN and infinities have been seen."""
    return value if isinstance(value, int | float) and isfinite(value) else None
