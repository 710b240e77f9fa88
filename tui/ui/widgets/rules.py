"""The thin lines between regions; the one over the body names the regions where only one fits."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from tui.ui.keys.actions import Context
from tui.ui.widgets.bar import Bar, part_at
from tui.ui.widgets.rows import Row, width_of


class Rule(Bar):
    """A thin line, with places where an upright one meets it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._joints: Callable[[], dict[int, str]] = dict
        self._lit = 0

    def join(self, joints: Callable[[], dict[int, str]]) -> None:
        """Set what tells the characters that stand at some columns instead of the line.

        It is asked at every painting: where the regions are is known for sure only then.
        """
        self._joints = joints
        self.refresh()

    def light(self, columns: int) -> None:
        """Show by the colour of the first `columns` columns that what is under them has the focus."""
        if columns != self._lit:
            self._lit = columns
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        line = ["─"] * width
        for column, joint in self._joints().items():
            if 0 <= column < width:
                line[column] = joint
        lit = min(self._lit, width)
        return (("".join(line[:lit]), "accent"), ("".join(line[lit:]), "rule"))


class BodyRule(Rule):
    """The line over the body: plain where all regions are seen, their names where only one is."""

    WORDS: ClassVar[dict[Context, str]] = {
        Context.CONVERSATION: "Conversation",
        Context.TRACE: "Trace",
        Context.SERVERS: "Servers",
    }

    class Chosen(Message):
        """The person clicked the name of a region."""

        def __init__(self, context: Context) -> None:
            super().__init__()
            self.context = context

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: tuple[Context, ...] = ()
        self._active: Context | None = None
        self._keys: dict[Context, str] = {}

    def tabs(self, tabs: Sequence[Context], active: Context | None, keys: dict[Context, str]) -> None:
        """Name these regions, `active` as the one that is seen, with the keys that lead to them."""
        if (tuple(tabs), active, keys) != (self._tabs, self._active, self._keys):
            self._tabs, self._active, self._keys = tuple(tabs), active, keys
            self.refresh()

    def _parts(self) -> list[tuple[Context, Row]]:
        return [
            (
                tab,
                (
                    ("── ", "rule"),
                    (self.WORDS[tab], "accent bold" if tab is self._active else "dim"),
                    (f" {self._keys.get(tab, '')} ", "dim"),
                ),
            )
            for tab in self._tabs
        ]

    def row(self, width: int) -> Row:
        """Return the line."""
        if not self._tabs:
            return super().row(width)
        spans = [span for _, part in self._parts() for span in part]
        return (*spans, ("─" * max(0, width - width_of(tuple(spans))), "rule"))

    def on_click(self, event: events.Click) -> None:
        """Go to the region whose name was clicked."""
        if (tab := part_at(self._parts(), event.x)) is not None:
            self.post_message(self.Chosen(tab))
