"""The statistics: their lines, and counting while the screen is used."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.stage import Stage, press, shown
from tests.ui.traffic_stage import Recorded, some
from tests.unit.traffic.small_traffic import begun_at_end, fill
from tui.commands.traffic_lines import figure_table
from tui.core.traffic import Kind
from tui.traffic.stats import Stats
from tui.ui.traffic.statistics import FilterRows, StatisticsScreen, figures_row, head, sparkline
from tui.ui.widgets.rows import text_of, width_of


def test_neighboring_values_are_added_up_in_a_short_sparkline() -> None:
    assert sparkline((1, 0, 8, 0), 30) == "▁ █"
    assert len(sparkline(tuple(range(100)), 10)) == 10
    assert sparkline((), 10) == ""


def counted(recorded: Recorded) -> Stats:
    found = Stats(recorded.columns)
    assert found.advance(1000)
    return found


@pytest.fixture
def stats() -> Stats:
    return counted(some())


def test_lines_and_headings_fit_every_width(stats: Stats) -> None:
    for width in (80, 100, 160):
        assert width_of(head(width)) <= width
        for server in stats.servers():
            row = figures_row(server, width)
            assert cell_len(text_of(row).rstrip()) <= width
            assert server.server in text_of(row)


@asynccontextmanager
async def shown_of(
    recorded: Recorded, width: int = 120
) -> AsyncIterator[tuple[StatisticsScreen, Pilot[None]]]:
    async with Stage().run_test(size=(width, 30)) as pilot:
        await pilot.app.push_screen(screen := StatisticsScreen(recorded.recording()))
        yield screen, pilot


async def test_counting_does_not_block_keys_and_shows_its_progress(monkeypatch) -> None:
    monkeypatch.setattr(Stats, "advance", lambda stats, budget_ms: False)
    async with shown_of(some()) as (screen, pilot):
        await until(lambda: "counting 0 %" in title(screen))
        await press(pilot, "escape")
        assert not screen.is_attached and screen._work is not None and screen._work.cancelled()


async def test_while_a_recording_loads_no_request_is_shown_as_waiting() -> None:
    recorded = Recorded()
    for _ in range(4):
        recorded.call()
    recorded.add(Kind.REQUEST, method="tools/call", tool="wait", ident="9", root=9)
    recorded.columns = begun_at_end(recorded, 3)
    fill(recorded.columns, recorded, 3)
    async with shown_of(recorded) as (screen, _):
        await until(lambda: "of the 66 % loaded" in title(screen))
        assert "◌" not in "".join(shown(screen._table))
        fill(recorded.columns, recorded, 3)
        await until(lambda: "◌ 1" in "".join(shown(screen._table)))
        assert "loaded" not in title(screen)


async def test_the_cursor_stays_on_its_line_when_the_order_changes() -> None:
    recorded = Recorded()
    recorded.call("first")
    recorded.call("first")
    recorded.call("second")
    async with shown_of(recorded) as (screen, pilot):
        await press(pilot, "j", "j")
        assert screen._table.filters[screen._table.cursor].endswith("tool:second")
        recorded.call("second")
        recorded.call("second")
        await until(lambda: screen._table.filters[1].endswith("tool:second"))
        assert screen._table.cursor == 1


async def test_new_figures_do_not_scroll_back_to_the_cursor() -> None:
    pane = FilterRows()
    async with Stage(pane).run_test(size=(40, 10)):
        for calls in ("1", "2"):
            pane.show([((f"{calls} calls", "text"),)] * 100, [f"tool:{tool}" for tool in range(100)])
            if calls == "1":
                pane.scroll_to(y=50, animate=False, immediate=True)
        assert pane.scroll_offset.y == 50


def title(screen: StatisticsScreen) -> str:
    return screen._title.render_line(0).text


def test_calls_over_time_always_have_a_heading_with_the_time_span(stats: Stats) -> None:
    total = stats.total()
    for width in range(80, 170):
        is_shown = any(block in text_of(figures_row(total, width)) for block in "▁▂▃▄▅▆▇█")
        assert is_shown == text_of(head(width, 4_000_000_000)).rstrip().endswith("over 4.0 s")


async def test_handshakes_and_lists_are_shown_by_a_key_and_servers_with_calls_come_first() -> None:
    recorded = Recorded()
    for method, source in (("tools/list", "a"), ("tools/call", "b")):
        recorded.add(Kind.REQUEST, method=method, source=source, ident="9", root=9)
    async with shown_of(recorded, 80) as (screen, pilot):
        await until(lambda: "h shows handshakes and lists" in title(screen))
        calls = ["server:b", "server:b method:tools/call", "server:a", ""]
        assert screen._table.filters == calls
        await press(pilot, "h")
        assert screen._table.filters == [*calls[:3], "server:a method:tools/list", ""]
        await press(pilot, "h")
        assert screen._table.filters == calls


async def test_handshakes_and_lists_are_in_parentheses_so_that_calls_add_up() -> None:
    recorded = Recorded()
    recorded.call()
    (call,) = counted(recorded).tools()
    assert text_of(figures_row(call, 120)).split()[2] == "1"
    listed = replace(call, method="tools/list", tool="", calls=2)
    assert "   (2)" in text_of(figures_row(listed, 120))
    assert "  (2)  " in figure_table([listed], [""]).splitlines()[1]
    async with shown_of(recorded) as (screen, _):
        await until(lambda: "1 call   " in title(screen))
