"""A turn as a tree: turn > step > call, built from the events of the loop. Pure: time is passed in.

The entries of all turns are in one flat list in display order, which is the order in which they started. An
entry never moves and is only removed by `clear()`, so a view identifies it by index, and redraws the entries
that `changed_since()` returns.

This module stores only small cleaned previews, never a complete result. `past_turns` rebuilds the turns of a
saved conversation from its messages, which contain no times, approvals or failed requests.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import cast

from tui.core import events
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.events import EndReason, LimitName
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import message
from tui.core.ports import CallPart, ReasoningPart, RetryPart, TextPart, Usage
from tui.core.text import clean_line
from tui.core.tools import ToolResult
from tui.core.traffic import Cause
from tui.core.turn.prepared_calls import shown_end, shown_result, why_of
from tui.core.turn.turn_endings import in_order
from tui.traffic.spans.span_values import (
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
    result_preview,
)


class Spans:
    """All turns of a conversation, built by `apply()`; `revision` grows with every visible change.

    `turn` and `step` are the running ones.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.entries: list[Span] = []
        self.turns = 0
        self.turn: TurnSpan | None = None
        self.step: StepSpan | None = None
        self._calls: dict[str, CallSpan] = {}
        self._places: dict[int, int] = {}  # id of the span -> index
        self._changed: list[int] = []  # the revision of the last change, by index
        self._cleared = 0

    def clear(self, past: Sequence[Span] = ()) -> None:
        """Replace all turns with those of another conversation."""
        self.entries[:] = past
        self._calls.clear()
        self._changed[:] = [0] * len(past)
        self._places.clear()
        self.turn = self.step = None
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
        return [index for index, changed in enumerate(self._changed) if changed > revision]

    def apply(self, event: events.Event, now_ns: int) -> None:
        """Apply one event, at monotonic `now_ns`. Never raises: unexpected events are ignored."""
        turn, step = self.turn, self.step
        match event:
            case events.TurnStarted():
                self.turns += 1
                self.turn = TurnSpan(self.turns, clean_line(event.model, 64), now_ns)
                self.turn.traffic, self.step = event.turn or self.turns, None
                self._touch(self.turn)
            case events.StepStarted() if turn is not None:
                turn.steps += 1
                self.step = StepSpan(turn.number, event.step, now_ns, final=event.final)
                self._touch(turn, self.step)
            case TextPart():
                self._hear(StepState.ANSWERING)
            case ReasoningPart():
                self._hear(StepState.THINKING)
            case CallPart():
                self._hear(StepState.CALLING, clean_line(event.name, 64))
            case RetryPart():
                text = message(
                    "attempt {n} of {all} in {time}: {reason}",
                    n=event.attempt,
                    all=event.attempts,
                    time=f"{event.delay:.1f} s",
                    reason=event.reason,
                )
                self._hear(StepState.RETRYING, clean_line(text))
            case events.StepEnded() if turn is not None and step is not None:
                step.state, step.detail = StepState.DONE, ""
                step.ms, step.usage = event.ms, event.usage
                self._touch(turn, step)
            case events.ToolCallProposed() if turn is not None:
                turn.calls += 1
                server, tool = clean_line(event.server, 64), clean_line(event.tool, 128)
                arguments = argument_lines(event.arguments)
                call = CallSpan(turn.number, event.step, event.id, server, tool, arguments)
                self._calls[event.id] = call
                self._touch(turn, call)
            case events.LimitReached() if turn is not None:
                text = message("limit {name} {value} reached", name=event.limit, value=f"{event.value:g}")
                self._touch(NoteSpan(turn.number, NoteKind.LIMIT, text))
            case events.TurnError() if turn is not None:
                self._fail(turn, event)
            case events.TurnEnded() if turn is not None:
                self._end_turn(turn, event, now_ns)
            case _:
                self._apply_to_call(event, now_ns)

    def _hear(self, state: StepState, detail: str = "") -> None:
        step = self.step
        if step is not None and step.ms is None and (step.state, step.detail) != (state, detail):
            step.state, step.detail = state, detail
            self._touch(step)

    def _fail(self, turn: TurnSpan, event: events.TurnError) -> None:
        step = self.step
        if step is not None and (step.ms is None or step.state is StepState.CANCELLED):
            step.state, step.detail = StepState.FAILED, ""
            self._touch(step)
        text = event.message
        if event.where.partition(" ")[0] not in ("", "model"):
            text = message("{where}: {problem}", where=event.where, problem=text)
        text = clean_line(text, 400)  # the conversation says what to do about it
        self._touch(NoteSpan(turn.number, NoteKind.ERROR, text))

    def _end_turn(self, turn: TurnSpan, event: events.TurnEnded, now_ns: int) -> None:
        step = self.step
        if step is not None and step.ms is None:
            step.ms = _ms(step.started_ns, now_ns)
            step.detail = ""
            if step.state is not StepState.FAILED:
                step.state = StepState.CANCELLED
            self._touch(step)
        for call in self._calls.values():
            if not call.state.over:
                self._stop_asking(call, now_ns)
                is_begun = call.started_ns is not None
                call.state = CallState.CANCELLED if is_begun else CallState.NOT_RUN
                call.ms = _ms(call.started_ns, now_ns) if call.started_ns is not None else None
                self._touch(call)
        turn.ms, turn.reason = event.ms, event.reason
        self._touch(turn)
        if (note := ended_note(turn.number, event.reason, self.entries[-1])) is not None:
            self._touch(note)
        self.turn = self.step = None
        self._calls.clear()

    def _apply_to_call(self, event: events.Event, now_ns: int) -> None:
        call = self._calls.get(getattr(event, "id", ""))
        if call is None or call.state.over:
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
                self._stop_asking(call, now_ns)
                state = CallState(events.call_end(event.why, event.is_error))
                if event.why != state:
                    call.why = clean_line(event.why)
                if event.why == "unknown tool":
                    call.server, call.tool = clean_line(event.server, 64), clean_line(event.tool, 128)
                said, _ = shown_end(event)
                call.state, call.ms, call.result = state, event.ms, result_preview(said)
                call.warning = clean_line(event.result.warning) if event.result is not None else ""
            case _:
                return
        self._touch(call)

    @staticmethod
    def _stop_asking(call: CallSpan, now_ns: int) -> None:
        if call.asked_ns is not None and call.answered_ns is None:
            call.answered_ns = now_ns

    def _touch(self, *spans: Span) -> None:
        """Record that these have changed; add those that are new."""
        for span in spans:
            index = self._places.setdefault(id(span), len(self.entries))
            if index == len(self.entries):
                self.entries.append(span)
                self._changed.append(0)
            self.revision += 1
            self._changed[index] = self.revision


def _ms(begin_ns: int, end_ns: int) -> float:
    return max(0, end_ns - begin_ns) / 1e6


def _finite(value: float | None) -> float | None:
    """Return a server's number if it is finite: NaN and infinities have been seen."""
    return value if isinstance(value, int | float) and isfinite(value) else None


MOST_ARGUMENTS = 100_000
"""Maximum characters of arguments to parse. Longer ones are not shown."""


def past_turns(
    messages: Sequence[Message], remarks: Sequence[Remark] = (), numbers: Mapping[int, int] | None = None
) -> list[Span]:
    """Return the turns, steps, calls and notes of a conversation.

    `numbers` are those of turns in the traffic of this run, by the index of their question.
    """
    past = _PastTurns(numbers or {})
    for place, part in in_order(messages, remarks):
        past.take(place, part)
    past.end()
    for span in past.spans.entries:
        if isinstance(span, StepSpan | CallSpan):
            span.ms = span.ms or None
    return past.spans.entries


class _PastTurns:
    """Applies the events that saved messages and remarks came from; a time of 0 is unknown."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self.spans = Spans()
        self._apply = partial(self.spans.apply, now_ns=0)
        self._numbers = numbers
        self._turn: TurnSpan | None = None
        self._last: Message | None = None
        self._at_limit = self._was_killed = False

    def take(self, place: int, part: Message | CallRequest | Remark) -> None:
        match part:
            case UserMessage():
                turn = self._turn
                ended = turn is None or turn.reason is not None or self._was_killed or place in self._numbers
                if ended or not isinstance(self._last, ToolMessage):  # otherwise it steered the previous turn
                    self._begin(place)
            case AssistantMessage() if self._turn is not None and part.model != "mcptui":
                self._reply(self._turn, part)
            case CallRequest(id=call_id, name=name) if self._turn is not None:
                server, joint, tool = name.partition("__")
                given = json_mapping(part.arguments) if len(part.arguments) <= MOST_ARGUMENTS else {}
                names = (server, tool) if joint else ("", name)
                self._apply(events.ToolCallProposed(self._turn.steps, call_id, *names, given))
            case ToolMessage():
                self._result(part)
            case Remark() if self._turn is not None:
                self._remark(self._turn, part)
        if not isinstance(part, CallRequest | Remark):
            self._last = part

    def _begin(self, place: int) -> None:
        self.end()
        # A steering message after the answer looks like a separate turn.
        traffic = self._numbers.get(place, self._turn.traffic if self._turn is not None else 0)
        self._at_limit = self._was_killed = False
        self._apply(events.TurnStarted("", 0))
        self._turn = turn = self.spans.turn
        assert turn is not None
        turn.traffic, turn.past, turn.place = traffic, True, place

    def end(self) -> None:
        """End the turn, if no remark did."""
        if isinstance(self._last, AssistantMessage) and not self._last.calls:
            self._ended(EndReason.LIMIT if self._at_limit else EndReason.ANSWERED)

    def _ended(self, reason: EndReason) -> None:
        if (turn := self.spans.turn) is not None:
            self._apply(events.TurnEnded(reason, "", turn.steps, turn.calls, Usage(), 0.0))

    def _reply(self, turn: TurnSpan, message: AssistantMessage) -> None:
        number, usage = turn.steps + 1, message.usage or Usage()
        turn.model = clean_line(message.model, 64)
        self._apply(events.StepStarted(number, 0, self._at_limit))
        self._apply(events.StepEnded(number, message.seconds * 1000, usage, "", len(message.calls)))
        if message.partial and self.spans.step is not None:
            self.spans.step.state = StepState.CANCELLED

    def _result(self, message: ToolMessage) -> None:
        result = message.call_id, "", message.name, message.is_error, message.text, message.seconds * 1000
        ran = ToolResult(warning=shown_result(message)[1]) if message.seconds else None
        self._apply(events.ToolCallEnded(0, *result, ran, why_of(message)))
        self._was_killed = self._was_killed or message.text in (UNKNOWN_OUTCOME, NEVER_SENT)

    def _remark(self, turn: TurnSpan, remark: Remark) -> None:
        match remark.kind:
            case "limit":
                self._at_limit = True
                self._apply(events.LimitReached(cast(LimitName, clean_line(remark.text, 64)), remark.value))
            case "error":
                self._apply(events.TurnError(remark.text, remark.where))
            case "end" if remark.text in EndReason.__members__.values():
                self._ended(EndReason(remark.text))
