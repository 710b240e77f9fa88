"""Where the time of one turn went: what ran when, in lanes, and what the turn waited for."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.traffic.spans.waterfall import TimeBar, TimeShare, Waterfall
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, pad
from tui.ui.widgets.symbols import Symbols
from tui.ui.widgets.times import span

LOOKS_PER_SECOND = 4
MOST_LABEL = 36
"""Cells of a label at most; a third of the line in a narrow terminal."""

_STYLES = {TimeShare.MODEL: "model", TimeShare.TOOL: "tool", TimeShare.YOU: "user", TimeShare.REST: "rule"}
_KEYS = (("enter", "show its entries"), ("left right", "turn before, next turn"), ("esc", "back"))


def stretch_row(stretch: TimeBar, whole_ns: int, width: int, signs: Symbols) -> Row:
    """Return the line of one stretch of time: what it is, how long, and where it stands in the turn."""
    label = min(MOST_LABEL, width * 2 // 5)
    room = max(10, width - label - 3)
    whole = max(1, whole_ns)
    start = min(room - 1, stretch.start_ns * room // whole)
    cells = max(1, min(room - start, (stretch.end_ns - stretch.start_ns) * room // whole))
    style = "bad" if stretch.failed else _STYLES[stretch.part]
    sign = signs.outcomes[3] if stretch.failed else signs.outcomes[1] if stretch.running else " "
    said = f"you: {stretch.label}" if stretch.part is TimeShare.YOU else stretch.label
    name: Row = ((f"  {said}", "text" if stretch.critical else "dim"),)
    return (
        *pad(crop(name, label - 1), label),
        (" " * start, ""),
        ((signs.bar[-1] if stretch.critical else signs.thin) * cells, style),
        (" " * (room - start - cells), ""),
        (f" {sign}", style),
    )


class _Lanes(LinePane):
    CURSOR = True
    FOLLOWS = False

    def __init__(self, signs: Symbols) -> None:
        super().__init__(id="lanes")
        self.waterfall: Waterfall | None = None
        self._signs = signs

    def row_count(self) -> int:
        return max(1, len(self.waterfall.bars) if self.waterfall is not None else 0)

    def row(self, index: int) -> Row:
        found = self.waterfall
        if found is None or not found.bars:
            return (("  Nothing of this turn was recorded.", "dim"),)
        stretch = found.bars[index]
        row = stretch_row(stretch, found.ns, self.columns - 10, self._signs)
        return (*row, (f"{span(stretch.end_ns - stretch.start_ns):>9}", "dim"))

    def row_selectable(self, index: int) -> bool:
        return self.waterfall is not None and index < len(self.waterfall.bars)

    def row_chosen(self, index: int) -> None:
        assert self.waterfall is not None
        stretch, turn = self.waterfall.bars[index], self.waterfall.turn
        call = f" call:{stretch.call}" if stretch.call else f" step:{stretch.step}" if stretch.step else ""
        self.screen.dismiss(f"turn:{turn}{call}")


class _Line(Bar):
    parts: tuple[Row, Row] = ((), ())

    def row(self, width: int) -> Row:
        return spread(self.parts[0], self.parts[1], width)


class WaterfallScreen(ModalScreen[str | None]):
    """The waterfall of a turn; gives back the filter of the stretch that was chosen.

    Args:
        turn: which turn to begin with.
        last: number of the last turn.
        look_up: gives the waterfall of a turn, None if there is none; called several times a second.
        signs: what the terminal can show.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "back", priority=True),
        Binding("left,h", "turn(-1)", "turn before", priority=True),
        Binding("right,l", "turn(1)", "next turn", priority=True),
    ]

    DEFAULT_CSS = """
    WaterfallScreen { background: $surface; layout: vertical; }
    WaterfallScreen > Bar { padding: 0 1; background: $panel; }
    WaterfallScreen > _Lanes { height: 1fr; background: $surface; }
    """

    def __init__(
        self, turn: int, last: int, look_up: Callable[[int], Waterfall | None], signs: Symbols
    ) -> None:
        super().__init__()
        self._turn, self._last = turn, last
        self._look_up = look_up
        self._title, self._keys = _Line(), _Line()
        keys = tuple(part for key, words in _KEYS for part in ((key, "accent"), (f" {words}   ", "dim")))
        self._keys.parts = (keys, ())
        self._lanes = _Lanes(signs)

    def compose(self) -> ComposeResult:
        """Build title, lanes and keys."""
        yield self._title
        yield self._lanes
        yield self._keys

    def on_mount(self) -> None:
        """Begin to look."""
        self._lanes.focus()
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    def look(self) -> None:
        """Show the turn as it is now."""
        found = self._look_up(self._turn)
        left: Row = (("WATERFALL  ", "accent bold"), (f"turn {self._turn}", "text"))
        if found is not None:
            left = (*left, (f"   {span(found.ns)}", "text"), (f"   {found.words}", "dim"))
        parts = (left, ((f"of {self._last}", "dim"),))
        if found != self._lanes.waterfall or parts != self._title.parts:
            self._lanes.waterfall = found
            self._lanes.rows_changed()
            self._title.parts = parts
            self._title.refresh()

    def action_turn(self, direction: int) -> None:
        """Show another turn."""
        self._turn = max(1, min(self._last, self._turn + direction))
        self._lanes.cursor = 0
        self.look()

    def action_back(self) -> None:
        """Go back to the list."""
        self.dismiss(None)
