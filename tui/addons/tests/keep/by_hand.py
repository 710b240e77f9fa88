"""A call of the workbench as an exchange, without its recording: large results, tasks, the line dialect."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.tasks import Task
from tui.core.tools import Tool
from tui.core.workbench import PromptInfo, ResourceInfo
from tui.ui.workbench.calls import uri_of

if TYPE_CHECKING:
    from tui.ui.workbench.calls import HandCall


def exchange_by_hand(server: str, call: "HandCall") -> Exchange | None:
    """Return a finished call with its raw result, or None if it has none, or if it fetched a task."""
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
