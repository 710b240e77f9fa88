"""The way from the conversation to what travelled, and back: the part of the app that opens the traffic."""

import os
from typing import TYPE_CHECKING, Any

from tui.ui.app.shell import Shell
from tui.ui.keys.actions import Context
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.traffic import Cause
    from tui.runtime.runtime import Runtime
    from tui.traffic.spans.entries import CallSpan, Span
    from tui.traffic.spans.spans import Spans
    from tui.ui.traffic.entry_list import TrafficTail
    from tui.ui.traffic.resender import LiveRun
    from tui.ui.workbench.calls import CallBook


ELSEWHERE = "Its traffic is in the recording of an earlier run. `mcptui traffic --list` lists recordings."
NO_CALLS = "No calls yet"


def filter_of(cause: "Cause") -> str:
    """Return the filter that lets through what travelled for a turn, a step or a call."""
    from tui.traffic.filter.nodes import written

    if cause.call:
        return f"turn:{cause.turn} call:{written(cause.call)}"
    return f"turn:{cause.turn} step:{cause.step}" if cause.step else f"turn:{cause.turn}"


class Wire(Shell):
    """Opens the traffic, and goes to the turn that a frame belongs to."""

    runtime: "Runtime"
    spans: "Spans"
    traffic_place: tuple[str, int] = ("", 0)
    """Filter and entry to which the next opening of the traffic comes back."""

    call_book: "CallBook | None" = None
    """The calls made by hand so far; there is none before the first workbench, or traffic, is opened."""

    def show_traffic(self, filter: str = "") -> None:
        """Show the traffic, as far as a filter lets it through."""
        from tui.ui.traffic.screen import TrafficScreen

        if self.runtime.is_ready and self.screen is self.main:
            place = ("", 0) if filter else self.traffic_place
            screen = TrafficScreen(
                self.runtime.recording, self.overrides, filter, live=self.live_run(), place=place
            )

            def left(cause: "Cause | None") -> None:
                # Who goes to a turn comes back to where they were reading.
                self.traffic_place = (screen.filtering.query.text, screen.list.selected) if cause else ("", 0)
                self._go_to_turn(cause)

            self.push_screen(screen, left)

    def live_run(self) -> "LiveRun":
        """Return what stands behind the traffic of this run."""
        from tui.ui.traffic.resender import LiveRun
        from tui.ui.workbench.calls import CallBook

        if self.call_book is None:
            self.call_book = CallBook()
        book = self.call_book
        return LiveRun(self.runtime, book.next_id, book.confirmed, lambda: self.spans.entries, self.open_form)

    def open_form(self, server: str, tool: str, arguments: Any) -> None:
        """Open the workbench of a server with the form of a tool and these arguments in it."""
        raise NotImplementedError

    def action_traffic_open(self) -> None:
        """Show the traffic of everything."""
        self.show_traffic()

    def action_traffic_of_call(self) -> None:
        """Show what travelled for what the trace's cursor stands on, or for the conversation's call."""
        span = self.trace.selected if self.focus_context is Context.TRACE else self._call()
        if span is None:
            self.notify(NO_CALLS, timeout=3)
        elif not self._was_recorded(span):
            self.notify(ELSEWHERE, timeout=8)
        else:
            self.show_traffic(filter_of(self.spans.cause_of(span)))

    def _was_recorded(self, span: "Span") -> bool:
        """Whether an entry is of a turn of this run, whose recording has its traffic, if there was any."""
        return not self.spans.turn_of(span).past or self.spans.cause_of(span).turn > 0

    def _call(self) -> "CallSpan | None":
        from tui.traffic.spans.entries import CallSpan

        call = self.conversation.selected_call
        calls = (span for span in reversed(self.spans.entries) if isinstance(span, CallSpan))
        return next((span for span in calls if span.id == call), None)

    def _go_to_turn(self, cause: "Cause | None") -> None:
        if cause is None:
            return
        if self.trace.go_to_turn(cause.turn, cause.step):
            self.go_to(Context.TRACE)
        else:
            self.notify("It belongs to a turn of another conversation.", timeout=4)

    def action_traffic_tail(self) -> None:
        """Show or hide the newest of the traffic under the conversation."""
        from tui.ui.traffic.entry_list import TrafficTail

        if found := self.main.query(TrafficTail):
            found.first().remove()
        elif self.runtime.is_ready:
            tail = TrafficTail(self.runtime.recording, symbols_for(os.environ))
            self.main.mount(tail, after=self.rule_composer)

    def on_traffic_tail_opened(self, event: "TrafficTail.Opened") -> None:
        """Show the whole list."""
        self.show_traffic()
