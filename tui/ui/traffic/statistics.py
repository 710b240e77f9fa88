"""Statistics: counts, latencies and sizes, with one line for each server and tool of a recording."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from tui.core import units
from tui.core.text import clean_line
from tui.core.units import span
from tui.traffic.filter.fields import written
from tui.traffic.record.open_recording import Recording
from tui.traffic.stats import Figures, Stats
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, pad

_BLOCKS = "▁▂▃▄▅▆▇█"
SPARK_CELLS = 30
LEAST_SPARK = 12
"""Minimum cells for calls over time; in fewer, the heading does not fit."""

METHOD_FROM = 32
"""Column where the methods start, if there is room."""

ALL = "all servers"
_EMPTY = "No calls yet. Start a server or send a message to see statistics here."

_NUMBERS = (("calls", 7), ("errors", 7), ("pending", 8), ("p50", 9), ("p95", 9), ("longest", 9), ("bytes", 8))


def head(width: int, spark_ns: int = 0) -> Row:
    """Return the headings; calls over time cover `spark_ns` nanoseconds."""
    numbers = "".join(f"{name:>{cells}}" for name, cells in _NUMBERS)
    cells = _name_cells(width)
    room = _spark_cells(width, cells)
    words = f"calls over {span(spark_ns)}" if spark_ns else "over time"
    over = f"   {words if len(words) <= room else words.removeprefix('calls ')}" if room else ""
    names = f"{'  server and tool':<{METHOD_FROM}}method" if cells > METHOD_FROM else "  server and tool"
    return ((f"{names:<{cells}}{numbers}{over}", "dim"),)


def figures_row(figures: Figures, width: int, stretches: int | None = None) -> Row:
    """Return the line of a server or a tool, with `stretches` intervals of its calls over time."""
    is_server = not figures.method
    name = clean_line((figures.server or ALL) if is_server else figures.tool or figures.method, 80)
    cells = _name_cells(width)
    left: Row = ((f"  {name}", "text bold"),)
    if not is_server:
        left = ((f"    {name}", "tool" if figures.tool else "dim" if figures.is_setup else "text"),)
        if figures.tool and cells > METHOD_FROM:
            left = (*pad(crop(left, METHOD_FROM - 1), METHOD_FROM), (clean_line(figures.method, 40), "dim"))
    failed = figures.errors + figures.lost
    plain = "text" if is_server else "dim"
    calls = units.count(figures.calls)
    return (
        *pad(crop(left, cells - 1), cells),
        (f"{f'({calls})' if figures.is_setup else calls:>7}", plain if figures.is_setup else "text"),
        (f"{f'✗ {failed}' if failed else '0':>7}", "bad" if failed else "dim"),
        (f"{f'◌ {figures.waiting}' if figures.waiting else '':>8}", "warn"),
        (f"{_time(figures.p50_ns):>9}", plain),
        (f"{_time(figures.p95_ns):>9}", plain),
        (f"{_time(figures.longest_ns):>9}", "warn" if figures.longest_ns >= 1_000_000_000 else plain),
        (f"{units.size(figures.octets):>8}", "dim"),
        (f"   {sparkline(figures.sparks[:stretches], _spark_cells(width, cells))}", "tool"),
    )


def _name_cells(width: int) -> int:
    return max(18, min(44, width - 58))


def _spark_cells(width: int, name_cells: int) -> int:
    room = min(SPARK_CELLS, width - name_cells - 62)
    return room if room >= LEAST_SPARK else 0


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
        self._title.left = (("STATISTICS  ", "text bold"), (clean_line(recording.title, 60), "text"))

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
        counting = f"counting {stats.share:.0%}".replace("%", " %   ") if self._work is not None else ""
        loading = f"of the {loaded * 100 // count} % loaded" if loaded < count else ""
        total = stats.total()
        calls = f"{units.counted(total.calls, 'call')}   {units.size(total.octets)}" if total.calls else ""
        servers = sorted(stats.servers(), key=lambda server: not server.calls)
        lines = [line for server in servers for line in (server, *stats.tools(server.server))]
        hidden = sum(line.is_setup for line in lines)
        if self._with_setup or not total.calls:
            setup = "(n) handshakes, lists   " if hidden else ""
        else:
            lines = [line for line in lines if not line.is_setup]
            setup = "h shows handshakes and lists   " if hidden else ""
        if lines:
            lines = [*lines, total]
        self._title.show(self._title.left, ((counting + loading, "warn"), (setup, "dim"), (calls, "text")))
        columns = self._table.columns
        used = (place + 1 for one in lines for place, count in enumerate(one.sparks) if count)
        stretches = max(used, default=0)  # the time intervals up to the last call
        rows = [figures_row(one, columns, stretches) for one in lines]
        empty: Row = (("" if counting or loading else f"  {_EMPTY}", "dim"),)
        self._table.show(rows or [empty], [filter_of(one) for one in lines])
        self._heads.show(head(columns, stretches * stats.spark_width_ns))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def toggle_setup(self) -> None:
        """Show or hide the lines of handshakes and lists."""
        self._with_setup = not self._with_setup
        self._show()
