"""Statistics: counts, latencies and sizes, with one line for each server and tool of a recording."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from tui.core import units
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import cells_of, clean_line, cropped, padded
from tui.traffic.filter.fields import written
from tui.traffic.record.open_recording import Recording
from tui.traffic.stats import Figures, Stats
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, pad
from tui.ui.widgets.times import span

_BLOCKS = "▁▂▃▄▅▆▇█"
SPARK_CELLS = 30
LEAST_SPARK = 12
"""Minimum cells for calls over time; in fewer, the heading does not fit."""

LEAST_NAME = 18
"""Cells of a name. If there are fewer, the last numbers are left out."""

METHOD_FROM = 32
"""Column where the methods start, if there is room."""

ALL = N_("all servers")
_EMPTY = N_("No calls yet. Start a server or send a message to see statistics here.")

_NUMBERS = (
    (N_("calls"), 7),
    (N_("errors"), 7),
    (N_("pending"), 8),
    ("p50", 9),
    ("p95", 9),
    (N_("longest"), 9),
    (N_("bytes"), 8),
)
"""The columns of numbers, with the cells of their values and a blank."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of the columns in a table of `width` cells: as wide as values and headings need."""

    numbers: tuple[int, ...]
    names: int
    spark: int

    @classmethod
    def of(cls, width: int) -> "Columns":
        numbers = tuple(max(cells, cells_of(_(name)) + 1) for name, cells in _NUMBERS)
        while numbers and sum(numbers) + LEAST_NAME + 2 > width:
            numbers = numbers[:-1]
        names = max(LEAST_NAME, min(44, width - sum(numbers) - 1))
        room = min(SPARK_CELLS, width - names - sum(numbers) - 5)
        return cls(numbers, names, room if room >= LEAST_SPARK else 0)

    @property
    def has_method(self) -> bool:
        return self.names > METHOD_FROM


def head(width: int, spark_ns: int = 0) -> Row:
    """Return the headings; calls over time cover `spark_ns` nanoseconds."""
    columns = Columns.of(width)
    pairs = zip(_NUMBERS, columns.numbers, strict=False)
    numbers = "".join(padded(_(name), cells, right=True) for (name, _cells), cells in pairs)
    words = [_("over time")]
    if spark_ns:
        words = [_("calls over {time}", time=span(spark_ns)), _("over {time}", time=span(spark_ns))]
    fitting = next((text for text in words if cells_of(text) <= columns.spark), "")
    over = f"   {fitting}" if fitting else ""
    names = f"  {_('server and tool')}"
    if cells_of(names) > columns.names:
        names = f"  {_('tool')}"
    if columns.has_method:
        names = padded(cropped(names, METHOD_FROM - 1), METHOD_FROM) + _("method")
    return ((f"{padded(cropped(names, columns.names), columns.names)}{numbers}{over}", "dim"),)


def figures_row(figures: Figures, width: int, stretches: int | None = None) -> Row:
    """Return the line of a server or a tool, with `stretches` intervals of its calls over time."""
    is_server = not figures.method
    name = clean_line((figures.server or _(ALL)) if is_server else figures.tool or figures.method, 80)
    columns = Columns.of(width)
    cells = columns.names
    left: Row = ((f"  {name}", "text bold"),)
    if not is_server:
        left = ((f"    {name}", "tool" if figures.tool else "dim" if figures.is_setup else "text"),)
        if figures.tool and columns.has_method:
            left = (*pad(crop(left, METHOD_FROM - 1), METHOD_FROM), (clean_line(figures.method, 40), "dim"))
    failed = figures.errors + figures.lost
    plain = "text" if is_server else "dim"
    calls = units.count(figures.calls)
    values = (
        (f"({calls})" if figures.is_setup else calls, plain if figures.is_setup else "text"),
        (f"✗ {failed}" if failed else "0", "bad" if failed else "dim"),
        (f"◌ {figures.waiting}" if figures.waiting else "", "warn"),
        (_time(figures.p50_ns), plain),
        (_time(figures.p95_ns), plain),
        (_time(figures.longest_ns), "warn" if figures.longest_ns >= 1_000_000_000 else plain),
        (units.size(figures.octets), "dim"),
    )
    numbers = zip(columns.numbers, values, strict=False)
    return (
        *pad(crop(left, cells - 1), cells),
        *((padded(text, room, right=True), style) for room, (text, style) in numbers),
        (f"   {sparkline(figures.sparks[:stretches], columns.spark)}", "tool"),
    )


def _time(ns: int) -> str:
    return span(ns) if ns > 0 else ""


def sparkline(counts: tuple[int, ...], cells: int) -> str:
    """Return counts as a line of blocks, adding up adjacent counts if there are more than cells."""
    if not counts or not cells:
        return ""
    each = max(1, -(-len(counts) // cells))
    sums = [sum(counts[start : start + each]) for start in range(0, len(counts), each)]
    most = max(sums, default=0) or 1
    return "".join(_BLOCKS[min(7, count * 8 // (most + 1))] if count else " " for count in sums).rstrip()


COUNTING_MS = 4.0
"""Duration of one slice of counting; keys and painting run between slices."""


def filter_of(figures: Figures) -> str:
    """Return the filter for the entries of a line."""
    parts = (("server", figures.server), ("method", figures.method), ("tool", figures.tool))
    return " ".join(f"{name}:{written(text)}" for name, text in parts if text and text != "(other)")


class FilterRows(LinePane):
    """Rows, most of which have a filter that their screen returns once one is chosen."""

    CURSOR = True
    FOLLOWS = False
    filters: Sequence[str] = ()

    def show(self, rows: Sequence[Row], filters: Sequence[str]) -> None:
        """Show rows, the first ones with filters. The cursor stays on its line, also if that has moved."""
        cursor = self.cursor
        was = self.filters[cursor] if cursor < len(self.filters) else None
        if was is not None and was in filters and was not in filters[cursor : cursor + 1]:
            self.cursor = list(filters).index(was)
        if rows != self._shown_rows or self.cursor != cursor:
            self._shown_rows, self.filters = rows, filters
            self.rows_changed()
            if was is None or self.cursor != cursor:  # otherwise the user may have scrolled away from it
                self.show_row(self.cursor)

    def row_selectable(self, index: int) -> bool:
        return index < len(self.filters)

    def row_chosen(self, index: int) -> None:
        self.screen.dismiss(self.filters[index])


class StatisticsScreen(ViewScreen[str | None]):
    """The statistics of a recording; returns a filter for the entries of the selected line."""

    CONTEXTS = (Context.STATISTICS,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.STATISTICS)
    LOOKS_PER_SECOND = 4

    def __init__(self, recording: Recording) -> None:
        self._heads, self._table = SplitBar(id="heads"), FilterRows()
        super().__init__(self._table, heads=self._heads)
        self._stats = Stats(recording.entries)
        self._counted = (-1, -1)
        self._with_setup = False
        self._work: asyncio.Handle | None = None  # the next slice of counting
        self._entries = recording.entries
        title = clean_line(localized(recording.title), 60)
        self._title.left = ((f"{_('STATISTICS')}  ", "text bold"), (title, "text"))

    def on_unmount(self) -> None:
        if self._work is not None:
            self._work.cancel()

    def look(self) -> None:
        """Count new entries; while that takes longer than a slice, show intermediate results."""
        if self._work is None and self._counted != (self._entries.loaded, self._entries.revision):
            self._count()
        if self._work is not None:
            self._show()

    def _count(self) -> None:
        self._work = None
        counted = self._entries.loaded, self._entries.revision
        if self._stats.advance(COUNTING_MS):
            self._counted = counted
            self._show()
        else:
            self._work = asyncio.get_running_loop().call_soon(self._count)

    def _show(self) -> None:
        stats, entries = self._stats, self._entries
        loaded, count = entries.loaded, len(entries)
        busy = []
        if self._work is not None:
            busy.append(_("counting {percent} %", percent=round(stats.share * 100)))
        if loaded < count:
            busy.append(_("of the {percent} % loaded", percent=loaded * 100 // count))
        total = stats.total()
        calls = ""
        if total.calls:
            calls = n_("{count} call", "{count} calls", total.calls, count=units.count(total.calls))
            calls += f"   {units.size(total.octets)}"
        servers = sorted(stats.servers(), key=lambda server: not server.calls)
        lines = [line for server in servers for line in (server, *stats.tools(server.server))]
        hidden = sum(line.is_setup for line in lines)
        if self._with_setup or not total.calls:
            setup = f"{_('(n) handshakes, lists')}   " if hidden else ""
        else:
            lines = [line for line in lines if not line.is_setup]
            setup = f"{_('h shows handshakes and lists')}   " if hidden else ""
        if lines:
            lines = [*lines, total]
        self._title.show(self._title.left, (("   ".join(busy), "warn"), (setup, "dim"), (calls, "text")))
        columns = self._table.columns
        used = (place + 1 for one in lines for place, count in enumerate(one.sparks) if count)
        stretches = max(used, default=0)  # the time intervals up to the last call
        rows = [figures_row(one, columns, stretches) for one in lines]
        empty: Row = (("" if busy else f"  {_(_EMPTY)}", "dim"),)
        self._table.show(rows or [empty], [filter_of(one) for one in lines])
        self._heads.show(head(columns, stretches * stats.spark_width_ns))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def toggle_setup(self) -> None:
        """Show or hide the lines of handshakes and lists."""
        self._with_setup = not self._with_setup
        self._show()
