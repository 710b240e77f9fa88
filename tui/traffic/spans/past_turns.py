"""Rebuilds the turns of a saved conversation as spans from its messages. Pure.

Messages contain no times, approvals or failed requests.
"""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.events import EndReason
from tui.core.text import clean_line
from tui.core.turn.prepared_calls import plain_reason, why_of
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

MOST_ARGUMENTS = 100_000
"""Maximum characters of arguments to parse. Longer ones are not shown."""


def past_turns(
    messages: Sequence[Message], remarks: Sequence[Remark] = (), numbers: Mapping[int, int] | None = None
) -> list[Span]:
    """Return the turns, steps, calls and notes of a conversation.

    `numbers` are those of turns in the traffic of this run, by the index of their question.
    """
    reader = _Reader(numbers or {})
    waiting = deque(remarks)
    for place, message in enumerate(messages):
        while waiting and waiting[0].place <= place and not isinstance(message, ToolMessage):
            reader.remark(waiting.popleft())
        reader.take(place, message)
    for remark in waiting:
        reader.remark(remark)
    reader.end()
    return reader.entries


class _Reader:
    def __init__(self, numbers: Mapping[int, int]) -> None:
        self.entries: list[Span] = []
        self._numbers = numbers
        self._turn: TurnSpan | None = None
        self._step: StepSpan | None = None
        self._calls: dict[str, CallSpan] = {}
        self._last: Message | None = None
        self._at_limit = self._was_killed = False

    def take(self, place: int, message: Message) -> None:
        match message:
            case UserMessage() if not self._was_steered(place):
                self._begin(place)
            case AssistantMessage() if self._turn is not None and message.model != "mcptui":
                self._reply(self._turn, message)
            case ToolMessage():
                self._result(message)
        self._last = message

    def _was_steered(self, place: int) -> bool:
        """Return whether a message belongs to the previous turn: it was sent before the model answered."""
        turn = self._turn
        ended = turn is None or turn.reason is not None or self._was_killed or place in self._numbers
        return isinstance(self._last, ToolMessage) and not ended

    def _begin(self, place: int) -> None:
        self.end()
        before = self._turn
        number = before.number + 1 if before is not None else 1
        # A steering message after the answer looks like a separate turn.
        traffic = self._numbers.get(place, before.traffic if before is not None else 0)
        self._turn = TurnSpan(number, "", 0, 0, traffic=traffic, past=True, place=place)
        self._step = None
        self._calls.clear()
        self._at_limit = self._was_killed = False
        self.entries.append(self._turn)

    def end(self) -> None:
        """Add a note on how the turn ended, if there is none."""
        turn, last = self._turn, self._last
        if turn is None or turn.reason is not None or not isinstance(last, AssistantMessage) or last.calls:
            return
        self._ended(turn, EndReason.LIMIT if self._at_limit else EndReason.ANSWERED)

    def _ended(self, turn: TurnSpan, reason: EndReason) -> None:
        turn.reason = reason
        if (note := ended_note(turn.number, reason, self.entries[-1])) is not None:
            self.entries.append(note)

    def _reply(self, turn: TurnSpan, message: AssistantMessage) -> None:
        turn.steps += 1
        turn.model = clean_line(message.model, 64)
        self._step = StepSpan(
            turn.number,
            turn.steps,
            0,
            StepState.CANCELLED if message.partial else StepState.DONE,
            ms=message.seconds * 1000 or None,
            usage=message.usage,
            chars=len(message.text) + len(message.reasoning),
            calls=len(message.calls),
            final=self._at_limit,
        )
        self.entries.append(self._step)
        if message.usage is not None:
            turn.usage = turn.usage + message.usage
        for call in message.calls:
            self._call(turn, call)

    def _call(self, turn: TurnSpan, call: CallRequest) -> None:
        turn.calls += 1
        server, joint, tool = call.name.partition("__")
        span = CallSpan(
            turn.number,
            turn.steps,
            call.id,
            clean_line(server, 64) if joint else "",
            clean_line(tool if joint else call.name, 128),
            argument_lines(_arguments(call.arguments)),
            0,
            CallState.NOT_RUN,
        )
        self._calls[call.id] = span
        self.entries.append(span)

    def _result(self, message: ToolMessage) -> None:
        call = self._calls.get(message.call_id)
        if call is None:
            return
        call.state = CALL_ENDS.get(why_of(message), CallState.FAILED) if message.is_error else CallState.DONE
        call.why = clean_line(message.why) if message.why != call.state else ""
        call.ms = message.seconds * 1000 or None
        call.result = result_preview(plain_reason(message.text, message.why))
        if message.why == "unknown tool":
            call.server, call.tool = "", clean_line(message.name, 128)
        self._was_killed = self._was_killed or message.text in (UNKNOWN_OUTCOME, NEVER_SENT)

    def remark(self, remark: Remark) -> None:
        turn = self._turn
        if turn is None:
            return
        match remark.kind:
            case "limit":
                self._at_limit = True
                text = f"limit {clean_line(remark.text, 64)} {remark.value:g} reached"
                self.entries.append(NoteSpan(turn.number, NoteKind.LIMIT, text))
            case "error":
                if self._step is not None and self._step.state is StepState.CANCELLED:
                    self._step.state = StepState.FAILED
                self.entries.append(error_note(turn.number, remark.where, remark.text))
            case "end" if turn.reason is None and remark.text in EndReason.__members__.values():
                self._ended(turn, EndReason(remark.text))


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text) if len(text) <= MOST_ARGUMENTS else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
