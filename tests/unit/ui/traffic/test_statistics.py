"""The lines of the statistics."""

from rich.cells import cell_len

from tests.ui.traffic_stage import some
from tui.traffic.stats import Stats
from tui.ui.traffic.statistics import figures_row, head, sparkline
from tui.ui.widgets.rows import text_of, width_of


def test_neighbors_are_added_up_in_a_short_sparkline() -> None:
    assert sparkline((1, 0, 8, 0), 30) == "▁ █"
    assert len(sparkline(tuple(range(100)), 10)) == 10
    assert sparkline((), 10) == ""


def test_lines_and_headings_fit_every_width() -> None:
    stats = Stats(some().columns)
    assert stats.advance(1000)
    for width in (80, 100, 160):
        assert width_of(head(width)) <= width
        for server in stats.servers():
            row = figures_row(server, width)
            assert cell_len(text_of(row).rstrip()) <= width
            assert server.server in text_of(row)
