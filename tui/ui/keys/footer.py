"""The footer: the keys that do something now. A click on one does what its key does."""

from collections.abc import Iterable, Sequence

from textual import events

from tui.ui.keys.action_table import Action, action, first_key
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.rows import Row, width_of

Entry = tuple[str, str, Action]
"""Key, label, action."""

_GAP = "   "


class Footer(Bar):
    """Keys and their labels, the most useful ones if not all fit."""

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._entries: tuple[Entry, ...] = ()

    def show(self, entries: Sequence[Entry]) -> None:
        """Show these keys, the most useful first."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self.refresh()

    def row(self, width: int) -> Row:
        row: list[tuple[str, str]] = []
        for key, label, _ in fitting(self._entries, width):
            row += [(_GAP if row else " ", ""), (key, "accent"), (f" {label}", "dim")]
        return tuple(row)

    async def on_click(self, event: events.Click) -> None:
        column = 1
        for key, label, found in fitting(self._entries, self.size.width):
            end = column + _width(key, label)
            if column <= event.x < end:
                await self.app.run_action(found.method, self.screen.focused or self.screen)
                return
            column = end + len(_GAP)


def entries_of(actions: Iterable[Action], overrides: KeyOverrides) -> list[Entry]:
    """Return the entries of actions, the most useful first, followed by the help."""
    shown = sorted((action for action in actions if action.footer), key=lambda action: action.footer)
    return [
        (first_key(overrides.keys_of(found)), found.label, found) for found in (*shown, action("app.help"))
    ]


def _width(key: str, label: str) -> int:
    return width_of(((key, ""), (f" {label}", "")))


def fitting(entries: Sequence[Entry], width: int) -> list[Entry]:
    """Return as many of the first entries as fit a line of `width` cells."""
    left = width - 2
    found = []
    for entry in entries:
        left -= _width(entry[0], entry[1])
        if left < 0:
            break
        found.append(entry)
        left -= len(_GAP)
    return found
