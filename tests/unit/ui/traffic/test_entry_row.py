"""A line of the traffic: the columns that fit its width."""

import pytest

from tests.ui.traffic_stage import some
from tui.core.units import span
from tui.ui.traffic.entry_loader import EntryPreview
from tui.ui.traffic.entry_row import RowMaker, layout_for
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.times import TimeMode


@pytest.mark.parametrize("width", [72, 80, 111, 112, 120, 159, 160, 200, 240])
@pytest.mark.parametrize("mode", list(TimeMode))
def test_every_line_fits_its_width(width: int, mode: TimeMode) -> None:
    entries = some().columns
    maker = RowMaker(entries)
    maker.mode = mode
    columns, wide = layout_for(width, mode, 10), EntryPreview("1" * 30)
    lines = [maker.row(index, columns, previous=index - 1, preview=wide) for index in range(len(entries))]
    assert all(width_of(line) <= width for line in lines)
    assert width_of(maker.head(columns)) <= width


def test_a_terminal_without_unicode_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    entries = some().columns
    maker = RowMaker(entries)
    columns = layout_for(120, TimeMode.CLOCK, 10)
    text = "".join(text_of(maker.row(index, columns, previous=index - 1)) for index in range(len(entries)))
    assert text.replace("…", "").isascii()


def test_a_dropped_entry_is_struck_through() -> None:
    entries = some().columns
    entries.gone = 2
    maker = RowMaker(entries)
    columns = layout_for(120, TimeMode.CLOCK, 10)
    rows = [maker.row(index, columns) for index in range(4)]
    struck = [any("strike" in style for _, style in row) for row in rows]
    assert struck == [True, True, False, False]


def test_a_request_that_represents_its_call_has_a_latency_bar_and_an_outcome() -> None:
    entries = some().columns
    index = next(at for at in range(len(entries)) if entries.latency_ns(at) > 0)
    maker, columns = RowMaker(entries), layout_for(160, TimeMode.CLOCK, 10)
    took = span(entries.latency_ns(index))
    answer = text_of(maker.row(entries.partner(index), columns))
    assert took not in text_of(maker.row(index, columns))
    row = text_of(maker.row(index, columns, is_call=True))
    assert took in answer
    assert row.split()[-4:] == answer.split()[-4:]


@pytest.mark.parametrize("width", [80, 120])
def test_a_note_is_read_in_the_line(width: int) -> None:
    maker, columns = RowMaker(some().columns), layout_for(width, TimeMode.CLOCK, 10)
    row = maker.row(0, columns, note="failed: rain: text differs\n")
    assert "failed:" in text_of(row) and width_of(row) == width_of(maker.row(0, columns))
