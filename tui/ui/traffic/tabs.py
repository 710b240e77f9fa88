"""The views of an entry by name, and the line over each page of it."""

from enum import StrEnum

from textual import events
from textual.message import Message

from tui.ui.widgets.bar import Bar, part_at, spread
from tui.ui.widgets.rows import Row


class Tab(StrEnum):
    """A view of an entry."""

    TREE = "tree"
    PAIR = "pair"
    RAW = "raw"
    TIMING = "timing"
    EXPLAIN = "explain"
    FINDINGS = "findings"


class Tabs(Bar):
    """The names of the views; a click chooses one."""

    class Chosen(Message):
        """The person clicked a name."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self.active = Tab.TREE
        self.notes: dict[Tab, str] = {}
        self.right: Row = ()

    def _parts(self) -> list[tuple[Tab, Row]]:
        return [
            (
                tab,
                (
                    (f" {tab.value}", "accent bold" if tab is self.active else "dim"),
                    (f" {self.notes[tab]}" if tab in self.notes else "", "warn"),
                    (" ", ""),
                ),
            )
            for tab in Tab
        ]

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(tuple(span for _, part in self._parts() for span in part), self.right, width)

    def on_click(self, event: events.Click) -> None:
        """Choose the view whose name was clicked."""
        if (tab := part_at(self._parts(), event.x)) is not None:
            self.post_message(self.Chosen(tab))


class Heading(Bar):
    """What an entry is, in a line."""

    parts: tuple[Row, Row] = ((), ())

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(self.parts[0], self.parts[1], width)
