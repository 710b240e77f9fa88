"""The filter with which a workbench opens the traffic."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.ui.traffic_stage import Recorded
from tui.core.tools import Tool
from tui.core.traffic import Kind
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.workbench.bench_context import BenchContext, listed, root_problem
from tui.ui.workbench.calls import BenchHistory
from tui.ui.workbench.items import Item, of_tools


def context_of(recorded: Recorded) -> BenchContext:
    runtime = SimpleNamespace(recording=SimpleNamespace(entries=recorded.columns))
    nothing = cast(Any, None)
    keys = KeyOverrides()
    return BenchContext(nothing, cast(Any, runtime), "my notes", BenchHistory(), keys, nothing, nothing)


def item_of(name: str) -> Item:
    (item,) = of_tools([Tool("my notes", name)])
    return item


def called(server: str, tool: str) -> Recorded:
    recorded = Recorded()
    recorded.add(Kind.REQUEST, {}, source=server, method="tools/call", tool=tool)
    return recorded


def test_the_traffic_of_the_server_is_shown_for_a_tool_that_was_not_called() -> None:
    for recorded in (Recorded(), called("my notes", "other"), called("weather", "add")):
        shared = context_of(recorded)
        assert shared.traffic_of(item_of("add"), None)[0] == 'server:"my notes"'
        assert shared.why_no_calls(item_of("add")) == ""


def test_a_typed_line_is_parsed_as_a_list_of_directories(tmp_path: Path) -> None:
    assert listed(" /a , ,~/b,") == ["/a", "~/b"]
    assert root_problem(str(tmp_path)) == ""
    assert "is not a directory" in root_problem(str(tmp_path / "none"))
