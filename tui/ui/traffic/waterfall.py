"""The waterfall of a turn: when each part ran, what the turn waited for, and the calls of a part."""

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import ClassVar

from textual.binding import BindingType

from tui.core.comparison.argument_words import argument_words
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import cells_of, padded
from tui.core.traffic import Entry, Kind, Outcome, TrafficReader
from tui.traffic.record.open_recording import entries_of_turn
from tui.traffic.spans.span_values import Span, TurnSpan
from tui.traffic.spans.waterfall import (
    TimeBar,
    TimeShare,
    Waterfall,
    cells_of_shares,
    of_entries,
    of_spans,
    percents,
)
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of, overrides_of
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.statistics import FilterRows
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.rows import Row, crop, pad, width_of
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.times import span

MOST_CALLS, CALL_BYTES = 400, 16 * 1024
"""Maximum calls whose arguments are read, and bytes of each."""

MOST_LABEL = 36
"""Maximum cells of a label; fewer in a narrow terminal."""

_EMPTY = N_("  No entries of this turn. Press left or right for other turns, esc to go back.")
_STYLES = {TimeShare.MODEL: "model", TimeShare.TOOL: "tool", TimeShare.YOU: "user", TimeShare.REST: "rule"}


def _filter(found: Waterfall, bar: TimeBar) -> str:
    part = f" call:{bar.call}" if bar.call else f" step:{bar.step}" if bar.step else ""
    return f"turn:{found.turn}{part}"


def _columns(width: int) -> tuple[int, int]:
    """Return the cells of a label, and of the time beside it."""
    label = min(MOST_LABEL, width * 2 // 5)
    return label, max(10, width - label - 3)


def stretch_row(stretch: TimeBar, whole_ns: int, width: int) -> Row:
    """Return the line of a time bar: its label, and its position in the turn."""
    symbols, (label, room), whole = symbols_for(), _columns(width), max(1, whole_ns)
    start = min(room - 1, stretch.start_ns * room // whole)
    cells = max(1, min(room - start, (stretch.end_ns - stretch.start_ns) * room // whole))
    style = "bad" if stretch.failed else _STYLES[stretch.part]
    sign = symbols.outcomes[3] if stretch.failed else symbols.outcomes[1] if stretch.running else " "
    words = localized(stretch.label)
    if stretch.part is TimeShare.YOU:
        words = _("you: {label}", label=words)
    name: Row = ((f"  {words}", "text" if stretch.critical else "dim"),)
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
        axis = padded(axis, room * quarter // 4) + (span(whole_ns * quarter // 4) if quarter else "0")
    end = span(whole_ns)
    name, took = padded(f"  {_('step or call')}", label), padded(_("took"), 11, right=True)
    return ((f"{name}{padded(axis, room - cells_of(end))}{end}", "dim"), (took, "dim"))


def shares_row(shares: Sequence[tuple[TimeShare, float]], width: int) -> Row:
    """Return the shares as one bar above the others, each with at least one cell."""
    (label, room), block = _columns(width), symbols_for().bar[-1]
    cells = cells_of_shares([share for part, share in shares], room)
    bar = [(block * count, _STYLES[part]) for (part, share), count in zip(shares, cells, strict=False)]
    return (*pad(crop(((f"  {_('share of the time')}", "dim"),), label - 1), label), *bar)


def legend_row(shares: Sequence[tuple[TimeShare, float]]) -> Row:
    """Return the shares in words, in the colors of the bars."""
    row: list[tuple[str, str]] = []
    block = symbols_for().bar[-1]
    for (part, share), percent in zip(shares, percents([one for part, one in shares]), strict=True):
        many = f"{percent} %" if percent else "<1 %" if share else "0 %"
        row += [(f"{block} ", _STYLES[part]), (f"{_(part.value)} {many}   ", "text")]
    return tuple(row)


def call_row(bar: TimeBar, number: int, near: Sequence[TimeBar], width: int) -> Row:
    """Return the line of a call: its sign and name, what tells it from those `near` it, its time."""
    symbols = symbols_for()
    sign, style = (symbols.failed, "bad") if bar.failed else (symbols.done, "ok")
    if bar.running:
        sign, style = symbols.waiting, "tool"
    words = argument_words(bar.arguments, [one.arguments for one in near if one is not bar])
    took: Row = ((padded(span(bar.end_ns - bar.start_ns), 9, right=True), "text"),)
    left: Row = (
        (f"  {number:>3}  ", "dim"),
        (f"{sign} ", style),
        (f"{bar.label}  ", "tool"),
        (words, "text"),
    )
    return (*pad(crop(left, width - 11), width - 11), *took)


class WaterfallScreen(ViewScreen[str | None]):
    """The waterfall of a turn, and the calls of the selected bar; returns a filter for the selected entries.

    It is made from the conversation (`spans`), which includes approvals, otherwise from recorded entries.
    These are read in the background, and again when new ones arrive.
    """

    CONTEXTS = (Context.WATERFALL,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.WATERFALL)
    LOOKS_PER_SECOND = 4

    DEFAULT_CSS = "WaterfallScreen > #shares { padding: 0; background: $surface; }"

    def __init__(self, turn: int, list: EntryList, spans: Callable[[], Sequence[Span]] | None) -> None:
        self._axis, self._lanes = SplitBar(id="heads"), FilterRows(id="lanes")
        super().__init__(self._lanes, heads=self._axis)
        self._shares, self._calls_title, self._calls = (
            SplitBar(id="shares"),
            SplitBar(),
            FilterRows(id="calls"),
        )
        self._parts = [self._shares, *self._parts, self._calls_title, self._calls]
        self._recording, self._reader, self._spans = list.recording, list.reader, spans
        self._turn, self._last = turn, max(list.entries.turn, default=0)
        self._found: tuple[int, int, Sequence[Entry]] = (0, 0, ())  # turn, entries seen, its entries
        self._reading: asyncio.Task[None] | None = None

    def look(self) -> None:
        found, width = self._waterfall(), self._lanes.columns - 10
        left: Row = ((f"{_('WATERFALL')}  ", "text bold"),)
        rows: list[Row] = []
        filters: list[str] = []
        if found is not None:
            left = (*left, (f"{span(found.ns)}   ", "text"), *legend_row(found.shares))
            self._axis.show(axis_row(found.ns, width))
            self._shares.show(shares_row(found.shares, width))
            for one in found.bars:
                took = (padded(span(one.end_ns - one.start_ns), 9, right=True), "dim")
                rows.append((*stretch_row(one, found.ns, width), took))
                filters.append(_filter(found, one))
        self._shares.display = found is not None
        room = self._lanes.columns - width_of(left) - 4  # the padding of the bar, and its gap
        words = (text for text in self._words() if cells_of(text) <= room)
        self._title.show((*left, (next(words, ""), "dim")), ())
        self._lanes.show(rows or [((_(_EMPTY), "dim"),)], filters)
        self._lanes.styles.height = max(1, min(len(rows), self.size.height // 2)) if found else None
        self._show_calls(found)

    def _show_calls(self, found: Waterfall | None) -> None:
        """Show the calls of the selected bar; the last call that was selected stays so."""
        bars = found.bars if found is not None else ()
        is_there = found is not None and self._lanes.cursor < len(bars)
        calls = found.calls_of(bars[self._lanes.cursor]) if found is not None and is_there else []
        step = bars[self._lanes.cursor].step if is_there else 0
        title = n_("{n} call in step {step}", "{n} calls in step {step}", len(calls), step=step)
        self._calls.display = self._calls_title.display = found is not None
        key = overrides_of(self.app).first_of("waterfall.pane")
        self._calls_title.show(
            ((f"{_('CALLS')}  ", "text bold"), (title, "text")), ((_("{key} select a call", key=key), "dim"),)
        )
        width = self._calls.columns
        rows = [call_row(one, at, calls, width) for at, one in enumerate(calls, 1)]
        none = ((f"  {_('No calls in this step.')}", "dim"),)
        self._calls.show(rows or [none], [_filter(found, one) for one in calls] if found is not None else [])

    def switch_pane(self) -> None:
        """Move the focus from the bars to the calls, or back."""
        to = self._lanes if self._calls.has_focus or not self._calls.filters else self._calls
        self.set_focus(to, scroll_visible=False)

    def choose(self) -> None:
        (self._calls if self._calls.has_focus else self._lanes).action_choose()

    def turn(self, direction: int) -> None:
        self._turn = max(1, min(self._last, self._turn + direction))
        self._lanes.filters, self._lanes.cursor = (), 0
        self.look()

    def _words(self) -> list[str]:
        """Return texts like "turn 2 of 5", the longest first: with its number in the conversation."""
        places = {"turn": self._turn, "last": self._last}
        turn = _("turn {turn} of {last}", **places)
        if self._spans is None:
            return [turn]
        recorded = _("turn {turn} of {last} in this recording", **places)
        for one in self._spans():
            if isinstance(one, TurnSpan) and one.traffic == self._turn and not one.past:
                if one.number == self._turn:
                    return [turn]
                words = N_("turn {number} of the conversation, turn {turn} of {last} in this recording")
                return [_(words, number=one.number, **places), recorded, turn]
        return [recorded, turn]

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
        loaded = columns.loaded

        def entries(reader: TrafficReader) -> list[Entry]:
            found = entries_of_turn(reader, columns, turn)
            calls = islice((one.seq for one in found if one.kind is Kind.REQUEST and one.tool), MOST_CALLS)
            whole = {seq: reader.entry(seq, CALL_BYTES) for seq in calls}
            return [whole.get(one.seq) or one for one in found]

        self._found = (turn, loaded, await self._reader.ask(entries))
