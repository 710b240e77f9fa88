"""A turn of plain mode: its events as lines, and a line while nothing else is written."""

import time
from collections.abc import Callable

from tui.addons.plain.transcript import (
    CALL,
    ERROR,
    PROGRESS,
    PROGRESS_SECONDS,
    RESULT,
    Stream,
    Transcript,
)
from tui.commands.run_output import REFUSED, marked
from tui.core import events
from tui.core.errors import McptuiError, composed, sentences
from tui.core.events import EndReason, Event
from tui.core.language.restored import restored_lines
from tui.core.language.translate import N_, _, localized
from tui.core.ports import ANSWER_WORDS, RetryPart, TextPart
from tui.core.text import clean_line
from tui.core.turn.prepared_calls import shown_end
from tui.core.turn.turn_endings import END_WORDS, LIMIT_SENTENCES
from tui.core.units import clock, duration
from tui.runtime.turn import PendingTurn

_WORDS = {"→": CALL, "✓": RESULT, "✗": ERROR, "!": ERROR}
_AWAITED = {
    events.StepStarted: N_("Waiting for the model"),
    events.ToolCallStarted: N_("Waiting for the result of the call"),
    RetryPart: N_("Waiting for the model"),
    **dict.fromkeys(
        (events.StepEnded, events.TurnError, events.TurnEnded, events.ApprovalAsked, events.ToolCallEnded), ""
    ),
}
"""By event, what the line of progress says after it; "" shows no line."""


class TurnLines:
    """Writes the events of a turn. `announce` gets the id of a call before the user is asked about it."""

    def __init__(self, transcript: Transcript, announce: Callable[[str], None]) -> None:
        self._transcript, self._announce = transcript, announce
        self._stream = Stream(transcript)
        self._awaited, self._since = "", time.monotonic()
        self._told_progress = 0.0

    @property
    def awaited(self) -> tuple[str, float]:
        """What the turn waits for, and since when; "" if something was shown lately."""
        is_heard = time.monotonic() - self._told_progress < 2 * PROGRESS_SECONDS
        return ("" if is_heard or not self._awaited else _(self._awaited)), self._since

    async def show(self, turn: PendingTurn) -> EndReason:
        """Write a turn until it ends, and return why it did."""
        self._transcript.begin_turn()
        reason = EndReason.MODEL_ERROR
        async for event in turn.events():
            self._show(event)
            if isinstance(event, events.TurnEnded):
                reason = event.reason
        return reason

    def _show(self, event: Event) -> None:
        if isinstance(event, TextPart):
            self._stream.feed(event.text)
            return
        if isinstance(event, events.StepStarted):
            self._transcript.begin_step()
        if isinstance(event, events.StepEnded | events.TurnError | events.TurnEnded):
            self._stream.end()
        if isinstance(event, events.ToolProgress):
            if time.monotonic() - self._told_progress < PROGRESS_SECONDS:
                return
            self._told_progress = time.monotonic()
        if isinstance(event, events.Waiting):
            self._awaited, self._since = N_("Waiting for a server or the model"), time.monotonic()
        if (awaited := _AWAITED.get(type(event))) is not None:
            self._awaited, self._since = awaited, time.monotonic()
        if isinstance(event, events.ApprovalAsked):
            self._announce(event.id)
        elif isinstance(event, events.ToolCallEnded):
            self._result(event)
        elif said := _said(event):
            self._transcript.say(*said)

    def _result(self, event: events.ToolCallEnded) -> None:
        mark, name = marked(event)
        text, warning = shown_end(event)
        text = restored_lines(text) if event.why and event.is_error else text
        if event.why in REFUSED:  # the text says so
            return self._transcript.say_long(_WORDS[mark], f"{name}: {text}")
        how = localized(event.why) or (_("failed") if event.is_error else _("done"))
        told = f"{name} {how}"
        if event.result is not None:
            told = _("{call} {how}, {time}", call=name, how=how, time=duration(event.ms))
        self._transcript.say(_WORDS[mark], told)
        if warning:
            self._transcript.say(_WORDS[mark], f"! {clean_line(localized(warning), 400)}")
        return self._transcript.say_long(_WORDS[mark], text)


def _said(event: Event) -> tuple[str, str] | None:
    """Return the first word and the text of the line for an event, None for no line."""
    match event:
        case events.StepEnded():
            return None
        case events.Notice(text) | events.Waiting(text) if text:
            return PROGRESS, localized(clean_line(text, 598))
        case events.TurnStarted(notice=text):
            return (PROGRESS, localized(clean_line(text, 300))) if text else None
        case events.ApprovalGiven(answer=answer):
            return CALL, _(ANSWER_WORDS[answer])
        case events.CallJudged(rule=rule):
            return (CALL, _("rule: {rule}", rule=clean_line(rule, 300))) if rule else None
        case events.LimitReached(limit=limit, value=value):
            return ERROR, composed("{text}.", text=LIMIT_SENTENCES[limit](value))
        case RetryPart(attempt, attempts, delay, reason):
            again = _(
                "Retrying in {time}, {number} of {all}.",
                time=clock(delay),
                number=attempt,
                all=attempts,
            )
            return PROGRESS, sentences(clean_line(reason, 160), again if delay else "")
        case events.TurnError(text, where, next_step):
            return ERROR, str(McptuiError(text, where=where, next_step=next_step))
        case events.TurnEnded(reason=EndReason.CANCELLED):
            return PROGRESS, END_WORDS[EndReason.CANCELLED]
        case events.TurnEnded(reason=EndReason.CUT | EndReason.FILTERED as reason):
            return ERROR, END_WORDS[reason]
    mark, text = marked(event)
    return (_WORDS.get(mark, PROGRESS), text) if text else None
