"""Opens the traffic: all of it, or that of a turn, a step or a call, also of an earlier run."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tui.core.background import Tasks
from tui.core.conversation.conversation import UserMessage
from tui.core.traffic import Cause
from tui.traffic.filter.nodes import written
from tui.traffic.spans.span_values import CallSpan, CallState, Span, StepSpan, TurnSpan
from tui.traffic.spans.spans import Spans
from tui.ui.chat.regions import Regions
from tui.ui.keys.action_table import Context

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.runtime.runtime import Runtime
    from tui.ui.traffic.resender import LiveRun
    from tui.ui.traffic.screen import TrafficScreen

NOT_KEPT = "The recording of that run was deleted."
NO_TURNS = "No turns yet"

NEVER_SENT = (CallState.DENIED, CallState.NOT_RUN)

SELECT_THERE = "Select a call in the conversation or the trace first."


def filter_of(cause: Cause) -> str:
    """Return the filter for the traffic of a turn, a step or a call."""
    if cause.call:
        return f"turn:{cause.turn} call:{written(cause.call)}"
    return f"turn:{cause.turn} step:{cause.step}" if cause.step else f"turn:{cause.turn}"


def _is_part(call: CallSpan, span: Span) -> bool:
    match span:
        case CallSpan():
            return call is span
        case StepSpan():
            return (call.turn, call.step) == (span.turn, span.number)
        case TurnSpan():
            return call.turn == span.number
        case _:
            return call.turn == span.turn


class TrafficNavigator:
    """Opens the traffic. `live` returns the running program, for what is sent again."""

    def __init__(
        self, runtime: "Runtime", regions: Regions, spans: Spans, live: Callable[[], "LiveRun"]
    ) -> None:
        self._runtime = runtime
        self._regions = regions
        self._app = regions.screen.app
        self._spans = spans
        self._live = live
        self._place = ("", 0)  # filter and entry to restore when the traffic screen is opened again
        self._tasks = Tasks()

    def open(self, filter: str = "", then: str = "") -> None:
        """Open the traffic with a filter; `then` is an action to run in that screen."""
        if not self._regions.is_on_top:
            return
        place = ("", 0) if filter else self._place
        screen = self._screen(filter, place=place, then=then)

        def left(cause: Cause | None) -> None:
            # After going to a turn, the screen opens where the user left it.
            self._place = (screen.active_filter.query.text, screen.list.selected) if cause else ("", 0)
            self._go_to_turn(cause)

        self._app.push_screen(screen, left)

    def open_over(self, below: "Screen[Any]", filter: str) -> None:
        """Open the traffic over a workbench, which is closed when the user goes to a turn."""

        def back(cause: Cause | None) -> None:
            if cause is not None and self._app.screen is below:
                self._app.pop_screen()
            self._go_to_turn(cause)

        if self._app.screen is below:
            self._app.push_screen(self._screen(filter), back)

    def _screen(self, filter: str, **options: Any) -> "TrafficScreen":
        from tui.ui.traffic.screen import TrafficScreen

        recording, overrides = self._runtime.recording, self._regions.overrides
        return TrafficScreen(recording, overrides, filter, live=self._live(), **options)

    def open_of_call(self) -> None:
        """Open the traffic of the selected entry of the trace, or of the selection in the conversation."""
        if not self._regions.is_on_top:
            self._regions.notify(SELECT_THERE, timeout=4)
            return
        in_trace = self._regions.focus_context is Context.TRACE
        span = self._regions.trace.selected if in_trace else self._selected()
        if span is None:
            self._regions.notify(NO_TURNS, timeout=3)
        elif isinstance(span, CallSpan) and span.state in NEVER_SENT:
            self._regions.notify(f"This call was {span.state}, so nothing was sent.", timeout=5)
        elif self._spans.turn_of(span).past and not self._spans.cause_of(span).turn:
            # Only the turns of this run are in its recording.
            self._tasks.start(self._open_earlier(span), "find a recording")
        else:
            self.open(filter_of(self._spans.cause_of(span)))

    async def _open_earlier(self, span: Span) -> None:
        """Open the recording of an earlier run, for an entry of the trace."""
        from tui.runtime.recording_file import RecordingFile, turn_in_recording
        from tui.ui.traffic.screen import TrafficScreen

        conversations, turn = self._runtime.conversations, self._spans.turn_of(span)
        calls = [one.id for one in self._spans.entries if isinstance(one, CallSpan) and _is_part(one, span)]
        messages = conversations.messages[: turn.place + 1]
        questions = [message.text for message in messages if isinstance(message, UserMessage)]
        found = await asyncio.to_thread(turn_in_recording, conversations.now.recordings, calls, questions)
        if found is None:
            self._regions.notify(NOT_KEPT, timeout=6)
            return
        if not self._regions.is_on_top:
            return
        path, number = found
        recorded = RecordingFile(path, self._runtime.redactor.redact)
        recorded.start()
        filter = filter_of(replace(self._spans.cause_of(span), turn=number))
        screen = TrafficScreen(recorded.recording, self._regions.overrides, filter)

        def left(_: Cause | None) -> None:
            self._tasks.start(asyncio.to_thread(recorded.close), "close a recording")

        self._app.push_screen(screen, left)
        screen.call_after_refresh(recorded.painted)

    def question(self) -> int | None:
        """Return the index of the user message that is marked, or that the marked message answers."""
        transcript = self._regions.conversation
        label = transcript.marked_label
        found = transcript.question_of(label) if label is not None else None
        if found is None or not self._runtime.is_ready:
            return None
        said, since = found
        places = [
            index
            for index, message in enumerate(self._runtime.conversations.messages)
            if isinstance(message, UserMessage) and message.text == said
        ]
        return places[-1 - since] if since < len(places) else None

    def _selected(self) -> Span | None:
        """Return the selected call, or the last call sent in the selected turn, or that turn."""
        marked = self._regions.conversation.marked_call
        calls = [span for span in reversed(self._spans.entries) if isinstance(span, CallSpan)]
        if marked:
            return next((span for span in calls if span.id == marked), None)
        turns = [span for span in reversed(self._spans.entries) if isinstance(span, TurnSpan)]
        place = self.question() if turns else None
        numbers = self._runtime.conversations.now.turn_numbers
        asked = (
            span
            for span in turns
            if place is not None and (span.place == place or numbers.get(place, -1) == span.traffic)
        )
        turn = next(asked, turns[0] if turns else None)
        sent = (span for span in calls if span.state not in NEVER_SENT)
        return next((span for span in sent if turn is not None and span.turn == turn.number), turn)

    def _go_to_turn(self, cause: Cause | None) -> None:
        if cause is None:
            return
        if self._regions.trace.go_to_turn(cause.turn, cause.step):
            self._regions.go_to(Context.TRACE)
        else:
            self._regions.notify("This turn belongs to another conversation.", timeout=4)

    def toggle_tail(self) -> None:
        from tui.ui.traffic.entry_list import TrafficTail

        screen = self._regions.screen
        if found := screen.query(TrafficTail):
            found.first().remove()
        else:
            tail = TrafficTail(self._runtime.recording, self._regions.symbols)
            screen.mount(tail, after=self._regions.rule_composer)
