"""Shows the events of a turn in the transcript: the only connection between loop and screen."""

import math
import time
from collections.abc import Callable, Mapping, Sequence

from tui.core import events, units
from tui.core.context.tool_results import result_text
from tui.core.conversation.conversation import Remark
from tui.core.events import EndReason
from tui.core.language.translate import N_, _, localized, sentences
from tui.core.ports import ApprovalRequest, CallPart, ReasoningPart, RetryPart, TextPart
from tui.core.text import clean_line
from tui.core.tools import CallFailure, TextContent
from tui.core.turn.prepared_calls import shown_end
from tui.core.turn.turn_endings import remark_of, words_of
from tui.runtime.runtime import Runtime
from tui.ui.chat.regions import Regions
from tui.ui.chat.transcript.blocks import end_text, in_words, outcome, pieces_of
from tui.ui.chat.transcript.flow import Block
from tui.ui.widgets import times

END_HINTS: Mapping[str, str] = {
    EndReason.LIMIT: N_("Press {go_on} to continue with fresh limits."),
    EndReason.MODEL_ERROR: N_("Enter /retry to ask again."),
    EndReason.FILTERED: N_("Enter /retry to ask again."),
    EndReason.EMPTY: N_("Enter /retry to ask again."),
}
"""Next steps to suggest, by how the turn ended; `{go_on}` is a key."""

STALLED_SECONDS = 5
"""Seconds without data from the model after which this is shown."""

_OF_A_REPLY = (events.StepStarted, TextPart, ReasoningPart, CallPart)

_KINDS = {"error": "bad", "limit": "warn", "warn": "warn", "retry": "warn"}


def note_of(remark: Remark, go_on: str) -> tuple[str, str]:
    """Return the text of a remark, with keys in it, or "", and the kind of note: info, warn or bad."""
    hint = END_HINTS.get(remark.text, "") if remark.kind == "end" else ""
    return sentences(in_words(words_of(remark)), _(hint, go_on=go_on)), _KINDS.get(remark.kind, "info")


def ended_at_limit(remarks: Sequence[Remark], messages: int) -> bool:
    """Return whether the last turn of a conversation with this many messages ended at a limit."""
    last = remarks[-1] if remarks else None
    return last is not None and (last.place, last.kind, last.text) == (messages, "end", EndReason.LIMIT)


class Bridge:
    """Shows the events of turns.

    Attributes:
        step: the running step, 0 between turns.
        can_continue: whether the last turn ended at a limit.
        calls_begun: number of calls of this turn sent to servers, including running ones.
    """

    def __init__(
        self, runtime: Runtime, regions: Regions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._runtime = runtime
        self._view = regions.conversation
        self._key = regions.key_of
        self._clock = clock
        self._retry: tuple[float, RetryPart] | None = None
        self._label = ""
        self._cards: set[str] = set()
        self._asking: ApprovalRequest | None = None
        self._activity = ""
        self._answering, self._thinking = _("answering"), _("thinking")  # needed for each piece of a reply
        self._arrived_at: float | None = None  # while a reply is awaited: time of the last data of it
        self._reason = ""
        self._why: Block | None = None  # the note that explains the retry
        self._step_at: float | None = None
        self.step = 0
        self.can_continue = False
        self.calls_begun = 0

    @property
    def activity(self) -> str:
        """Text on the current activity, for the status line, with a countdown or the model's silence."""
        if self._retry is None:
            if not self.is_stalled:
                return self._activity
            return _(
                "no data for {time} · {key} stops · {activity}",
                time=times.clock(self._silent),
                key=self._key("chat.cancel"),
                activity=self._activity,
            )
        until, event = self._retry
        left = times.clock(max(0, math.ceil(until - self._clock())))
        return _(
            "attempt {n} of {all} in {time} · {key} stops · {reason}",
            n=event.attempt,
            all=event.attempts,
            time=left,
            key=self._key("chat.cancel"),
            reason=clean_line(localized(event.reason), 160),
        )

    @property
    def _silent(self) -> float:
        return self._clock() - self._arrived_at if self._arrived_at is not None else 0.0

    @property
    def is_stalled(self) -> bool:
        """Whether the model has sent nothing for so long that `activity` shows it."""
        return self._retry is None and self._silent >= STALLED_SECONDS

    @property
    def waits(self) -> bool:
        return self._retry is not None

    def apply(self, event: events.Event) -> None:
        self._retry = None
        if isinstance(event, _OF_A_REPLY):
            self._arrived_at = self._clock()
        elif not isinstance(event, events.Notice):
            self._arrived_at = None
        match event:
            case events.TurnStarted():
                self._begin(event)
            case events.TurnError():
                self._fail(event)
            case events.TurnEnded(reason=ending):
                self._stop_reply()
                self._forget_turn()
                self.can_continue = ending is EndReason.LIMIT
                self._note(event)
            case events.Waiting(message=message):
                self._activity = localized(message) or _("waiting for the model")
                self._view.show_waiting(localized(message))
            case events.Steered(text=text):
                self._view.end_reply(None)
                self._view.add_user(text)
            case events.LimitReached() | events.Notice():
                self._note(event)
            case _:
                self._apply_to_step(event)

    def _apply_to_step(self, event: events.Event) -> None:
        match event:
            case TextPart(text=text):
                self._view.begin_reply(self._label)
                self._activity = self._answering
                self._view.add_text(text)
            case ReasoningPart(text=text, replaces_text=replaces_text):
                self._view.begin_reply(self._label)
                self._activity = self._thinking
                self._view.add_reasoning(text, replaces_text)
            case events.StepStarted(step=step, final=final):
                self.step, self._step_at = step, self._clock()
                self._activity = _("requesting a final answer") if final else _("waiting for the model")
            case CallPart(name=name, size=size):
                self._activity = _(
                    "writing a call: {name} {size}", name=clean_line(name, 40), size=units.size(size)
                )
            case RetryPart(reason=reason, delay=delay):
                # A retry without delay has nothing to count down.
                self._retry = (self._clock() + delay, event) if delay else None
                if reason != self._reason:  # explained once, in full: the status line has too little room
                    self._reason, self._why = reason, self._note(event)
                at_once = "" if delay else f"   {clean_line(localized(reason), 160)}"
                self._activity = _("waiting for the model") + at_once
            case events.StepEnded(ms=ms, calls=calls):
                if calls:  # a reply without text also has a label
                    self._view.begin_reply(self._label)
                self._view.end_reply(
                    ms / 1000, self._runtime.model_notice if not calls else "", last=not calls
                )
            case _:
                self._apply_to_call(event)

    def _note(self, event: events.Event) -> Block | None:
        if (remark := remark_of(event, 0)) is not None:
            words, kind = note_of(remark, self._key("chat.continue"))
            if words:
                return self._view.add_note(words, kind)
        return None

    def question(self, request: ApprovalRequest | None) -> None:
        self._asking = request
        self._show_question()

    def abandon(self) -> None:
        """End a turn whose events ended without `TurnEnded`."""
        self._view.end_reply(None, partial=True)
        self._forget_turn()
        self._retry = None

    def _forget_turn(self) -> None:
        self._view.sign_reply()
        self._cards.clear()  # the next turn may reuse an id, and ask for approval before its first event
        self._activity, self.step = "", 0

    def _begin(self, event: events.TurnStarted) -> None:
        self._label = event.model
        self._cards.clear()
        self.calls_begun = 0
        self.can_continue = False
        self._reason, self._why = "", None
        self._activity = _("waiting for the model")
        self._note(event)

    def _fail(self, event: events.TurnError) -> None:
        self._activity = ""
        self._stop_reply()
        self._view.sign_reply()
        if self._why is not None and event.message == self._reason:  # the same reason, with the next step
            self._view.drop_note(self._why)
        self._note(event)

    def _stop_reply(self) -> None:
        """End a reply that stopped in the middle; the reason is shown below it."""
        took = self._clock() - self._step_at if self._step_at is not None else None
        self._view.end_reply(took, self._runtime.model_notice)

    def _apply_to_call(self, event: events.Event) -> None:
        view = self._view
        match event:
            case events.ToolCallProposed(id=call_id, server=server, tool=tool, arguments=arguments):
                self._view.end_reply(None, last=False)
                self._cards.add(call_id)
                view.add_call(call_id, server, tool, arguments, event.recovered)
            case events.CallJudged(id=call_id, rule=rule) if rule:
                view.show_rule(call_id, rule)
            case events.ApprovalAsked():
                self._show_question()
            case events.ApprovalGiven(id=call_id):
                view.set_call(call_id, "waiting")
            case events.ToolCallStarted(id=call_id):
                self._activity = _("waiting for a tool")
                self.calls_begun += 1
                view.set_call(call_id, "running")
            case events.ToolProgress(id=call_id):
                words = units.progress(event.progress, event.total, clean_line(event.message, 80).strip())
                view.set_call(call_id, "running", words, share=units.share(event.progress, event.total))
            case events.ToolCallEnded(id=call_id):
                warning = event.result.warning if event.result is not None else ""
                state, note = outcome(event.why, event.is_error, warning)
                if event.result is not None and any(pieces_of(event.result)):
                    view.give_result(call_id, event.result)
                view.set_call(
                    call_id, state, note=note, ms=event.ms or None, preview=_result_text(event, state)
                )

    def _show_question(self) -> None:
        """Show the visible question once its card is in the conversation."""
        if self._asking is not None and self._asking.call_id in self._cards:
            self._view.ask(self._asking)


def _result_text(event: events.ToolCallEnded, state: str) -> str:
    """Return the server's text, or what the model was told if the server sent none."""
    result = event.result
    if result is not None and result.failure is CallFailure.NONE:
        texts = [item.text for item in result.content if isinstance(item, TextContent)]
        if texts and len(texts) == len(result.content):
            return "\n".join(texts)
        if not all(item.annotations.for_model for item in result.content):
            return result_text(result)
    return end_text(shown_end(event)[0], event.why, state)
