"""Style words become colours of the theme, whatever the theme is like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.ui.widgets.palette import ROLES, Palette

PALETTE = Palette.of({"foreground": "#ffffff", "surface": "#000000", "accent": "#ff0000", "panel": "#222222"})


def test_a_role_is_a_colour():
    assert PALETTE.style("accent").color.name == "#ff0000"


def test_attributes_and_a_ground_add_up():
    style = PALETTE.style("accent bold on panel")

    assert (style.color.name, style.bgcolor.name, style.bold) == ("#ff0000", "#222222", True)


@given(st.text(max_size=40))
def test_no_words_ever_break_a_row(words: str):
    PALETTE.style(words)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_colour_in_a_theme_that_knows_none(role: str):
    assert Palette.of({}).style(role).color is not None


def test_a_colour_that_is_none_is_replaced():
    assert Palette.of({"accent": "no colour", "primary": "#00ff00"}).style("accent").color.name == "#00ff00"


def test_a_half_transparent_colour_is_laid_on_the_ground():
    palette = Palette.of({"foreground": "#ffffff 50%", "surface": "#000000"})

    assert palette.style("text").color.triplet.red in (127, 128)


def test_the_terminals_own_colours_are_left_to_it():
    palette = Palette.of(
        {
            "foreground": "ansi_default",
            "surface": "transparent",
            "accent": "ansi_yellow",
            "panel": "transparent",
        },
        native=True,
    )

    assert palette.style("accent").color.number == 3
    assert palette.style("text on panel").bgcolor is None
    assert palette.style("dim").dim
    assert palette.style("cursor").reverse
