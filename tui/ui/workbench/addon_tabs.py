"""The tabs of the workbench that add-ons bring, each by a service.

A tab for an extension is added once its server declares it. Until then, nothing of it is imported.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from textual.containers import Vertical
from textual.widget import Widget

from tui.core.addons import service
from tui.core.jsonrpc.extensions import EVENTS, SKILLS
from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import overrides_of
from tui.ui.keys.footer import Entry, entries_of
from tui.ui.widgets.lines import LinePane
from tui.ui.workbench.bars import BenchTab, BenchTabs, in_order
from tui.ui.workbench.bench_context import BenchContext

Part = TypeVar("Part", bound=Widget)


class AddonPane(Vertical):
    """A tab, for an add-on. `list` has the focus, and the keys of `context`, which the footer shows."""

    DEFAULT_CSS = "AddonPane { height: 1fr; }"

    context: ClassVar[Context]
    list: LinePane

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def keys(self) -> Sequence[Entry]:
        """Return the keys for the footer."""
        return entries_of(of_context(self.context), overrides_of(self.app))

    def stays(self) -> str:
        """Return why the workbench cannot be closed now, or ""."""
        return ""


class AddonTab(NamedTuple):
    """A tab, the service that makes its pane, and the extension that it is for, or ""."""

    tab: BenchTab
    service: str
    extension: str = ""


TABS = (
    AddonTab(BenchTab.TESTS, "tests tab"),
    AddonTab(BenchTab.SKILLS, "skills tab", SKILLS),
    AddonTab(BenchTab.EVENTS, "events tab", EVENTS),
)


class AddonTabs:
    """The tabs of add-ons that one workbench does not have yet."""

    def __init__(self, shared: BenchContext) -> None:
        self._shared = shared
        self._left = list(TABS)

    def due(self) -> Iterator[tuple[BenchTab, AddonPane]]:
        """Yield each tab once, as soon as it is due; none of an add-on that is missing."""
        bench, server = self._shared.runtime.workbench, self._shared.server
        for one in self._left[:]:
            if one.extension and bench.extension(server, one.extension) is None:
                continue
            self._left.remove(one)
            if (made := service(one.service)) is not None:
                yield one.tab, made(self._shared)

    def added(
        self, panes: Mapping[BenchTab, Part], tabs: BenchTabs, last: Widget
    ) -> dict[BenchTab, Part | AddonPane]:
        """Mount the panes that are due now, before the widget `last`, and return all of them."""
        found: dict[BenchTab, Part | AddonPane] = dict(panes)
        for tab, pane in self.due():
            pane.display = False
            self._shared.screen.mount(pane, before=last)
            found = in_order({**found, tab: pane})
            tabs.add(tab, pane)
        return found
