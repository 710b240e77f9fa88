"""The last lines of a question: problems, the keys that answer, and the number of waiting questions."""

from collections.abc import Iterator, Sequence

from textual.content import Content
from textual.widgets import Static

from tui.core import units
from tui.core.text import clean_line
from tui.ui.keys.action_table import action
from tui.ui.keys.key_overrides import KeyOverrides

SHORT = 16
GAP = "    "
BREAKPOINTS = [(0, "-short"), (SHORT, "-tall")]
"""On a screen with fewer than `SHORT` rows, a dialog has the class `-short` and no margins."""


NOT_READ = "Read all of it first."
"""Shown for a yes before the whole text was read."""


class QuestionLine(Static):
    """Shows the keys of `actions`, and above them the last message."""

    DEFAULT_CSS = "QuestionLine { width: 1fr; height: auto; }"

    def __init__(self, keys: KeyOverrides, actions: Sequence[str], waiting: int) -> None:
        super().__init__(markup=False)
        self._keys = keys
        self._actions = actions
        self._waiting = waiting
        self._said = ""
        self._unread = ""
        self._words: dict[str, str] = {}

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def say(self, text: str) -> None:
        """Show a problem; "" removes it."""
        self._said = text
        self._draw()

    def show_unread(self, unread: str) -> None:
        """Show what part of the question has not been on screen yet. If there is none, remove the warning."""
        if unread != self._unread:
            self._unread = unread
            self._said = self._said if unread else ""
            self._draw()

    def offer(self, actions: Sequence[str]) -> None:
        """Show the keys of these actions."""
        if actions != self._actions:
            self._actions = actions
            self._draw()

    def show_waiting(self, waiting: int) -> None:
        self._waiting = waiting
        self._draw()

    def relabel(self, action_id: str, words: str) -> None:
        """Show other words for an action than those in the table."""
        self._words[action_id] = words
        self._draw()

    def _draw(self) -> None:
        parts: list[tuple[str, str]] = []
        if said := " ".join(filter(None, (clean_line(self._said, 300), self._unread))):
            parts.append((f"! {said}\n", "$warn"))
        column = 0
        for key, words in self._groups():
            if column and self.size.width and column + len(GAP) + len(key) + len(words) > self.size.width:
                parts.append(("\n", ""))
                column = 0
            gap = GAP if column else ""
            parts += [(f"{gap}{key}", "bold"), (words, "$text-dim")]
            column += len(gap) + len(key) + len(words)
        self.update(Content.assemble(*parts))

    def _groups(self) -> Iterator[tuple[str, str]]:
        """Yield the unbreakable parts: each key with its label, and the number of waiting questions."""
        for one in self._actions:
            yield self._keys.answers_of(one), f" {self._words.get(one, action(one).label)}"
        if self._waiting:
            yield "", f"{units.plural(self._waiting, 'more question')} waiting"
