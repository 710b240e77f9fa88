"""Sends recorded requests to their servers again, unchanged or edited, and selects the new entries."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tui.core.background import Tasks
from tui.core.language.translate import N_, _, localized, sentences
from tui.core.text import clean_line, mapping
from tui.core.traffic import Kind
from tui.traffic.filter.fields import Or
from tui.traffic.filter.query import parse
from tui.traffic.record.column_parts import mark_of, places_of
from tui.traffic.record.open_recording import whole_entry
from tui.traffic.record.resending import MOST_SENT, ResendRequest, read, refusal
from tui.ui.traffic.active_filter import ActiveFilter
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_loader import in_time

if TYPE_CHECKING:
    from tui.core.tools import Tool
    from tui.runtime.runtime import Runtime
    from tui.traffic.spans.span_values import Span

MOST_EDITED = 256 * 1024
"""Maximum bytes of params that can be edited."""


@dataclass(frozen=True, slots=True)
class LiveRun:
    """The running program behind live traffic; a recording from a file has none.

    `confirmed` are the destructive tools that the user has confirmed, by server and item. `open_form` opens
    the form of a tool in its server's workbench, filled with arguments.
    """

    runtime: "Runtime"
    next_call_id: Callable[[], str]
    confirmed: set[tuple[str, str]]
    spans: "Callable[[], Sequence[Span]]"
    open_form: Callable[[str, str, Any], None] = lambda server, tool, arguments: None


@dataclass(slots=True)
class _Sent:
    """A request that was sent: its call id, the number of entries before it, its index once it is recorded.

    `is_shown` once the cursor is on it. `widened` is the filter that was widened for it, or "".
    """

    call: str
    after: int
    request: int = -1
    is_shown: bool = False
    widened: str = ""


class Resender:
    """Sends the selected request again; without a live run, it says why it cannot."""

    def __init__(self, live: LiveRun | None, list: EntryList, tasks: Tasks, active: ActiveFilter) -> None:
        self._live, self._list, self._entries = live, list, list.entries
        self._tasks, self._active_filter = tasks, active
        self._sent: _Sent | None = None  # the request to which the cursor should move

    async def resend(self) -> None:
        if (request := await self._request()) is not None:
            self._confirm(request, again=True)

    async def edit(self) -> None:
        from tui.ui.traffic.edit_request import EditRequest, edited, shown

        if (request := await self._request()) is None:
            return

        def done(params: Mapping[str, Any] | None) -> None:
            if params is not None:
                self._confirm(replace(request, params=edited(request.params, params)))

        if len(json.dumps(request.params)) > MOST_EDITED:
            self._list.notify(_("Too large to edit here."), timeout=4)
        else:
            check = partial(self._check, request)
            title = ((f"{_('EDIT AND RESEND')}  ", "text bold"), (request.label, "text"))
            note = _("from entry {seq}", seq=request.seq)
            dialog = EditRequest(title, note, shown(request.params), check)
            self._list.app.push_screen(dialog, done)

    async def open_form(self) -> None:
        """Fill the call's arguments into its tool's form, in the workbench of its server."""
        request = await self._request()
        if request is not None and not request.tool:
            words = _("Only tool calls have a form. Press e to edit the params as JSON.")
            self._list.notify(words, timeout=4)
        elif request is not None and self._live is not None:
            self._live.open_form(request.server, request.tool, request.params.get("arguments", {}))

    async def _request(self) -> ResendRequest | None:
        """Return the selected request, or that of the selected response; show why it cannot be sent."""
        entries, index = self._entries, self._list.index if self._list.chosen() else -1
        if index < 0:
            return None
        if entries.kind[index] != Kind.REQUEST and (partner := entries.partner(index)) >= 0:
            index = partner if entries.kind[partner] == Kind.REQUEST else index
        problem = _("A recording has no server to send to.")
        if self._live is not None:
            problem = localized(refusal(entries, index, self._live.runtime.host.statuses()))
        if not problem:
            seq = entries.seq(index)
            ask = self._list.reader.ask
            found = await in_time(ask(lambda reader: whole_entry(reader, seq, MOST_SENT + 1)))
            request = found if isinstance(found, str) else read(found)
            if isinstance(request, ResendRequest):
                return request
            problem = localized(request)
        self._list.notify(problem, timeout=5)
        return None

    def _tool(self, request: ResendRequest) -> "Tool | None":
        tools = self._live.runtime.workbench.tools(request.server) if self._live is not None else ()
        return next((each for each in tools if each.name == request.tool), None)

    async def _check(self, request: ResendRequest, params: Mapping[str, Any]) -> str:
        """Return how params violate the schema of the called tool, or ""."""
        tool, arguments = self._tool(request), params.get("arguments", {})
        if self._live is None or tool is None or params.get("name") != tool.name:
            return ""
        is_object = isinstance(arguments, dict)
        return await self._live.runtime.workbench.check(tool, arguments) if is_object else ""

    def _confirm(self, request: ResendRequest, *, again: bool = False) -> None:
        """Send a request, after a question if it may change something.

        Asks every time with `again`, otherwise once per destructive tool.
        """
        from tui.core.permission.rules import Verdict
        from tui.ui.dialogs.confirm import Confirm, call_after, confirm_call

        live = self._live
        if live is None:
            return
        tool = self._tool(request)
        repeats = again and request.method == "tools/call" and not (tool and tool.read_only and tool.trusted)
        given = request.params.get("arguments")
        called = (request.server, request.tool, mapping(given))
        rule = live.runtime.turn_context.policy.rules.deciding(*called) if request.tool else None
        rule = None if rule is None or rule.action is Verdict.ALLOW else rule
        destructive = tool is not None and tool.destructive is True
        may = N_("{tool} may change something.")
        if destructive:
            may = N_("{tool} may delete or overwrite data, according to the server.")
        warning = _(may, tool=clean_line(request.tool, 60))
        confirmed = (request.server, f"tool {request.tool}")
        is_first = not (repeats or rule) and destructive and confirmed not in live.confirmed
        question: Confirm | None = None
        if repeats or rule is not None:
            if rule is not None:
                applies = _("This rule applies to the call: {rule}.", rule=clean_line(str(rule), 200))
                warning = sentences(warning, applies)
            if repeats:
                again_words = _("The request was already sent. Sending it again may repeat its effect.")
                warning = sentences(warning, again_words)
            question = confirm_call(warning, given or {}, N_("send again") if repeats else N_("send"))
        elif is_first:
            question = confirm_call(warning, given or {})

        def send() -> None:
            if is_first:
                live.confirmed.add(confirmed)
            self._sent = _Sent(live.next_call_id(), len(self._entries))
            self._tasks.start(self._send(live, request, self._sent.call), self._sent.call)

        call_after(question, self._list.app, live.runtime, called if request.tool else None, send)

    async def _send(self, live: LiveRun, request: ResendRequest, call: str) -> None:
        answer = await live.runtime.workbench.request(
            request.server,
            request.method,
            request.params,
            call=call,
            seconds=live.runtime.turn_context.limits.call_timeout,
        )
        if answer.problem:
            self._list.notify(answer.problem, severity="warning", timeout=8)

    def look(self) -> None:
        """Select the sent request once it is recorded, then its response."""
        sent, entries = self._sent, self._entries
        if sent is None:
            return
        if sent.request < 0:
            found = places_of(entries.call, mark_of(sent.call), sent.after, len(entries))
            is_it = (at for at in found if entries.kind[at] == Kind.REQUEST and not entries.turn[at])
            sent.request = next(is_it, -1)
        if sent.request < 0:
            return
        if not sent.is_shown:
            self._show(sent)
        elif self._list.selected != entries.seq(sent.request):
            self._sent = None  # the user has selected something else
        elif (answer := entries.partner(sent.request)) >= 0 and self._list.select(entries.seq(answer)):
            self._sent = None

    def _show(self, sent: _Sent) -> None:
        """Select the sent request, widening a filter that hides it."""
        self._list.following = False
        if self._list.select(self._entries.seq(sent.request)):
            sent.is_shown = True
            return
        query = self._active_filter.query
        if query.root is None or sent.widened not in ("", query.text):
            self._sent = None  # the request is folded or sorted away, or the user has set another filter
        elif not sent.widened and self._active_filter.view.is_done:
            text = query.text if isinstance(query.root, Or) else f"({query.text})"
            wider = parse(f"{text} or call:{sent.call}")
            sent.widened = wider.text
            said = N_("Sent. The filter now also shows call:{call}.")
            if not wider.is_sound:  # the widened filter is too long
                said = N_("Sent, but hidden by the filter. Filter with call:{call} to find it.")
            self._active_filter.apply(wider)
            self._list.notify(_(said, call=sent.call), timeout=5)
