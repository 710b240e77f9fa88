"""How often, how long, how much: every server and tool of a recording on one line each."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.core.text import clean_line
from tui.traffic.filter.nodes import written
from tui.traffic.record.entry_columns import Recording
from tui.traffic.stats import Figures, Stats
from tui.ui.traffic.figures_rows import figures_row, head
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row

LOOKS_PER_SECOND = 4
COUNTING_MS = 8.0

_KEYS = (("enter", "show its entries"), ("j k", "up and down"), ("esc", "back"))


class _Table(LinePane):
    CURSOR = True
    FOLLOWS = False

    def __init__(self) -> None:
        super().__init__(id="figures")
        self.figures: list[Figures] = []

    def row_count(self) -> int:
        return max(1, len(self.figures))

    def row(self, index: int) -> Row:
        if not self.figures:
            return (("  Nothing was called yet.", "dim"),)
        return figures_row(self.figures[index], self.columns)

    def row_selectable(self, index: int) -> bool:
        return index < len(self.figures)

    def row_chosen(self, index: int) -> None:
        figures = self.figures[index]
        parts = [("server", figures.server), ("method", figures.method), ("tool", figures.tool)]
        known = [f"{name}:{written(text)}" for name, text in parts if text and text != "(other)"]
        self.screen.dismiss(" ".join(known))


class _Line(Bar):
    parts: tuple[Row, Row] = ((), ())

    def row(self, width: int) -> Row:
        return spread(self.parts[0], self.parts[1], width)


class FiguresScreen(ModalScreen[str | None]):
    """The measures; gives back the filter of the line that was chosen.

    Args:
        recording: what is measured.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "back", "back", priority=True)]

    DEFAULT_CSS = """
    FiguresScreen { background: $surface; layout: vertical; }
    FiguresScreen > Bar { padding: 0 1; background: $panel; }
    FiguresScreen > #figures-heads { background: $surface; padding: 0; }
    FiguresScreen > _Table { height: 1fr; background: $surface; }
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._stats = Stats(recording.frames)
        self._seen = (-1, -1)
        self._frames = recording.frames
        self._title, self._heads, self._keys = _Line(), _Line(id="figures-heads"), _Line()
        self._title.parts = ((("NUMBERS  ", "accent bold"), (clean_line(recording.title, 60), "text")), ())
        keys = tuple(part for key, words in _KEYS for part in ((key, "accent"), (f" {words}   ", "dim")))
        self._keys.parts = (keys, ())
        self._table = _Table()

    def compose(self) -> ComposeResult:
        """Build title, headings, table and keys."""
        yield self._title
        yield self._heads
        yield self._table
        yield self._keys

    def on_mount(self) -> None:
        """Begin to count."""
        self._table.focus()
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    def look(self) -> None:
        """Count on, and show what was counted."""
        seen = (len(self._frames), self._frames.revision)
        if seen == self._seen:
            return
        done = self._stats.advance(COUNTING_MS)
        self._seen = seen if done else (-1, -1)
        self._heads.parts = (head(self._table.columns), ())
        self._title.parts = (self._title.parts[0], () if done else (("counting…", "warn"),))
        self._table.figures = [
            line for server in self._stats.servers() for line in (server, *self._stats.tools(server.server))
        ]
        self._table.rows_changed()
        self._heads.refresh()
        self._title.refresh()
        if not done:
            self.call_later(self.look)

    def on_resize(self) -> None:
        """The headings move with the columns."""
        self.call_after_refresh(self._again)

    def _again(self) -> None:
        self._seen = (-1, -1)
        self.look()

    def action_back(self) -> None:
        """Go back to the list."""
        self.dismiss(None)
