"""The help: every key, from the table of actions."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.ui.keys.action_table import OF_SCREENS, Context, key_words, of_context
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.keys.slash_commands import ELSEWHERE, OWN
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row

_EVERY_PANE = (
    ("tab", "Go to the next pane"),
    ("up down page up page down", "Scroll"),
    ("end", "Go to the end and follow it"),
    ("enter", "Unfold what the mark stands on"),
)
_COLUMN = 30


MAIN = tuple(context for context in Context if context not in OF_SCREENS)
"""The contexts of the main screen; the screens over it have a help of their own."""


def help_rows(overrides: KeyOverrides, contexts: Sequence[Context] = MAIN) -> list[Row]:
    """Return the rows of the help: a group per context, keys left, sentence right."""
    rows: list[Row] = [((" Keys", "accent bold"),), EMPTY]
    for context in contexts:
        rows.append(((f" {context.value}", "text bold"),))
        for found in of_context(context):
            keys = key_words(overrides.keys_of(found))
            if found.anywhere:
                keys += f"   anywhere: {key_words(found.anywhere)}"
            rows.append(((f"   {keys:<{_COLUMN}} ", "accent"), (found.help, "text")))
        rows.append(EMPTY)
    if Context.COMPOSER in contexts:
        rows.append(((" At the start of a message", "text bold"),))
        rows += [_command_row(f"/{spec.name} {spec.usage}", spec.help) for spec in OWN]
        rows += [_command_row(written, words) for written, words in ELSEWHERE]
        rows.append(EMPTY)
    rows.append(((" In every pane", "text bold"),))
    rows += [((f"   {keys:<{_COLUMN}} ", "accent"), (words, "text")) for keys, words in _EVERY_PANE]
    rows += [EMPTY, ((" Keys can be changed under [ui.keys] in the configuration.   esc closes", "dim"),)]
    return rows


def _command_row(written: str, words: str) -> Row:
    return ((f"   {written:<{_COLUMN + 6}} ", "accent"), (words, "text"))


class _HelpLines(LinePane):
    FOLLOWS = False

    def __init__(self, rows: list[Row]) -> None:
        super().__init__()
        self._rows = rows

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]


class HelpScreen(ModalScreen[None]):
    """The help, over the current screen."""

    TAKES = frozenset({"app.help"})

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,question_mark", "close", "close", priority=True),
    ]

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $surface 60%; }
    HelpScreen.-over-dialog { background: $surface; }
    HelpScreen _HelpLines {
        width: 96; max-width: 100%; height: auto; max-height: 90%; padding: 1 2; background: $panel;
    }
    """

    def __init__(self, overrides: KeyOverrides, contexts: Sequence[Context] = MAIN) -> None:
        super().__init__()
        self._rows = help_rows(overrides, contexts)

    def compose(self) -> ComposeResult:
        lines = _HelpLines(self._rows)
        lines.styles.height = len(self._rows) + 2
        yield lines

    def on_mount(self) -> None:
        """Hide a dialog below: its last lines would look like those of the help."""
        below = self.app.screen_stack[-2:-1]
        self.set_class(any(screen.is_modal for screen in below), "-over-dialog")

    def action_close(self) -> None:
        self.dismiss(None)
