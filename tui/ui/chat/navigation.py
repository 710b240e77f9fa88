"""Opens the other screens: workbench, traffic, results, logs and rules."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.addons import brought, service
from tui.core.conversation.conversation import Attachment, Message, ToolMessage, UserMessage
from tui.core.language.translate import N_, _, localized, message
from tui.core.library_imports import importing
from tui.core.text import clean_line
from tui.core.traffic import Cause
from tui.traffic.filter.fields import written
from tui.traffic.spans.span_values import CallSpan, CallState, Span, StepSpan, TurnSpan
from tui.ui.chat.composer.pastes import Reference
from tui.ui.chat.regions import Regions
from tui.ui.chat.transcript.blocks import result_of
from tui.ui.keys.action_table import OPENERS, Action, Context, action
from tui.ui.keys.bindings import first_key

if TYPE_CHECKING:
    from tui.core.ports import ApprovalRequest
    from tui.core.tools import LinkContent
    from tui.runtime.runtime import Runtime
    from tui.ui.results.message_draft import ResultSource
    from tui.ui.traffic.screen import TrafficScreen
    from tui.ui.workbench.calls import BenchHistory
    from tui.ui.workbench.screen import ServerScreen

AT_ONCE = frozenset(
    f"traffic.{name}"
    for name in (
        *("filter", "filters", "search", "stats", "waterfall", "export", "setup", "time"),
        *(f"sort_{column}" for column in ("time", "server", "kind", "method", "size", "latency")),
    )
)
"""Actions of the traffic screen that work at once, whatever is selected."""

OF_WORKBENCH = ("kept calls", "tests tab", "watch line")
"""Services of add-ons for the workbench."""

NEVER_SENT = (CallState.DENIED, CallState.NOT_RUN)

_RECORDING_GONE = N_("The recording of that run was deleted.")
SELECT_THERE = message("Select a call in the conversation or the trace first.")


def never_sent(call: CallSpan) -> str:
    """Return why nothing is known about a call of `NEVER_SENT`."""
    if call.state is CallState.DENIED:
        return _("This call was denied, so nothing was sent.")
    return _("This call was not run, so nothing was sent.")


def filter_of(cause: Cause) -> str:
    """Return the filter for the traffic of a turn, a step or a call."""
    if cause.call:
        return f"turn:{cause.turn} call:{written(cause.call)}"
    return f"turn:{cause.turn} step:{cause.step}" if cause.step else f"turn:{cause.turn}"


def _is_part(call: CallSpan, span: Span) -> bool:
    if isinstance(span, CallSpan):
        return call is span
    if isinstance(span, StepSpan):
        return (call.turn, call.step) == (span.turn, span.number)
    return call.turn == (span.number if isinstance(span, TurnSpan) else span.turn)


class Navigator:
    """Opens other screens, and is the `MessageDraft` into which they put results."""

    def __init__(self, runtime: "Runtime", regions: Regions) -> None:
        self._runtime = runtime
        self._regions = regions
        self._app = regions.screen.app
        self._spans = regions.trace.spans
        self._place = ("", 0)  # filter and entry to restore when the traffic screen is opened again
        self._expects_server = False

    @cached_property
    def call_book(self) -> "BenchHistory":
        from tui.ui.workbench.calls import BenchHistory

        return BenchHistory()

    async def open_screen_of(self, found: Action) -> None:
        """Open the screen of an action and run it. If it needs a selection there, name its key instead."""

        def name_key() -> None:
            if found.context in getattr(self._app.screen, "CONTEXTS", ()):
                what = re.split(r"\. |。", _(found.help))[0]
                key = first_key(self._regions.overrides.keys_of(found))
                action = f"{what[:1].lower()}{what[1:]}"
                self._app.notify(_("Press {key} to {action}.", key=key, action=action), timeout=6)

        if found.id in AT_ONCE:
            self.open_traffic(then=found.method)
            return
        await self._app.run_action(action(OPENERS[found.context]).method)
        self._app.screen.call_after_refresh(name_key)

    def open_rules(self, request: "ApprovalRequest | None" = None) -> None:
        """Open the rules. The call of an approval is tried at once."""
        from tui.ui.permission.rules import RulesScreen

        self._regions.open_dialog(RulesScreen(self._runtime, self._regions.overrides, request))

    def open_events(self) -> None:
        """Open the events of all servers. Raises ConfigError without their add-on."""
        screen = brought("service", "list of events")
        if self._runtime.is_ready:
            self._regions.open_dialog(screen(self._runtime, self))

    def open_log(self, server: str = "") -> None:
        """Open the log of a server, by default the selected one."""
        from tui.ui.workbench.log_screen import LogScreen

        if server := server or self._regions.servers.selected or "":
            self._regions.open_dialog(LogScreen(self._runtime.host, server))

    def open_form(self, server: str, name: str, arguments: Any, *, prompt: bool = False) -> None:
        from tui.ui.workbench.items import item_key

        key = item_key("prompt" if prompt else "tool", name)
        below = self._open_workbench()
        if below is not None and (why := below.stays()):
            self._app.notify(_(why), timeout=4)
        else:
            self._regions.start(self._open_form(below, server, key, arguments), "open a form")

    async def _open_form(self, below: "ServerScreen | None", server: str, key: str, arguments: Any) -> None:
        """Open a form, in place of the open workbench and of the traffic over it."""
        while below in self._app.screen_stack:  # its forms are stored as drafts before this one is
            await self._app.screen.dismiss(None)
        self.call_book.drafts[server, key] = arguments, ""
        self.open_server(server, key)

    def _open_workbench(self) -> "ServerScreen | None":
        from tui.ui.workbench.screen import ServerScreen

        return next((one for one in self._app.screen_stack if isinstance(one, ServerScreen)), None)

    def expect_server(self) -> None:
        """Import the workbench in a thread, once, because the next key may open it and would have to wait."""

        def load() -> None:
            with importing():
                import_module("tui.ui.workbench.screen")
                for name in OF_WORKBENCH:
                    service(name)

        if not self._expects_server:
            self._expects_server = True
            self._regions.start(asyncio.to_thread(load), "import the workbench")

    def open_server(self, server: str = "", item: str = "") -> None:
        """Open the workbench of a server, by default the selected one."""
        from tui.ui.workbench.screen import ServerScreen

        server = server or self._regions.servers.selected or ""
        if not server or not self._runtime.is_ready or self._open_workbench() is not None:
            return
        self._app.push_screen(
            ServerScreen(
                self._runtime,
                server,
                self._regions.overrides,
                self.call_book,
                draft=self,
                show_traffic=self._open_traffic_over,
                item=item,
            )
        )

    def tell_user(self, server: str, text: str) -> None:
        """Say what happened to a server, unless its workbench is on top, which shows it."""
        if getattr(self._app.screen, "server", None) != server:
            name = clean_line(server, 60)
            self._app.notify(_("{where}: {problem}", where=name, problem=localized(text)), timeout=6)

    # ---- traffic ----

    def open_traffic(self, filter: str = "", then: str = "") -> None:
        """Open the traffic with a filter; `then` is an action to run in that screen."""
        if not self._regions.is_on_top:
            return
        place = ("", 0) if filter else self._place
        screen = self._traffic_screen(filter, place=place, then=then)

        def left(cause: Cause | None) -> None:
            # After going to a turn, the screen opens where the user left it.
            self._place = (screen.active_filter.query.text, screen.list.selected) if cause else ("", 0)
            self._go_to_turn(cause)

        self._app.push_screen(screen, left)

    def _open_traffic_over(self, filter: str, path: Path | None = None) -> None:
        """Open the traffic over the workbench, which is closed when the user goes to a turn.

        With a path, that of an earlier run.
        """
        below = self._app.screen
        if path is not None:
            self._open_recorded(path, filter)
            return

        def back(cause: Cause | None) -> None:
            if cause is not None and self._app.screen is below:
                self._app.pop_screen()
            self._go_to_turn(cause)

        if below is self._open_workbench():
            self._app.push_screen(self._traffic_screen(filter), back)

    def _traffic_screen(self, filter: str, **options: Any) -> "TrafficScreen":
        from tui.ui.traffic.resender import LiveRun
        from tui.ui.traffic.screen import TrafficScreen

        runtime, book = self._runtime, self.call_book
        live = LiveRun(runtime, book.next_id, book.confirmed, lambda: self._spans.entries, self.open_form)
        return TrafficScreen(runtime.recording, self._regions.overrides, filter, live=live, **options)

    def open_traffic_of_call(self) -> None:
        """Open the traffic of the selected entry of the trace, or of the selection in the conversation."""
        if not self._regions.is_on_top:
            self._regions.notify(SELECT_THERE, timeout=4)
            return
        if self._regions.marked is self._regions.compared and self._regions.marked.marked_call:
            # The trace is that of the other column.
            self.open_traffic(f"call:{written(self._regions.marked.marked_call)}")
            return
        if self._regions.in_earlier():
            return
        span = self.selected
        if span is None:
            self._regions.notify(_("No turns yet"), timeout=3)
        elif isinstance(span, CallSpan) and span.state in NEVER_SENT:
            self._regions.notify(never_sent(span), timeout=5)
        elif self.is_earlier(span):
            # Only the turns of this run are in its recording.
            self._regions.start(self._open_earlier(span), "find a recording")
        else:
            self.open_traffic(filter_of(self._spans.cause_of(span)))

    @property
    def selected(self) -> Span | None:
        """The selected entry of the trace if it has the focus, otherwise that of the conversation."""
        in_trace = self._regions.focus_context is Context.TRACE
        return self._regions.trace.selected if in_trace else self._selected()

    def is_earlier(self, span: Span) -> bool:
        """Return whether an entry of the trace belongs to an earlier run, which has its own recording."""
        return self._spans.turn_of(span).past and not self._spans.cause_of(span).turn

    def turn_number(self, span: Span) -> int:
        """Return the turn of an entry of the trace, as the recording of this run counts it."""
        return self._spans.cause_of(span).turn

    async def earlier_recording(self, span: Span) -> tuple[Path, int] | None:
        """Return the recording of an earlier run with an entry of the trace, and the number of its turn."""
        from tui.runtime.recording_file import turn_in_recording

        conversations, turn = self._runtime.conversations, self._spans.turn_of(span)
        calls = [one.id for one in self._spans.entries if isinstance(one, CallSpan) and _is_part(one, span)]
        messages = conversations.messages[: turn.place + 1]
        questions = [message.text for message in messages if isinstance(message, UserMessage)]
        return await asyncio.to_thread(turn_in_recording, conversations.now.recordings, calls, questions)

    async def _open_earlier(self, span: Span) -> None:
        """Open the recording of an earlier run, for an entry of the trace."""
        found = await self.earlier_recording(span)
        if found is None:
            self._regions.notify(_(_RECORDING_GONE), timeout=6)
            return
        if not self._regions.is_on_top:
            return
        path, number = found
        self._open_recorded(path, filter_of(replace(self._spans.cause_of(span), turn=number)))

    def _open_recorded(self, path: Path, filter: str) -> None:
        """Open the recording of an earlier run."""
        from tui.runtime.recording_file import RecordingFile
        from tui.ui.traffic.screen import TrafficScreen

        if not path.is_file():
            self._regions.notify(_(_RECORDING_GONE), timeout=6)
            return
        recorded = RecordingFile(path, self._runtime.redactor.redact)
        recorded.start()
        screen = TrafficScreen(recorded.recording, self._regions.overrides, filter)

        def left(_: Cause | None) -> None:
            self._regions.start(asyncio.to_thread(recorded.close), "close a recording")

        self._app.push_screen(screen, left)
        screen.call_after_refresh(recorded.painted)

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the conversation with the selection: one of two, if answers are compared."""
        regions = self._regions
        is_left = regions.marked is regions.compared
        return regions.compared_messages if is_left else self._runtime.conversations.messages

    def question(self) -> int | None:
        """Return the index of the user message that is marked, or that the marked message answers."""
        found = self._regions.marked.marked_question
        if found is None or not self._runtime.is_ready:
            return None
        said, since = found
        places = [
            index
            for index, message in enumerate(self.messages)
            if isinstance(message, UserMessage) and message.text == said
        ]
        return places[-1 - since] if since < len(places) else None

    def _selected(self) -> Span | None:
        """Return the selected call, or the last call sent in the selected turn, or that turn."""
        marked = self._regions.marked.marked_call
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
            self._regions.notify(_("This turn belongs to another conversation."), timeout=4)

    def toggle_tail(self) -> None:
        from tui.ui.traffic.entry_list import TrafficTail

        screen = self._regions.screen
        if found := screen.query(TrafficTail):
            found.first().remove()
        else:
            tail = TrafficTail(self._runtime.recording)
            screen.mount(tail, after=self._regions.rule_composer)

    # ---- results ----

    def open_result(self) -> None:
        """Show the complete result of the selected call, or of the last one."""
        from tui.ui.results.result_screen import ResultScreen

        transcript = self._regions.marked
        call = transcript.selected_call
        card = transcript.cards.get(call)
        result = card.gave if card is not None else None
        if card is not None and result is None:
            conversations = self._runtime.conversations
            answers = (one for one in reversed(self.messages) if isinstance(one, ToolMessage))
            message = next((one for one in answers if one.call_id == call), None)
            if message is not None:
                result = result_of(message, conversations.result(message.kept) if message.kept else "")
        if card is None or result is None:
            self._regions.notify(_("No results yet."), timeout=3)
            return
        screen = ResultScreen(card.name, result, self._source(card.server))
        self._regions.open_dialog(screen)

    def open_link(self, server: str, link: "LinkContent") -> None:
        from tui.ui.results.result_screen import read_link

        if self._runtime.is_ready:
            read_link(self._app, self._source(server), link)

    def _source(self, server: str) -> "ResultSource":
        from tui.ui.results.message_draft import ResultSource

        return ResultSource(server, self._runtime.workbench, self)

    def put_into_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        composer = self._regions.composer
        before = composer.text.rstrip("\n")
        composer.show("")
        composer.put_foreign(text, *map(Reference.to_known, attachments))
        if before.strip():
            composer.show(f"{before}\n\n{composer.text}")
        self._regions.go_to(Context.COMPOSER)

    def send_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        self._regions.composer.send_foreign(text, *map(Reference.to_known, attachments))
        self._regions.go_to(Context.COMPOSER)

    def attach_resource(self, server: str, uri: str) -> None:
        self._regions.composer.attach(Reference.to_resource(server, uri))

    def attach(self, attachments: Sequence[Attachment]) -> None:
        self._regions.composer.attach(*map(Reference.to_known, attachments))
