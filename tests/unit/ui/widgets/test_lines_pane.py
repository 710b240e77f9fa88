"""The base of every pane that shows many lines."""

from importlib import import_module
from pkgutil import walk_packages

from textual.geometry import Region

import tui
from tests.conftest import until
from tests.ui.stage import Stage, press, shown
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row


class Numbers(LinePane):
    """Rows that show their number."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.drawn: set[int] = set()

    def row_count(self) -> int:
        return self.count

    def row(self, index: int) -> Row:
        self.drawn.add(index)
        return ((f"row {index}", "text"),)

    def grow(self, by: int) -> None:
        self.count += by
        self.rows_changed(self.count - by)


class Choices(Numbers):
    """Rows of which every third is a heading."""

    CURSOR = True
    FOLLOWS = False

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.chosen: list[int] = []

    def row_selectable(self, index: int) -> bool:
        return index % 3 != 0

    def row_chosen(self, index: int) -> None:
        self.chosen.append(index)


async def test_only_visible_rows_are_drawn():
    pane = Numbers(1_000_000)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await pilot.pause()

        assert shown(pane)[-1] == "row 999999"
        assert len(pane.drawn) < 100


async def test_growing_needs_no_layout():
    pane = Numbers(100)
    async with Stage(pane).run_test(size=(40, 10)):
        pane.grow(50)
        await until(lambda: shown(pane)[-1] == "row 149")
        layouts = pane._layout_updates

        pane.grow(50)
        await until(lambda: shown(pane)[-1] == "row 199")

        assert pane._layout_updates == layouts


async def test_keys_scroll_by_rows_by_pages_and_to_the_ends():
    pane = Numbers(100)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        pane.focus()
        tops = []
        for key in ("home", "down", "j", "pagedown", "pageup", "k", "G"):
            await press(pilot, key)
            tops.append(shown(pane)[0])

        assert tops == ["row 0", "row 1", "row 2", "row 11", "row 2", "row 1", "row 90"]


async def test_a_scroll_bar_that_was_hidden_returns_at_the_place_of_the_rows():
    pane = Choices(13)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await press(pilot, "end")
        assert pane.vertical_scrollbar.position == 3
        await pilot.resize_terminal(40, 20)
        await until(lambda: not pane.show_vertical_scrollbar and pane.scroll_offset.y == 0)
        await pilot.resize_terminal(40, 10)
        await until(lambda: pane.show_vertical_scrollbar)
        assert shown(pane)[0] == "row 2"
        assert pane.vertical_scrollbar.position == 2


async def test_removed_rows_are_not_painted_anymore():
    pane = Numbers(100)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        pane.count = 3
        pane.rows_changed()
        await pilot.pause()

        assert shown(pane) == ["row 0", "row 1", "row 2", *[""] * 7]
        assert pane.following


async def test_a_row_with_controls_is_still_one_row():
    class Odd(Numbers):
        def row(self, index: int) -> Row:
            return (("a\x1b[2J\nb\tc", "text"),)

    pane = Odd(1)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await pilot.pause()

        assert shown(pane)[0] == "a␛[2J⏎b c"


async def test_headings_are_skipped_by_the_cursor_and_not_chosen_by_enter():
    pane = Choices(10)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        pane.focus()
        await press(pilot, "down", "enter", "down", "down", "enter", "down", "enter")
        assert pane.chosen == [1, 4, 5]


async def test_the_cursor_stays_visible_and_within_the_rows():
    pane = Choices(100)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        pane.focus()
        await press(pilot, "end")
        assert pane.cursor == 98
        assert "row 98" in shown(pane)

        pane.count = 5
        pane.rows_changed()
        await pilot.pause()
        assert pane.cursor == 4


async def test_static_text_is_literal():
    text = Literal("[bold]x[/] \x1b[31m")
    async with Stage(text).run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert text.render_line(0).text.rstrip() == "[bold]x[/] ␛[31m"

        text.show("[/nothing]")
        await pilot.pause()
        assert text.render_line(0).text.rstrip() == "[/nothing]"


async def test_rows_share_styles_and_a_single_line_has_offsets_for_the_pointer():
    pane = Numbers(1_000)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await pilot.pause()

        painted = pane.render_lines(pane.size.region)
        pointed = pane.render_line(0)

        assert len({segment.style for strip in painted for segment in strip}) <= 2
        assert next(segment.style.meta["offset"] for segment in pointed if segment.style) == (0, 990)


async def test_a_row_painted_before_the_layout_of_its_new_scroll_bar_fills_the_pane():
    pane = Numbers(3)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await pilot.pause()

        pane.grow(50)
        painted = pane.render_lines(Region(0, 0, *pane.region.size))

        assert pane.show_vertical_scrollbar
        assert {strip.cell_length for strip in painted} == {40}


async def test_the_row_with_the_cursor_stays_visible_when_the_pane_becomes_smaller():
    pane = Choices(100)
    async with Stage(pane).run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        pane.move_cursor(17)
        await pilot.resize_terminal(40, 8)
        await until(lambda: "row 17" in shown(pane))


async def test_a_double_click_does_what_enter_does_with_the_row_that_the_first_click_selected():
    pane = Choices(10)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        await pilot.click(Choices, offset=(2, 4))
        assert (pane.cursor, pane.chosen) == (4, [])
        await pilot.click(Choices, offset=(2, 5), times=3)
        await pilot.pause()
        assert pane.chosen == [5]
        await pilot.click(Choices, offset=(2, 6), times=2)  # a heading
        await pilot.pause()
        assert pane.chosen == [5]


async def test_a_double_click_on_text_selects_a_word_and_a_third_click_the_line():
    pane = Numbers(10)
    async with Stage(pane).run_test(size=(40, 10)) as pilot:
        selected = []
        for times in (2, 3, 1):
            await pilot.click(Numbers, offset=(4, 4), times=times)
            selected.append(pilot.app.screen.get_selected_text())
        assert selected == ["4", "row 4", None]


def test_no_pane_has_a_mouse_of_its_own():
    """What a click, a drag and the wheel do is in `LinePane`; a button-like pane says so by `EACH_CLICK`."""
    for module in walk_packages(tui.__path__, "tui."):
        if module.name.startswith(("tui.ui.", "tui.addons.")):
            import_module(module.name)
    panes, waiting = set[type[LinePane]](), [LinePane]
    while waiting:
        waiting += (below := waiting.pop().__subclasses__())
        panes |= {pane for pane in below if pane.__module__.startswith("tui.")}
    own = {
        (pane.__name__, name)
        for pane in panes
        for name in vars(pane)
        if name.startswith(("on_click", "_on_click", "on_mouse", "_on_mouse", "capture_mouse"))
    }
    assert own == {("TitledPane", "on_click")}
    assert {pane.__name__ for pane in panes if pane.EACH_CLICK} == {"FormPane", "TrafficTail"}
