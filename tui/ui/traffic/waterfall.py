"""The waterfall of a turn: when each part ran, and what the turn waited for."""

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import ClassVar

from textual.binding import BindingType

from tui.core.traffic import Entry, Outcome, TrafficReader
from tui.core.units import span
from tui.traffic.record.column_parts import places_of
from tui.traffic.record.open_recording import columns_of
from tui.traffic.spans.span_values import Span, TurnSpan
from tui.traffic.spans.waterfall import TimeBar, TimeShare, Waterfall, of_entries, of_spans
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.statistics import FilterRows
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.rows import Row, crop, pad
from tui.ui.widgets.symbols import symbols_for

MOST_ENTRIES = 4_000
MOST_LABEL = 36
"""Maximum cells of a label; fewer in a narrow terminal."""

_EMPTY = "  No entries of this turn. Press left or right for other turns, esc to go back."
_STYLES = {TimeShare.MODEL: "model", TimeShare.TOOL: "tool", TimeShare.YOU: "user", TimeShare.REST: "rule"}


def stretch_row(stretch: TimeBar, whole_ns: int, width: int) -> Row:
    """Return the line of a time bar: its label, and its position in the turn."""
    symbols, label = symbols_for(), min(MOST_LABEL, width * 2 // 5)
    room = max(10, width - label - 3)
    whole = max(1, whole_ns)
    start = min(room - 1, stretch.start_ns * room // whole)
    cells = max(1, min(room - start, (stretch.end_ns - stretch.start_ns) * room // whole))
    style = "bad" if stretch.failed else _STYLES[stretch.part]
    sign = symbols.outcomes[3] if stretch.failed else symbols.outcomes[1] if stretch.running else " "
    you = "you: " if stretch.part is TimeShare.YOU else ""
    name: Row = ((f"  {you}{stretch.label}", "text" if stretch.critical else "dim"),)
    return (
        *pad(crop(name, label - 1), label),
        (" " * start, ""),
        ((symbols.bar[-1] if stretch.critical else symbols.thin) * cells, style),
        (" " * (room - start - cells), ""),
        (f" {sign}", style),
    )


def axis_row(whole_ns: int, width: int) -> Row:
    """Return the time axis above the bars: the start of each quarter of the turn, and its end."""
    label = max(0, min(MOST_LABEL, width * 2 // 5))
    room = max(20, width - label - 3)
    quarters = (0, 1, 2, 3) if room >= 48 else (0, 2)
    axis = ""
    for quarter in quarters:
        axis = f"{axis:<{room * quarter // 4}}{span(whole_ns * quarter // 4) if quarter else '0'}"
    end = span(whole_ns)
    return ((f"{'  step or call':<{label}}{axis:<{room - len(end)}}{end}", "dim"), (f"{'took':>11}", "dim"))


class WaterfallScreen(ViewScreen[str | None]):
    """The waterfall of a turn; returns a filter for the entries of the selected bar.

    It is made from the conversation (`spans`), which includes approvals, otherwise from recorded entries.
    These are read in the background, and again when new ones arrive.
    """

    CONTEXTS = (Context.WATERFALL,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.WATERFALL)
    LOOKS_PER_SECOND = 4

    def __init__(self, turn: int, list: EntryList, spans: Callable[[], Sequence[Span]] | None) -> None:
        self._axis, self._lanes = SplitBar(id="heads"), FilterRows(id="lanes")
        super().__init__(self._lanes, heads=self._axis)
        self._recording, self._reader, self._spans = list.recording, list.reader, spans
        self._turn, self._last = turn, max(list.entries.turn, default=0)
        self._found: tuple[int, int, Sequence[Entry]] = (0, 0, ())  # turn, entries seen, its entries
        self._reading: asyncio.Task[None] | None = None

    def look(self) -> None:
        found, width = self._waterfall(), self._lanes.columns - 10
        left: Row = (("WATERFALL  ", "text bold"),)
        rows: list[Row] = []
        filters: list[str] = []
        if found is not None:
            left = (*left, (f"{span(found.ns)}   ", "text"), (f"{found.words}   ", "text"))
            self._axis.show(axis_row(found.ns, width))
            for one in found.bars:
                took = (f"{span(one.end_ns - one.start_ns):>9}", "dim")
                rows.append((*stretch_row(one, found.ns, width), took))
                part = f" call:{one.call}" if one.call else f" step:{one.step}" if one.step else ""
                filters.append(f"turn:{found.turn}{part}")
        self._title.show((*left, (self._words(), "dim")), ())
        self._lanes.show(rows or [((_EMPTY, "dim"),)], filters)

    def turn(self, direction: int) -> None:
        self._turn = max(1, min(self._last, self._turn + direction))
        self._lanes.filters, self._lanes.cursor = (), 0
        self.look()

    def _words(self) -> str:
        """Return a text like "turn 2 of 5", with its number in the conversation if that differs."""
        recorded = f"turn {self._turn} of {self._last}"
        for one in self._spans() if self._spans is not None else ():
            if isinstance(one, TurnSpan) and one.traffic == self._turn and not one.past:
                if one.number == self._turn:
                    return recorded
                return f"turn {one.number} of the conversation, {recorded} in this recording"
        return recorded if self._spans is None else f"{recorded} in this recording"

    def _waterfall(self) -> Waterfall | None:
        """Return the turn's waterfall from the entries read so far, and start reading new ones."""
        turn, columns = self._turn, self._recording.entries
        if self._spans is not None:
            if (found := of_spans(self._spans(), turn, time.monotonic_ns())) is not None:
                return found
        known, seen, entries = self._found
        if (known, seen) != (turn, columns.loaded) and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read(turn), name="read a turn")
        if known != turn:
            return None
        places = (columns.index(entry.seq) for entry in entries)
        is_pending = any(place >= 0 and columns.outcome[place] == Outcome.PENDING for place in places)
        return of_entries(entries, turn, time.monotonic_ns() if self._recording.live and is_pending else None)

    async def _read(self, turn: int) -> None:
        columns = self._recording.entries
        count, loaded = len(columns), columns.loaded

        def entries(reader: TrafficReader) -> list[Entry]:
            places = islice(places_of(columns.turn, turn, 0, count), MOST_ENTRIES)
            found = columns_of(reader, [columns.seq(at) for at in places])
            return [entry for _, entry in found if entry is not None]

        self._found = (turn, loaded, await self._reader.ask(entries))
