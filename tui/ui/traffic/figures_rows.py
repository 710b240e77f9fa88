"""The measures of servers and tools as lines of a table. Pure."""

from tui.core import units
from tui.core.text import clean_line
from tui.traffic.stats import Figures
from tui.ui.widgets.rows import Row, crop, pad
from tui.ui.widgets.times import span

_BLOCKS = "▁▂▃▄▅▆▇█"
SPARK_CELLS = 30

_NUMBERS = (("calls", 7), ("errors", 7), ("waiting", 8), ("p50", 9), ("p95", 9), ("longest", 9), ("bytes", 8))


def head(width: int) -> Row:
    """Return the headings."""
    numbers = "".join(f"{name:>{cells}}" for name, cells in _NUMBERS)
    cells = _name_cells(width)
    over = "   calls over time" if _spark_cells(width, cells) >= 15 else ""
    return ((f"{'  server and tool':<{cells}}{numbers}{over}", "dim"),)


def figures_row(figures: Figures, width: int) -> Row:
    """Return the line of a server, or of one of its tools."""
    is_server = not figures.method
    name = clean_line(figures.server if is_server else figures.tool or figures.method, 80)
    cells = _name_cells(width)
    if is_server:
        left: Row = ((f"  {name}", "text bold"),)
    else:
        kind = f"   {clean_line(figures.method, 40)}" if figures.tool and cells > 40 else ""
        left = ((f"    {name}", "tool" if figures.tool else "text"), (kind, "dim"))
    failed = figures.errors + figures.lost
    plain = "text" if is_server else "dim"
    return (
        *pad(crop(left, cells - 1), cells),
        (f"{units.count(figures.calls):>7}", "text"),
        (f"{f'✗ {failed}' if failed else '0':>7}", "bad" if failed else "dim"),
        (f"{f'◌ {figures.waiting}' if figures.waiting else '':>8}", "warn"),
        (f"{_time(figures.p50_ns):>9}", plain),
        (f"{_time(figures.p95_ns):>9}", plain),
        (f"{_time(figures.longest_ns):>9}", "warn" if figures.longest_ns >= 1_000_000_000 else plain),
        (f"{units.size(figures.octets):>8}", "dim"),
        (f"   {sparkline(figures.sparks, _spark_cells(width, cells))}", "accent"),
    )


def _name_cells(width: int) -> int:
    return max(18, min(44, width - 58))


def _spark_cells(width: int, name_cells: int) -> int:
    return max(0, min(SPARK_CELLS, width - name_cells - 62))


def _time(ns: int) -> str:
    return span(ns) if ns > 0 else ""


def sparkline(counts: tuple[int, ...], cells: int) -> str:
    """Return counts as a line of blocks, neighbours added up where there are more of them than cells."""
    if not counts or not cells:
        return ""
    last = max((place for place, count in enumerate(counts) if count), default=-1) + 1
    counts = counts[:last]
    each = max(1, -(-len(counts) // cells))
    sums = [sum(counts[start : start + each]) for start in range(0, len(counts), each)]
    most = max(sums, default=0) or 1
    return "".join(_BLOCKS[min(7, count * 8 // (most + 1))] if count else " " for count in sums)
