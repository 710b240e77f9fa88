"""Style words and the colors of a theme."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tui.ui.widgets.theme_colors import ROLES, Palette

PALETTE = Palette.of({"foreground": "#ffffff", "surface": "#000000", "accent": "#ff0000", "panel": "#222222"})


def test_a_style_combines_color_attributes_and_background():
    style = PALETTE.style("accent bold on panel")

    assert (style.color.name, style.bgcolor.name, style.bold) == ("#ff0000", "#222222", True)


@given(st.text(max_size=40))
def test_any_words_are_accepted_as_a_style(words: str):
    PALETTE.style(words)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_color_in_an_empty_theme(role: str):
    assert Palette.of({}).style(role).color is not None


def test_an_invalid_accent_is_replaced_by_the_primary_color():
    assert Palette.of({"accent": "no colour", "primary": "#00ff00"}).style("accent").color.name == "#00ff00"


def test_a_transparent_color_is_blended_with_the_background():
    palette = Palette.of({"foreground": "#ffffff 50%", "surface": "#000000"})

    assert palette.style("text").color.triplet.red in (127, 128)


def test_native_colors_are_not_blended():
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


def test_true_color_styles_are_distinguished_from_those_with_terminal_colors():
    ansi = Palette.of({"foreground": "#ffffff", "surface": "#000000", "accent": "ansi_red"})

    assert PALETTE.is_true(Style.parse("#ffffff on #000000"))
    assert not PALETTE.is_true(Style.parse("red on #000000"))
    assert not PALETTE.is_true(Style.parse("dim #ffffff on #000000"))
    assert Palette.of({"foreground": "#ffffff"}, native=True).is_true(Style()) is False
    assert ansi.is_true(Style()) == (ansi.style("accent").color.triplet is not None)
