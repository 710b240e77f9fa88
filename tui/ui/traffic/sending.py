"""Requests of the recording sent again to their servers, as they were or edited, and their answers found."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.core.traffic import Kind
from tui.traffic.record.entry_columns import mark_of
from tui.ui.dialogs.confirm import ConfirmCall
from tui.ui.traffic.exporting import Exporting
from tui.ui.traffic.loading import whole
from tui.ui.traffic.resend import MOST_EDITED, MOST_SENT, Again, edited, read, refusal
from tui.ui.traffic.session import Session

READ_SECONDS = 2.0
"""So long a key waits for the store."""

RECORDED = "This is a recording: there is no server behind it to send anything to."


@dataclass(slots=True)
class _Sent:
    """A request on its way.

    Attributes:
        call: its id.
        after: how many entries there were before it.
        request: index of its entry, -1 while it is not recorded.
    """

    call: str
    after: int
    request: int = -1


class Sending(Exporting):
    """The doing of the keys that send; the screen supplies what they act on."""

    _sent: _Sent | None = None
    """The request that the cursor is to follow."""

    # ---- what is sent ----

    async def action_traffic_resend(self) -> None:
        """Send the request again, as it was."""
        again = await self._again()
        if again is not None:
            self._confirm(again)

    async def action_traffic_edit(self) -> None:
        """Edit the params of the request and send it."""
        from tui.ui.traffic.edit_request import EditRequest

        again = await self._again()
        if again is None or self.session is None:
            return
        if len(json.dumps(again.params)) > MOST_EDITED:
            self.notify("It is too large to be edited here.", timeout=4)
            return

        def done(params: Mapping[str, Any] | None) -> None:
            if params is not None:
                self._confirm(replace(again, params=edited(again.params, params)))

        self.app.push_screen(EditRequest(again, self._check(again)), done)

    async def action_traffic_form(self) -> None:
        """Put the arguments of the call into the form of its tool, in the workbench of its server."""
        again = await self._again()
        if again is None or self.session is None:
            return
        if again.method != "tools/call" or not again.tool:
            self.notify("Only a tool has a form; e edits the params as JSON.", timeout=4)
            return
        self.session.open_form(again.server, again.tool, again.params.get("arguments", {}))

    async def _again(self) -> Again | None:
        """Return what the entry under the cursor asks, or its partner; say why it cannot be sent, if so."""
        index = self._request()
        if index < 0:
            return None
        problem = self._refusal(index)
        if not problem:
            found = await self._read(self.recording.frames.seq(index))
            if isinstance(found, Again):
                return found
            problem = found
        self.notify(problem, timeout=5)
        return None

    def _request(self) -> int:
        """Return the index of the request that the cursor is about: an answer stands for its request."""
        frames, index = self.recording.frames, self.list.index
        if index >= 0 and frames.kind[index] != Kind.REQUEST:
            partner = frames.partner(index)
            if partner >= 0 and frames.kind[partner] == Kind.REQUEST:
                return partner
        return index

    def _refusal(self, index: int) -> str:
        if self.session is None:
            return RECORDED
        frames = self.recording.frames
        return refusal(
            Kind(frames.kind[index]),
            frames.goes(index),
            frames.sources.texts[frames.source[index]],
            frames.methods.texts[frames.method[index]],
            self.session.runtime.host.statuses(),
        )

    async def _read(self, seq: int) -> Again | str:
        try:
            async with asyncio.timeout(READ_SECONDS):
                entry = await self.reader.ask(lambda reader: whole(reader, seq, MOST_SENT + 1))
        except TimeoutError:
            return "It is still being read: try again in a moment."
        except McptuiError as error:
            return str(error)
        return "It was dropped: the recording has reached its limit." if entry is None else read(entry)

    def _check(self, again: Again) -> Callable[[Mapping[str, Any]], Awaitable[str]] | None:
        """Return what holds params against the schema of the tool that they call."""
        session = self.session
        tool = session and next(
            (one for one in session.runtime.workbench.tools(again.server) if one.name == again.tool), None
        )
        if session is None or not tool:
            return None

        async def check(params: Mapping[str, Any]) -> str:
            arguments = params.get("arguments", {})
            if params.get("name") != tool.name or not isinstance(arguments, dict):
                return ""
            return await session.runtime.workbench.check(tool, arguments)

        return check

    # ---- sending ----

    def _confirm(self, again: Again) -> None:
        """Ask once before a tool is called that may destroy something."""
        session = self.session
        if session is None:
            return
        tools = session.runtime.workbench.tools(again.server)
        warns = any(one.name == again.tool and one.destructive for one in tools)
        known = (again.server, f"tool {again.tool}")
        if not warns or known in session.book.confirmed:
            self._send(session, again)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                session.book.confirmed.add(known)
                self._send(session, again)

        asked = clean_line(json.dumps(again.params.get("arguments", {}), ensure_ascii=False), 600)
        warning = f"{clean_line(again.tool, 60)} may destroy something, says the server."
        self.app.push_screen(ConfirmCall(warning, asked), answered)

    def _send(self, session: Session, again: Again) -> None:
        session.book.count += 1
        self._sent = sent = _Sent(f"hand-{session.book.count}", len(self.recording.frames))
        self.keep_task(self._ask(session, again, sent), sent.call)

    async def _ask(self, session: Session, again: Again, sent: _Sent) -> None:
        answer = await session.runtime.workbench.request(
            again.server,
            again.method,
            again.params,
            call=sent.call,
            seconds=_seconds(session, again.server),
        )
        if answer.problem:
            self.notify(answer.problem, severity="warning", timeout=8)

    # ---- finding what came of it ----

    def follow_sent(self) -> None:
        """Go to the request that was sent once it is recorded, and to its answer once that is there."""
        sent, frames = self._sent, self.recording.frames
        if sent is None:
            return
        if sent.request < 0:
            sent.request = self._recorded(sent)
            if sent.request >= 0:
                self._show_sent(sent.request, sent.call)
        elif self.list.selected != frames.seq(sent.request):
            self._sent = None  # the person went elsewhere meanwhile
        elif (answer := frames.partner(sent.request)) >= 0 and self.list.select(frames.seq(answer)):
            self._sent = None

    def _recorded(self, sent: _Sent) -> int:
        frames, mark = self.recording.frames, mark_of(sent.call)
        count, at = len(frames), sent.after
        while True:
            try:
                at = frames.call.index(mark, at, count)
            except ValueError:
                return -1
            if frames.kind[at] == Kind.REQUEST and not frames.turn[at]:
                return at
            at += 1

    def _show_sent(self, index: int, call: str) -> None:
        self.list.following = False
        if not self.list.select(self.recording.frames.seq(index)):
            self._sent = None
            self.notify(f"It was sent; the filter hides it. call:{call} finds it.", timeout=5)


def _seconds(session: Session, server: str) -> float:
    for status in session.runtime.host.statuses():
        if status.name == server and status.spec.tool_seconds is not None:
            return status.spec.tool_seconds
    return session.runtime.limits.tool_seconds
