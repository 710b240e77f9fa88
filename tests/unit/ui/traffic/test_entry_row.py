"""A line of the traffic: the columns that fit its width."""

from dataclasses import replace

import pytest

from tests.ui.traffic_stage import Recorded, some
from tui.core.traffic import CHANGE_WORDS, Outcome
from tui.core.units import span
from tui.ui.traffic.columns import Contents, layout_for
from tui.ui.traffic.entry_loader import EntryPreview
from tui.ui.traffic.entry_row import RowMaker
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.times import TimeMode

CONTENTS = Contents(server=10, method=14, alone=34, tool=12, ident=3)


@pytest.mark.parametrize("width", [72, 80, 111, 112, 120, 159, 160, 200, 240])
@pytest.mark.parametrize("mode", list(TimeMode))
def test_every_line_fits_its_width(width: int, mode: TimeMode) -> None:
    entries = some().columns
    maker = RowMaker(entries)
    maker.mode = mode
    columns, wide = layout_for(width, mode, CONTENTS), EntryPreview("1" * 30)
    lines = [maker.row(index, columns, previous=index - 1, preview=wide) for index in range(len(entries))]
    assert all(width_of(line) <= width for line in lines)
    assert width_of(maker.head(columns)) <= width


def test_a_terminal_without_unicode_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    entries = some().columns
    maker = RowMaker(entries)
    columns = layout_for(120, TimeMode.CLOCK, CONTENTS)
    text = "".join(text_of(maker.row(index, columns, previous=index - 1)) for index in range(len(entries)))
    assert text.replace("…", "").isascii()


def test_a_dropped_entry_is_struck_through() -> None:
    entries = some().columns
    entries.gone = 2
    maker = RowMaker(entries)
    columns = layout_for(120, TimeMode.CLOCK, CONTENTS)
    rows = [maker.row(index, columns) for index in range(4)]
    struck = [any("strike" in style for _, style in row) for row in rows]
    assert struck == [True, True, False, False]


def test_a_request_that_represents_its_call_has_a_latency_bar_and_an_outcome() -> None:
    entries = some().columns
    index = next(at for at in range(len(entries)) if entries.latency_ns(at) > 0)
    maker, columns = RowMaker(entries), layout_for(160, TimeMode.CLOCK, CONTENTS)
    took = span(entries.latency_ns(index))
    answer = text_of(maker.row(entries.partner(index), columns))
    assert took not in text_of(maker.row(index, columns))
    row = text_of(maker.row(index, columns, is_call=True))
    assert took in answer
    assert row.split()[-4:] == answer.split()[-4:]


@pytest.mark.parametrize(("width", "shown"), [(80, "add failed:"), (120, "got 24.5"), (200, "(rain)")])
def test_a_failed_case_has_room_for_its_difference_and_the_sign_of_a_failure(width: int, shown: str) -> None:
    recorded = Recorded()
    recorded.call("add")
    maker, columns = RowMaker(recorded.columns), layout_for(width, TimeMode.CLOCK, CONTENTS)
    note = "failed: result.degrees: expected 25.5, got 24.5 (rain)\n"
    row = text_of(maker.row(0, columns, note=note, is_call=True)).replace("  ", " ")
    assert shown in row and maker.symbols.outcomes[Outcome.ERROR] in row.split()[-2:]
    plain, noted = (maker.row(0, columns, note=text, is_call=True) for text in ("mine", note))
    assert width_of(plain) <= width and width_of(noted) <= width
    assert maker.symbols.outcomes[Outcome.OK] in text_of(plain)


@pytest.mark.parametrize("width", [80, 130, 200])
def test_a_response_that_was_changed_says_so_at_every_width(width: int) -> None:
    recorded = some()
    entries = recorded.columns
    answer = next(index for index in range(len(entries)) if entries.is_answer(index))
    entries.changed[answer] = CHANGE_WORDS.index("dropped")
    row = RowMaker(entries).row(answer, layout_for(width, TimeMode.CLOCK, CONTENTS))
    assert "dropped" in text_of(row)


def test_a_long_method_is_whole_where_the_column_has_room_after_the_tool() -> None:
    recorded = Recorded()
    recorded.call("count")
    entries = recorded.columns
    entries.method[0] = next(iter(entries.methods.numbers(["notifications/progress"])))
    columns = replace(layout_for(120, TimeMode.CLOCK, CONTENTS), method=10, what=40)
    assert "notifications/progress count" in text_of(RowMaker(entries).row(0, columns))
    assert "notificat… count" in text_of(RowMaker(entries).row(0, replace(columns, what=16)))
