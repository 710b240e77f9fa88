"""Keys of the workbench that have no effect on the current tab, and why."""

from typing import TYPE_CHECKING

from tui.core.servers import not_configured
from tui.ui.workbench.bars import BenchTab

if TYPE_CHECKING:
    from tui.ui.workbench.bench import Bench
    from tui.ui.workbench.bench_context import BenchContext

_WITH_CALL = frozenset({"diff", "mark"})
_WITH_RESULT = frozenset({"copy", "copy_all", "save"})
_WITH_ITEM = frozenset({"call", "raw", "saved", "schema"})


def is_idle(
    action: str, shared: "BenchContext", tab: BenchTab, bench: "Bench | None", sought: object
) -> bool:
    """Return whether an action has no effect on a tab; if so, say why. `sought` is the search in the log."""
    if why := _why_idle(action, shared, tab, bench, sought):
        shared.screen.notify(why, timeout=4, markup=False)
    return bool(why)


def _why_idle(
    action: str, shared: "BenchContext", tab: BenchTab, bench: "Bench | None", sought: object
) -> str:
    """Return why an action has no effect, as a sentence, or ""."""
    if action == "find":
        sought = sought if bench is None else bench.result.page.search_text
        return "" if sought else "Nothing is searched for. Press / to search."
    if bench is None:
        return "Select a tool, a resource or a prompt first, in the tabs 2, 3 and 4."
    call = bench.calls.selected
    if action in ("offer", "offer_all") and tab is not BenchTab.TOOLS:
        return "Only tools can be turned on and off for the model."
    has_row = bench.list.row_selectable(bench.list.cursor)
    if (action in _WITH_ITEM and bench.item is None) or (
        not has_row and action in ("open", "offer", "offer_all")
    ):
        if shared.status is None:
            return not_configured(shared.server)
        return f"No {tab.value.removesuffix('s')} is selected."
    if action in _WITH_CALL and call is None:
        return "There are no calls yet."
    if action in _WITH_RESULT and (call is None or call.result is None):
        return "There is no result yet."
    return ""
