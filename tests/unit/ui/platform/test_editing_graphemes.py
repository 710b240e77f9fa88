"""Emoji and accented letters are edited, moved over and painted whole, in every input."""

import pytest
import rich.cells
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.widgets import Input, TextArea

from tui.ui.platform.editing import edit_by_graphemes
from tui.ui.widgets.inputs import Field, LinesField
from tui.ui.widgets.theme_colors import DEFAULTS

SIGNS = {
    "family": "👨‍👩‍👧",
    "flag": "🇳🇴",
    "flag of Scotland": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "skin tone": "👍🏽",
    "heart": "❤️",
    "keycap": "1️⃣",
    "accent": "e\u0301",
    "rainbow": "🏳️‍🌈",
    "syllable": "\u1112\u1161\u11ab",
}


class Fields(App[None]):
    """An input, an input for a secret, and a text area."""

    CSS = "Input, TextArea { width: 12; }"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(DEFAULTS)

    def __init__(self) -> None:
        edit_by_graphemes()
        super().__init__()

    def compose(self) -> ComposeResult:
        yield Field(compact=True, id="plain")
        yield Field(compact=True, password=True, id="secret")
        yield LinesField(compact=True, id="area")


def text_of(field: Input | TextArea) -> str:
    return field.value if isinstance(field, Input) else field.text


def write(field: Input | TextArea, text: str) -> None:
    setattr(field, "value" if isinstance(field, Input) else "text", text)


def caret_of(field: Input | TextArea) -> int:
    return field.cursor_position if isinstance(field, Input) else field.cursor_location[1]


@pytest.mark.parametrize("field", ["plain", "secret", "area"])
async def test_a_sign_is_deleted_and_moved_over_as_a_whole(field: str) -> None:
    async with Fields().run_test() as pilot:
        edited = pilot.app.query_one(f"#{field}", Input | TextArea)
        edited.focus()
        for name, sign in SIGNS.items():
            write(edited, f"{sign}{sign}b")
            await pilot.press("home", "right")
            assert caret_of(edited) == len(sign), name
            await pilot.press("right", "right", "left", "left")
            assert caret_of(edited) == len(sign), name
            await pilot.press("shift+right", "backspace")
            assert text_of(edited) == f"{sign}b", name
            await pilot.press("backspace")
            assert text_of(edited) == "b", name
            await pilot.press("home")
            write(edited, f"{sign}b")
            await pilot.press("home", "delete")
            assert text_of(edited) == "b", name


@pytest.mark.parametrize("field", ["plain", "area"])
async def test_a_caret_does_not_cut_a_sign(field: str) -> None:
    async with Fields().run_test() as pilot:
        edited = pilot.app.query_one(f"#{field}", Input | TextArea)
        edited.focus()
        for name, sign in SIGNS.items():
            write(edited, f"a{sign}b")
            await pilot.press("home", "right")
            [row] = edited.render_lines(Region(0, 0, 12, 1))
            assert any(segment.text == sign for segment in row), name


async def test_a_long_word_of_signs_is_wrapped_between_them() -> None:
    async with Fields().run_test() as pilot:
        area = pilot.app.query_one(TextArea)
        for name, sign in SIGNS.items():
            area.text = sign * 30
            assert len(area.wrapped_document.lines[0]) > 1, name
            assert all(len(row) % len(sign) == 0 for row in area.wrapped_document.lines[0]), name


def test_rich_does_not_cut_a_flag_in_two_cells() -> None:
    edit_by_graphemes()
    assert rich.cells.split_graphemes("🇳🇴🇸🇪")[0] == [(0, 2, 2), (2, 4, 2)]
