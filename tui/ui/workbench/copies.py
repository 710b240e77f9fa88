"""Copies a call of the workbench, or an item with the arguments in its form, as a command or a script."""

import asyncio
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from tui.core.errors import McptuiError
from tui.core.jsonrpc.headers import header_map, parameter_headers
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import _
from tui.core.secrets.secret_names import mark_of
from tui.core.tools import Tool
from tui.core.traffic import Outcome
from tui.core.workbench import PromptInfo, ResourceInfo
from tui.runtime.copies.origin import request_in
from tui.runtime.copies.request import copied_server, origin_at, request_at
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.copies.request import CopiedRequest
from tui.ui.dialogs.copy_as import ToCopy, ask_to_copy
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.calls import HandCall, texts_of, uri_of
from tui.ui.workbench.items import Item

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


async def copy_call(shared: BenchContext, call: HandCall) -> None:
    """Copy a call as it was sent, or as it was made if it was not recorded."""
    request = await asyncio.to_thread(_recorded, shared.runtime, call)
    if request is None:
        request = request_of(shared, call.item, call.arguments)
    owner = shared.screen if call.result is not None else None
    ask_to_copy(shared.screen.app, ToCopy(_("call {number}", number=call.number), request, owner))


def copy_item(shared: BenchContext, item: Item, arguments: Any) -> None:
    """Copy an item with arguments that were not sent."""
    ask_to_copy(shared.screen.app, ToCopy(item.label, request_of(shared, item, arguments)))


def _recorded(runtime: "Runtime", call: HandCall) -> CopiedRequest | None:
    recording, past = runtime.recording, call.past
    if not (seq := past.entry.seq if past is not None else request_in(recording.entries, call.id)):
        return None
    try:
        with closing(RecordingReader(past.path) if past is not None else recording.open_reader()) as reader:
            return request_at(reader, seq, runtime, failed=call.state is Outcome.ERROR)
    except McptuiError:
        return None


def request_of(shared: BenchContext, item: Item, arguments: Any) -> CopiedRequest | None:
    """Return the request of an item, with a mark for each secret; None for a task or a removed server."""
    try:
        origin, redact = origin_at(shared.runtime, shared.server, None)
    except McptuiError:
        return None
    server = copied_server(origin, redact, shared.runtime)
    given = shared.arguments_to_keep(arguments, lambda path: mark_of(str(path[-1]) if path else "arguments"))
    params: dict[str, Any]
    about, headers = item.about, dict[str, str]()
    match about:
        case Tool():
            method, params = "tools/call", {"name": about.name, "arguments": given}
            wanted = header_map(about.schema)
            if is_modern(server.revision) and not isinstance(wanted, str) and isinstance(given, Mapping):
                with suppress(UnicodeError):  # a lone surrogate has no header
                    headers = parameter_headers(wanted, given)
        case ResourceInfo():
            method, params = "resources/read", {"uri": uri_of(about, given)}
        case PromptInfo():
            method, params = "prompts/get", {"name": about.name, "arguments": texts_of(given)}
        case _:
            return None
    return CopiedRequest(server, method, params, headers)
