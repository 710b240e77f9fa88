"""The place of the caret, for inputs and text areas."""

import pytest
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.widgets import Input, TextArea

from tui.ui.platform.editing import CaretApp, caret_of
from tui.ui.widgets.inputs import Field, LinesField
from tui.ui.widgets.theme_colors import DEFAULTS


class Fields(CaretApp):
    """An input, an input for a secret, and a text area."""

    CSS = "Input { width: 12; } TextArea { width: 12; height: 5; }"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(DEFAULTS)

    def compose(self) -> ComposeResult:
        yield Field("ab漢字", compact=True)
        yield Field("ab漢字", password=True, compact=True)
        yield LinesField("one two three four\n漢字", compact=True)


def in_field(app: Fields, kind: type, index: int = 0) -> Offset:
    """Return the place of the caret, relative to its field."""
    found = app.query(kind)[index]
    place = caret_of(found)
    assert place is not None
    return place - found.content_region.offset


@pytest.mark.parametrize(("index", "cells"), [(0, [0, 1, 2, 4, 6]), (1, [0, 1, 2, 3, 4])])
async def test_it_is_before_the_character_of_an_input_or_a_secret(index: int, cells: list[int]) -> None:
    async with Fields().run_test(size=(40, 12)) as pilot:
        field = pilot.app.query(Input)[index]
        for position, expected in enumerate(cells):
            field.cursor_position = position
            assert in_field(pilot.app, Input, index) == (expected, 0)


async def test_it_is_in_the_row_of_a_text_that_wraps() -> None:
    async with Fields().run_test(size=(40, 12)) as pilot:
        area = pilot.app.query_one(TextArea)
        area.move_cursor((0, 10))
        assert in_field(pilot.app, TextArea) == (2, 1)
        area.move_cursor((1, 2))
        assert in_field(pilot.app, TextArea) == (4, 3)


async def test_the_terminal_is_told_the_place_of_each_frame() -> None:
    async with Fields().run_test(size=(40, 12)) as pilot:
        app = pilot.app
        app.set_focus(app.query_one(TextArea))
        assert app.cursor_position == caret_of(app.query_one(TextArea))
        app.set_focus(None)
        assert app.cursor_position == caret_of(app.query_one(TextArea))  # where it was
