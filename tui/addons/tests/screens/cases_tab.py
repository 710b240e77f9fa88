"""The tab of the workbench with the cases of its server."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tui.addons.tests.screens.case_browser import RUNS, CaseBrowser, CaseList
from tui.addons.tests.screens.case_rows import summary
from tui.addons.tests.screens.kept_calls import is_server_of
from tui.addons.tests.suite.case import Suite
from tui.core.language.translate import _
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.bar import SplitBar
from tui.ui.workbench.addon_tabs import AddonPane, pane_bindings
from tui.ui.workbench.bars import BenchTab

if TYPE_CHECKING:
    from tui.ui.workbench.bench_context import BenchContext
    from tui.ui.workbench.screen import ServerScreen


class TabList(CaseList):
    """The list of cases with the keys of the screen of all cases, which go before those of the workbench."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *pane_bindings(Context.TESTS),
        *bench_list_bindings(),
    ]

    def __init__(
        self, moved: Callable[[], object], chosen: Callable[[], object], act: Callable[[str], None]
    ) -> None:
        super().__init__(moved, chosen)
        self._act = act

    def action_pane(self, action_id: str) -> None:
        self._act(action_id)


class CasesTab(AddonPane):
    """The cases of one server."""

    context = Context.TESTS

    DEFAULT_CSS = """
    CasesTab > SplitBar { background: $panel; padding: 0 1; }
    CasesTab > CaseList { height: 1fr; background: $surface; }
    """

    def __init__(self, shared: "BenchContext") -> None:
        super().__init__(id="bench-tests")
        self._shared = shared
        self._line = SplitBar()
        self.browser = CaseBrowser(
            shared.runtime, shared.prompt, self._say, self._uses, self._list, elsewhere=True
        )
        self.list = self._cases = self.browser.list

    def compose(self) -> ComposeResult:
        yield self._line
        yield self.list

    async def on_unmount(self) -> None:
        await self.browser.close()

    def _uses(self, suite: Suite) -> bool:
        status = self._shared.status
        return status is not None and is_server_of(suite, status.spec)

    def look(self) -> None:
        self.browser.look()

    def _say(self) -> None:
        self._line.show(summary(self._cases.cases), self.browser.standing)

    def stays(self) -> str:
        return _(RUNS) if self.browser.runs.is_running else ""

    def _list(self, moved: Callable[[], object], chosen: Callable[[], object]) -> TabList:
        return TabList(moved, chosen, self.act)

    def back(self) -> None:
        """Cancel the run, clear the filter, or do what the key does in the workbench."""
        if not self.browser.back():
            screen: Any = self.screen
            screen.back()


def show_tab(owner: "ServerScreen") -> None:
    """Show the tab of a workbench."""
    owner.show_tab(BenchTab.TESTS)
