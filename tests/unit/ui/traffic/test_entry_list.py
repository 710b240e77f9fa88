"""The fast painting of the list shows the same as Textual's own, and at once after a key."""

from rich.segment import Segment

from tests.ui.stage import Stage
from tests.ui.traffic_stage import some
from tests.unit.traffic.small_traffic import Traffic, begun_at_end, fill
from tui.core.traffic import Severity
from tui.traffic.record.open_recording import Recording
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import text_of


async def test_the_fast_path_paints_what_textual_would_paint() -> None:
    for theme in ("harbor", "ansi"):
        for size in ((120, 8), (80, 30)):
            pane = EntryList(some().recording(live=False))
            async with Stage(pane, theme).run_test(size=size) as pilot:
                pane.tick()
                pane.move_cursor(3)
                await pilot.pause()
                crop = pane.size.region
                width = pane.columns
                fast = [strip.crop(0, width) for strip in pane.render_lines(crop)]
                slow = [strip.crop(0, width) for strip in LinePane.render_lines(pane, crop)]
                assert [list(Segment.simplify(one)) for one in fast] == [
                    list(Segment.simplify(one)) for one in slow
                ]


async def test_without_a_scroll_bar_the_last_column_is_painted_too() -> None:
    pane = EntryList(some().recording(live=False))
    async with Stage(pane).run_test(size=(80, 30)):
        pane.tick()
        assert {strip.cell_length for strip in pane.render_lines(pane.size.region)} == {80}


async def test_a_key_is_painted_at_once() -> None:
    pane = EntryList(some().recording(live=False))
    async with Stage(pane).run_test(size=(80, 30)) as pilot:
        pane.tick()
        await pilot.pause()
        pane._painted_at = 0.0
        pane.move_cursor(2)
        assert not pane._repaint_required
        assert not pane.screen._dirty_widgets


async def test_entries_not_loaded_yet_are_shown_as_loading() -> None:
    traffic = Traffic()
    for _ in range(30):
        traffic.call()
    columns = begun_at_end(traffic, 5)
    pane = EntryList(Recording(columns, lambda: None, live=False))
    async with Stage(pane).run_test(size=(80, 20)) as pilot:
        pane.tick()
        await pilot.pause()
        assert pane.row_count() == 60 and pane.cursor == 59
        assert "is loading" in text_of(pane.row(54))
        assert "response" in text_of(pane.row(55))
        pane.action_pane_home()
        await pilot.pause()
        assert "entry 1 is loading" in painted(pane)
        fill(columns, traffic, 99)
        pane.tick()
        await pilot.pause()
        assert "loading" not in painted(pane)
        assert pane.selected == 1


async def test_only_the_line_of_a_changed_entry_is_rebuilt() -> None:
    traffic = Traffic()
    for _ in range(5):
        traffic.call()
    pane = EntryList(Recording(traffic.columns, lambda: None, live=False))
    async with Stage(pane).run_test(size=(80, 20)) as pilot:
        pane.tick()
        await pilot.pause()
        painted(pane)
        kept = [pane._strips.get(row) for row in range(4)]
        traffic.columns.set_severities([(Severity.ERROR, [2])])
        pane.tick()
        assert [pane._strips.get(row) is strip for row, strip in enumerate(kept)] == [True, False, True, True]


def painted(pane: EntryList) -> str:
    return "\n".join(strip.text for strip in pane.render_lines(pane.size.region))
