"""A field of several lines."""

from tests.ui.stage import Stage
from tui.ui.widgets.inputs import LinesField


async def test_undoing_text_removes_the_scroll_bar_and_moves_the_cursor():
    field = LinesField()
    async with Stage(field).run_test(size=(40, 10)) as pilot:
        field.focus()
        await pilot.pause()
        field.insert("a\nb\n" * 50)
        await pilot.pause()
        assert field.show_vertical_scrollbar
        field.undo()
        await pilot.pause()
        assert (field.text, field.cursor_location, field.show_vertical_scrollbar) == ("", (0, 0), False)
        field.redo()
        await pilot.pause()
        assert field.cursor_location == (100, 0) and pilot.app.is_running
