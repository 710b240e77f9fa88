"""The line over the body of the main screen; where only one region fits it names the others."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from tui.ui.keys.actions import Context
from tui.ui.widgets.bar import Rule, part_at
from tui.ui.widgets.rows import Row, width_of


class BodyRule(Rule):
    """A plain line where all regions are visible, their names where only one is."""

    WORDS: ClassVar[dict[Context, str]] = {
        Context.CONVERSATION: "Conversation",
        Context.TRACE: "Trace",
        Context.SERVERS: "Servers",
    }

    class Chosen(Message):
        """The name of a region was clicked."""

        def __init__(self, context: Context) -> None:
            super().__init__()
            self.context = context

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: tuple[Context, ...] = ()
        self._active: Context | None = None
        self._keys: dict[Context, str] = {}

    def tabs(self, tabs: Sequence[Context], active: Context | None, keys: dict[Context, str]) -> None:
        """Show the names of these regions with their keys; `active` is the visible one."""
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
        if not self._tabs:
            return super().row(width)
        spans = [span for _, part in self._parts() for span in part]
        return (*spans, ("─" * max(0, width - width_of(tuple(spans))), "rule"))

    def on_click(self, event: events.Click) -> None:
        if (tab := part_at(self._parts(), event.x)) is not None:
            self.post_message(self.Chosen(tab))
