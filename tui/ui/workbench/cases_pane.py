"""The tab of the workbench for the cases of its server, if an add-on has the service "tests tab"."""

from textual.containers import Vertical

from tui.core.addons import service
from tui.ui.widgets.lines import LinePane
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.bench_context import BenchContext


class CasesPane(Vertical):
    """The tab, for an add-on. `list` has the focus, and the keys of `Context.TESTS`."""

    DEFAULT_CSS = "CasesPane { height: 1fr; }"

    list: LinePane

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def stays(self) -> str:
        """Return why the workbench cannot be closed now, or ""."""
        return ""


def cases_panes(shared: BenchContext) -> dict[BenchTab, CasesPane]:
    """Return the tab by its name, nothing without the add-on."""
    made = service("tests tab")
    return {} if made is None else {BenchTab.TESTS: made(shared)}
