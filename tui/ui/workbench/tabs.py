"""The tabs of the workbench by name, and the line that shows them."""

from collections.abc import Mapping
from enum import StrEnum

from textual import events
from textual.message import Message

from tui.ui.widgets.bar import Bar, part_at, spread
from tui.ui.widgets.rows import Row


class BenchTab(StrEnum):
    """A tab of the workbench."""

    OVERVIEW = "overview"
    TOOLS = "tools"
    RESOURCES = "resources"
    PROMPTS = "prompts"
    LOG = "log"
    TRAFFIC = "traffic"


class BenchTabs(Bar):
    """The names of the tabs with their keys and how much is in them; a click goes to one."""

    class Chosen(Message):
        """The person clicked a name."""

        def __init__(self, tab: BenchTab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self) -> None:
        super().__init__(id="bench-tabs")
        self.active = BenchTab.OVERVIEW
        self._notes: Mapping[BenchTab, str] = {}
        self._right: Row = ()

    def show(self, active: BenchTab, notes: Mapping[BenchTab, str], right: Row) -> None:
        """Show these, if they are new."""
        if (active, notes, right) != (self.active, self._notes, self._right):
            self.active, self._notes, self._right = active, notes, right
            self.refresh()

    def _parts(self) -> list[tuple[BenchTab, Row]]:
        roomy = self.size.width >= 90
        return [
            (
                tab,
                (
                    (f" {number} ", "accent" if tab is self.active else "dim"),
                    (tab.value, "accent bold underline" if tab is self.active else "text"),
                    (f" {self._notes[tab]}" if self._notes.get(tab) else "", "dim"),
                    ("   " if roomy else " ", ""),
                ),
            )
            for number, tab in enumerate(BenchTab, 1)
        ]

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(tuple(span for _, part in self._parts() for span in part), self._right, width)

    def on_click(self, event: events.Click) -> None:
        """Go to the tab whose name was clicked."""
        if (tab := part_at(self._parts(), event.x)) is not None:
            self.post_message(self.Chosen(tab))
