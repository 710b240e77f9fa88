"""Copies what is selected in the conversation or the trace: a message, or a call as a command or a script."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from tui.core.errors import McptuiError, UsageError
from tui.core.language.translate import _, localized, message
from tui.core.text import clean_line
from tui.core.traffic import TrafficReader
from tui.runtime.copies.origin import request_in, request_of_call
from tui.runtime.copies.request import request_at
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.spans.span_values import CallSpan, CallState
from tui.ui.chat.navigation import NEVER_SENT, SELECT_THERE, never_sent
from tui.ui.dialogs.copy_as import ToCopy, ask_to_copy
from tui.ui.keys.action_table import Context

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.ui.chat.conversation_actions import ConversationActions
    from tui.ui.chat.navigation import Navigator
    from tui.ui.chat.regions import Regions

T = TypeVar("T")


class Selected(Protocol):
    """The parts of the chat that know what is selected."""

    runtime: "Runtime"
    regions: "Regions"
    current: "ConversationActions"
    navigator: "Navigator"


async def copy_selected(parts: Selected) -> None:
    """Copy the selected call, or the selected message if there is no call."""
    regions, span = parts.regions, parts.navigator.selected
    is_earlier = regions.marked is regions.compared  # the trace is that of the other answer
    if regions.focus_context is not Context.TRACE and (is_earlier or not regions.conversation.marked_call):
        parts.current.copy()
    elif not isinstance(span, CallSpan):
        regions.notify(SELECT_THERE, timeout=3)
    elif span.state in NEVER_SENT:
        regions.notify(never_sent(span), timeout=4)
    else:
        found = partial(request_at, runtime=parts.runtime, failed=span.state is CallState.FAILED)
        try:
            request = await asyncio.to_thread(await reading(parts, span, found))
        except McptuiError as error:
            regions.notify(localized(error), timeout=5)
            return
        what = _("the call of {tool}", tool=clean_line(span.tool, 60))
        owner = parts if span.state.over else None
        ask_to_copy(regions.screen.app, ToCopy(what, request, owner))


async def reading(
    parts: Selected, span: CallSpan, read: Callable[[TrafficReader, int], T]
) -> Callable[[], T]:
    """Return what calls `read` with the recording of a call and the seq of its request.

    It blocks, and raises UsageError or StorageError; this raises UsageError if the recording is gone.
    """
    navigator, recording = parts.navigator, parts.runtime.recording
    if not navigator.is_earlier(span):
        seq = request_in(recording.entries, span.id, navigator.turn_number(span))
        return partial(_read, recording.open_reader, lambda _: seq, read)
    if (found := await navigator.earlier_recording(span)) is None:
        raise UsageError(message("The recording of that run was deleted."))
    path, turn = found
    return partial(
        _read, partial(RecordingReader, path), partial(request_of_call, call=span.id, turn=turn), read
    )


def _read(
    open_reader: Callable[[], TrafficReader],
    find: Callable[[TrafficReader], int],
    read: Callable[[TrafficReader, int], T],
) -> T:
    with closing(open_reader()) as reader:
        if not (seq := find(reader)):
            raise UsageError(message("This call did not go to a server, or was not recorded."))
        return read(reader, seq)
