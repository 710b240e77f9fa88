"""Pixels drawn as half blocks, two per cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tui.ui.widgets.pictures import Picture, can_show_pictures
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.symbols import ASCII, UNICODE
from tui.ui.widgets.theme_colors import Palette


def picture(width: int, *colours: str) -> Picture:
    pixels = bytes.fromhex("".join(colours))
    return Picture(width, len(colours) // width, pixels, (width, len(colours) // width))


def test_a_cell_shows_two_pixels_one_above_the_other() -> None:
    shown = picture(2, "ff0000", "00ff00", "0000ff", "ffffff")
    assert shown.rows == 1
    assert shown.row(0) == (("▀", "#ff0000 on #0000ff"), ("▀", "#00ff00 on #ffffff"))


def test_neighboring_cells_of_the_same_colors_are_one_span() -> None:
    assert picture(3, *["ff0000"] * 6).row(0) == (("▀▀▀", "#ff0000 on #ff0000"),)


def test_the_lower_half_of_an_odd_last_line_is_the_background() -> None:
    assert picture(1, "ff0000", "00ff00", "0000ff").row(1) == (("▀", "#0000ff"),)


def test_the_caption_shows_the_size_and_damage() -> None:
    assert text_of(Picture(1, 1, b"abc", (640, 480)).caption) == "640 × 480"
    whole = text_of(Picture(1, 1, b"abc", (640, 480), moves=True, is_cut=True).caption)
    assert whole == "640 × 480, first frame, incomplete"


def test_the_colors_of_a_cell_are_those_of_its_style() -> None:
    palette = Palette.of({})
    assert palette.style("#ff8000 on #0010ff") == Style(color="#ff8000", bgcolor="#0010ff")
    assert palette.style("#ff8000") == Style(color="#ff8000")


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 50))
def test_a_scaled_picture_fits_its_columns_and_has_all_its_rows(
    width: int, height: int, columns: int
) -> None:
    shown = Picture(width, height, bytes(range(256)) * (3 * width * height // 256 + 1), (width, height))
    fits = Picture(width, height, shown.pixels[: 3 * width * height], (width, height)).within(columns)
    assert fits.width <= max(columns, 1)
    assert len(fits.pixels) == 3 * fits.width * fits.height
    assert [width_of(fits.row(index)) for index in range(fits.rows)] == [fits.width] * fits.rows


@pytest.mark.parametrize(
    ("symbols", "colours", "no_color", "can"),
    [
        (UNICODE, "truecolor", False, True),
        (UNICODE, "truecolor", True, False),
        (UNICODE, "256", False, False),
        (UNICODE, None, False, False),
        (ASCII, "truecolor", False, False),
    ],
)
def test_pictures_need_true_color_and_the_half_block(symbols, colours, no_color, can) -> None:
    assert can_show_pictures(symbols, colours, no_color) is can
