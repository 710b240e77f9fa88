"""The tab of the workbench with the events of its server."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from tui.addons.events.pane import EventsPane
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.workbench.addon_tabs import AddonList, pane_bindings
from tui.ui.workbench.bars import BenchTab

if TYPE_CHECKING:
    from tui.ui.workbench.bench_context import BenchContext
    from tui.ui.workbench.screen import ServerScreen


class TabList(AddonList):
    """The list with the keys of the workbench as well."""

    BINDINGS: ClassVar[list[BindingType]] = [*pane_bindings(Context.EVENTS), *bench_list_bindings()]


class EventsTab(EventsPane):
    """The events of one server."""

    LIST = TabList

    def __init__(self, shared: "BenchContext") -> None:
        screen: Any = shared.screen
        super().__init__(
            shared.runtime,
            shared.prompt,
            shared.draft.attach,
            lambda text: screen.show_filtered(text),
            lambda: screen.back(),
            shared.server,
        )


def show_tab(owner: "ServerScreen") -> None:
    """Show the tab of a workbench."""
    owner.show_tab(BenchTab.EVENTS)
