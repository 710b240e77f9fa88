"""Copies what is selected in the conversation or the trace: a message, or a call as a command or a script."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from tui.core.errors import McptuiError, UsageError
from tui.core.text import clean_line
from tui.core.traffic import TrafficReader
from tui.traffic.spans.span_values import CallSpan, CallState
from tui.ui.chat.navigation import NEVER_SENT, SELECT_THERE, Navigator
from tui.ui.chat.regions import Regions
from tui.ui.keys.action_table import Context

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.traffic.copies.request import CopiedRequest
    from tui.ui.chat.conversation_actions import ConversationActions

NOT_RECORDED = "This call did not go to a server, or was not recorded."


class CallCopies:
    """Copies the selected call, or the selected message if there is no call.

    `owner` is the `ChatParts` that an add-on reads the selected call from.
    """

    def __init__(
        self,
        runtime: "Runtime",
        regions: Regions,
        current: "ConversationActions",
        navigator: Navigator,
        owner: object,
    ) -> None:
        self._runtime, self._regions = runtime, regions
        self._current, self._navigator, self._owner = current, navigator, owner

    async def copy(self) -> None:
        regions = self._regions
        in_trace = regions.focus_context is Context.TRACE
        is_earlier = regions.marked is regions.compared  # the trace is that of the other answer
        if not in_trace and (is_earlier or not regions.conversation.marked_call):
            self._current.copy()
            return
        span = self._navigator.selected
        if not isinstance(span, CallSpan):
            regions.notify(SELECT_THERE, timeout=3)
        elif span.state in NEVER_SENT:
            regions.notify(f"This call was {span.state}, so nothing was sent.", timeout=4)
        else:
            await self._copy(span)

    async def _copy(self, span: CallSpan) -> None:
        from tui.ui.dialogs.copy_as import ToCopy, ask_to_copy  # not needed for the first frame

        try:
            request = await self._request(span)
        except McptuiError as error:
            self._regions.notify(str(error), timeout=5)
            return
        owner = self._owner if span.state.over else None
        ask_to_copy(
            self._regions.screen.app, ToCopy(f"the call of {clean_line(span.tool, 60)}", request, owner)
        )

    async def _request(self, span: CallSpan) -> "CopiedRequest":
        """Return the request of a call, from the recording of its run. Raises McptuiError."""
        from tui.runtime.copies.origin import request_in, request_of_call
        from tui.storage.recordings.reader import RecordingReader

        runtime, navigator = self._runtime, self._navigator
        open_reader: Callable[[], TrafficReader] = runtime.recording.open_reader
        if not navigator.is_earlier(span):
            seq = request_in(runtime.recording.entries, span.id, navigator.turn_number(span))
            return await asyncio.to_thread(self._read, open_reader, lambda _: seq, span)
        if (found := await navigator.earlier_recording(span)) is None:
            raise UsageError("The recording of that run was deleted.")
        path, turn = found
        find = partial(request_of_call, call=span.id, turn=turn)
        return await asyncio.to_thread(self._read, partial(RecordingReader, path), find, span)

    def _read(
        self, open_reader: Callable[[], TrafficReader], find: Callable[[TrafficReader], int], span: CallSpan
    ) -> "CopiedRequest":
        from tui.runtime.copies.request import request_at

        with closing(open_reader()) as reader:
            if not (seq := find(reader)):
                raise UsageError(NOT_RECORDED)
            return request_at(reader, seq, self._runtime, failed=span.state is CallState.FAILED)
