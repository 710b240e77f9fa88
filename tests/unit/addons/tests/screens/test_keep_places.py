"""A call of the workbench that is kept without its recording."""

import time
from typing import Any

from tui.addons.tests.screens.keep_places import exchange_by_hand
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.tools import Tool, ToolResult
from tui.core.workbench import ResourceInfo
from tui.ui.workbench.calls import HandCall
from tui.ui.workbench.items import Item, of_resources, of_tools


def made(item: Item, arguments: Any, raw: Any) -> HandCall:
    result = ToolResult(raw=raw)
    return HandCall(1, item, arguments, "12:00:00", time.monotonic_ns(), took_ms=5.0, result=result)


def test_a_tool_call_is_kept_with_its_raw_result():
    (item,) = of_tools([Tool("s", "add")])
    found = exchange_by_hand("s", made(item, {"a": 1}, {"content": []}))
    assert found is not None
    assert (found.request, found.result, found.ms) == (
        Request(RequestKind.TOOL, "add", {"a": 1}),
        {"content": []},
        5.0,
    )
    assert abs(found.at - time.time()) < 60


def test_a_template_is_kept_as_the_uri_that_was_read():
    (item,) = of_resources([ResourceInfo("s", "note://{name}", template=True)])
    found = exchange_by_hand("s", made(item, {"name": "milk"}, {"contents": []}))
    assert found is not None and found.request == Request(RequestKind.READ, "note://milk")


def test_a_call_without_a_response_is_not_kept():
    (item,) = of_tools([Tool("s", "add")])
    assert exchange_by_hand("s", made(item, {}, None)) is None
