"""The screen of all cases: their states, last runs and latencies, and running and reviewing them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from tui.addons.tests.screens.case_browser import RUNS, CaseBrowser
from tui.addons.tests.screens.case_rows import summary
from tui.addons.tests.screens.kept_calls import is_server_of
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.core.language.translate import N_, _
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.rows import Row

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


class CasesScreen(ViewScreen[None]):
    """Lists, runs and reviews the cases of all suites."""

    CONTEXTS = (Context.TESTS,)
    TAKES = frozenset({"traffic.open", "app.suspend"})
    LOOKS_PER_SECOND = 10
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.TESTS)

    def __init__(self, runtime: "Runtime") -> None:
        prompt = PromptLine()
        self._runtime = runtime
        self.browser = CaseBrowser(runtime, prompt, self.say, self._uses, elsewhere=True)
        super().__init__(self.browser.list, prompt=prompt)
        self._labels: dict[str, str] = {}

    def _uses(self, suite: Suite) -> bool:
        """Return whether a suite is below the current folder, or of a configured server."""
        specs = [one.spec for one in self._runtime.host.statuses()]
        is_here = suite.path.absolute().is_relative_to(Path.cwd())
        return is_here or any(is_server_of(suite, spec) for spec in specs)

    async def on_unmount(self) -> None:
        await self.browser.close()

    def stays(self) -> str:
        return super().stays() or (_(RUNS) if self.browser.runs.is_running else "")

    def look(self) -> None:
        self.browser.look()
        self.say()

    def say(self) -> None:
        """Show how many cases there are, or how far the run is."""
        if not self.is_attached:
            return
        browser = self.browser
        left: Row = ((_("TESTS") + "   ", "dim bold"), *summary(browser.list.cases))
        self._title.show(left, browser.standing)
        labels = self._labels_now()
        if labels != self._labels:
            self._labels = labels
            self.show_keys(**labels)

    def _labels_now(self) -> dict[str, str]:
        """Return the labels of keys: the footer has those that matter for the selected case."""
        browser, one = self.browser, self.browser.list.selected
        is_running, is_turn = browser.runs.is_running, one is not None and isinstance(one.what, TurnCase)
        back = N_("cancel") if is_running else N_("clear filter") if browser.filter else N_("back")
        has_failed = one is not None and one.last is not None and one.last.state.is_bad
        hidden: list[str] = [] if is_turn else ["turns"]
        hidden += [] if has_failed and not is_turn and not browser.filter else ["traffic"]
        hidden += ["review", "run", "run_all"] if is_running else []
        if not browser.list.cases:
            hidden += ["review", "run", "run_all", *([] if browser.filter else ["filter"])]
        return {"back": back, **dict.fromkeys(hidden, "")}

    def back(self) -> None:
        """Cancel the run, clear the filter, or close."""
        if not self.browser.back():
            self.dismiss(None)


def open_cases(parts: Any) -> None:
    """Open the screen of all cases over the chat screen (`ChatParts`)."""
    if parts.runtime.is_ready:
        parts.regions.open_dialog(CasesScreen(parts.runtime))
