"""The key that keeps a call: finds the call that is selected on a screen, and opens the dialog.

Every place leads to a request in a recording: a result in the workbench, a call in the conversation or the
trace, an entry of the traffic.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.addons.tests.keep.by_hand import keeping_of, read_exchange, targeted, why_not_again, write
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.home import file_name
from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.keep.recorded import (
    exchange_at,
    last_request,
    newest_lists,
)
from tui.addons.tests.keep.repeat import results_again
from tui.addons.tests.keep.target import Target, server_in
from tui.addons.tests.screens.keep_call import Again, KeptCall
from tui.addons.tests.screens.keep_dialog import open_keep_dialog
from tui.addons.tests.screens.keep_turn import keep_turn_at, place_of_call, selected_turn
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.errors import McptuiError, UsageError
from tui.core.language.translate import _, localized, message
from tui.core.tasks import Task
from tui.core.tools import Tool
from tui.core.traffic import TrafficReader
from tui.core.workbench import PromptInfo, ResourceInfo
from tui.runtime.copies.origin import about, request_in
from tui.settings.locations import state_dir
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.spans.span_values import CallSpan
from tui.ui.chat.copies import reading
from tui.ui.chat.navigation import NEVER_SENT, SELECT_THERE
from tui.ui.chat.parts import ChatParts
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.calls import uri_of
from tui.ui.workbench.screen import ServerScreen

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.ui.workbench.calls import HandCall


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call was selected.

    Attributes:
        read: returns the call, in a thread. Raises UsageError or StorageError.
        runtime: the running program, None for a recording from a file.
        next_id: returns the id of the next call by hand.
        whole_turn: opens the dialog that keeps the turn of the call, None if it is part of none.
    """

    app: App[Any]
    read: Callable[[], Exchange]
    runtime: "Runtime | None" = None
    next_id: Callable[[], str] = lambda: "hand-0"
    is_own: bool = True
    whole_turn: Callable[[], None] | None = None


async def keep(owner: object) -> None:
    """Keep the selected call of a screen, or of the chat screen (`ChatParts`), or say why there is none."""
    place = await _place(owner)
    if isinstance(place, str):
        _app_of(owner).notify(localized(place), timeout=5)
    elif place is not None:
        place.app.run_worker(_opened(place), name="keep a call", exit_on_error=True)


async def case_text(owner: object) -> str:
    """Return the selected call of a screen, or of the chat screen, as a whole test file for this folder.

    Raises UsageError, StorageError or SuiteError.
    """
    place = await _place(owner)
    if not isinstance(place, Place):
        raise UsageError(place or message("No call is selected."))
    return await asyncio.to_thread(_written, place)


def _written(place: Place) -> str:
    keeping = _proposed(place)
    server = server_in(keeping.origin, keeping.current, keeping.redact, by_name=None)
    target = Target(keeping.current / file_name(keeping.origin.name), server)
    return target.with_cases([keeping.draft.case()])


async def _place(owner: object) -> Place | str | None:
    match owner:
        case ServerScreen():
            return _in_workbench(owner)
        case TrafficScreen():
            return await _in_traffic(owner)
        case ChatParts():
            return await _in_chat(owner)
    return None


def _app_of(owner: Any) -> App[Any]:
    app: App[Any] = owner.regions.screen.app if isinstance(owner, ChatParts) else owner.app
    return app


# ---- the places --------------------------------------------------------------------------------------------


def _in_workbench(screen: ServerScreen) -> Place | str:
    bench, key = screen.bench, screen.shared.overrides.first_of
    if bench is None or bench.item is None:
        return screen.why_no_item() or _("Select a tool, a resource or a prompt first.")
    call, runtime = bench.calls.selected, screen.shared.runtime
    if call is None and bench.list.has_focus:
        is_template = isinstance(about := bench.item.about, ResourceInfo) and about.template
        method = "resources/templates/list" if is_template else f"{screen.tab}/list"
        return Place(screen.app, partial(_read_list, runtime, screen.server, method), runtime)
    if call is None:
        return _(
            "No result yet. Press {call} to {verb}, then {keep} to keep the result.",
            call=key("bench.call"),
            verb=_(bench.item.verb),
            keep=key("keep.call"),
        )
    if call.took_ms is None:
        return _("The call is still running.")
    if call.result is None:
        return _("The call was cancelled, so it has no result.")
    read = partial(_read_hand_call, runtime, screen.server, call)
    return Place(screen.app, read, runtime, screen.shared.book.next_id)


def _read_hand_call(runtime: "Runtime", server: str, call: "HandCall") -> Exchange:
    """Return a call of the workbench: as it was recorded, or its result, if that is not in the recording."""
    recording = runtime.recording
    try:
        with closing(recording.open_reader()) as reader:
            if not (seq := request_in(recording.entries, call.id)):
                raise UsageError(message("This call was not recorded."))
            return exchange_at(reader, seq, {"cwd": os.getcwd()})
    except UsageError:
        if (exchange := exchange_by_hand(server, call)) is None:
            raise
        return exchange


def exchange_by_hand(server: str, call: "HandCall") -> Exchange | None:
    """Return a finished call without its recording (of large results, the line dialect).

    None if it has no raw result, or fetched a task.
    """
    result, about = call.result, call.item.about
    if result is None or result.raw is None or isinstance(about, Task):
        return None
    given = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
    match about:
        case Tool():
            request = Request(RequestKind.TOOL, about.name, given)
        case ResourceInfo():
            request = Request(RequestKind.READ, uri_of(about, call.arguments))
        case PromptInfo():
            request = Request(RequestKind.PROMPT, about.name, given)
    took = (time.monotonic_ns() - call.began_ns) / 1e9
    return Exchange(
        server, request, result=result.raw, ms=call.took_ms or 0.0, at=time.time() - took, call=call.id
    )


def _read_list(runtime: "Runtime", server: str, method: str) -> Exchange:
    """Return a list as the server last sent it."""
    recording = runtime.recording
    with closing(recording.open_reader()) as reader:
        last = last_request(recording.entries, method, server)
        if not (found := newest_lists(reader, last, {"cwd": os.getcwd()}, [method], server)):
            raise UsageError(message("This list is no longer in the recording."))
        return found[0]


async def _in_traffic(screen: TrafficScreen) -> Place | str | None:
    seq, live, recording = screen.list.chosen(), screen.live, screen.recording
    if not seq:
        return None  # the list has said why
    if live is not None:
        read = partial(read_exchange, recording.open_reader, seq, {"cwd": os.getcwd()})
        return Place(screen.app, read, live.runtime, live.next_call_id)
    try:
        about, is_own = await asyncio.to_thread(_origin_of, recording.open_reader)
    except McptuiError as error:
        return localized(error)
    return Place(screen.app, partial(read_exchange, recording.open_reader, seq, about), is_own=is_own)


def _origin_of(open_reader: Callable[[], TrafficReader]) -> tuple[Mapping[str, str], bool]:
    """Return what a recording has about its run, and whether the user's own mcptui made it."""
    with closing(open_reader()) as reader:
        if not isinstance(reader, RecordingReader):
            return {}, False
        parent = os.path.dirname(os.path.realpath(reader.path))
        return reader.meta(), parent == os.path.realpath(state_dir() / "recordings")


async def _in_chat(parts: ChatParts) -> Place | str | None:
    navigator, runtime = parts.navigator, parts.runtime
    if parts.regions.in_earlier():
        return None
    if (at := selected_turn(parts)) is not None:
        keep_turn_at(parts, at)
        return None
    span = navigator.selected
    if not isinstance(span, CallSpan):
        return SELECT_THERE
    if span.state in NEVER_SENT:
        return _("This call was {state}, so it has no result.", state=_(span.state))
    if not span.state.over:
        return _("The call is still running.")
    message = place_of_call(parts, span)
    whole_turn = None if message is None else partial(keep_turn_at, parts, message, span.server)
    try:
        read = await reading(parts, span, lambda reader, seq: exchange_at(reader, seq, about(reader)))
    except UsageError as error:
        return localized(error)
    next_id = navigator.call_book.next_id
    return Place(parts.regions.screen.app, read, runtime, next_id, whole_turn=whole_turn)


# ---- the dialog --------------------------------------------------------------------------------------------


async def _opened(place: Place) -> None:
    """Read the call and open the dialog, or say why it cannot be kept."""
    app, runtime = place.app, place.runtime
    try:
        keeping = await asyncio.to_thread(_proposed, place)
        keeping, target = await asyncio.to_thread(targeted, keeping)
    except (McptuiError, OSError) as error:
        app.notify(localized(error), severity="warning", timeout=8)
        return
    exchange, call = keeping.draft.exchange, None
    if not (why := why_not_again(runtime, keeping)) and runtime is not None:
        call = partial(results_again, runtime, exchange.server, exchange.request, place.next_id)
    again = Again(call, runtime, why)
    open_keep_dialog(app, KeptCall(keeping, target, again, partial(write, runtime), place.whole_turn))


def _proposed(place: Place) -> Keeping:
    return keeping_of(place.runtime, place.read(), is_own=place.is_own)
