"""Whatever the snapshots show can be read: each pair of text and background, in every theme that is shipped.

A snapshot has the roles of its colours, so two themes are enough to find the pairs of all themes.
"""

from collections.abc import Iterator
from functools import cache

import pytest
from rich.cells import cell_len
from textual.color import Color

from tests.ui.snapshots import DARK, FOLDER, LIGHT, read
from tui.settings.themes import ThemeSpec, all_themes, contrast, load_theme
from tui.ui.widgets.theme_colors import Palette, theme_of

TEXT, OTHER = 7, 4.5
"""The least contrast of text, and of what has another role."""

THEMES = [theme for theme in all_themes()[0] if not theme.ansi]
OWN_COLOURS = ("themes-", "result-")
"""Snapshots with colours that are no theme's: samples of other themes, and a picture."""
BEHIND = (0.2, 0.04)
"""How much of its colour a screen keeps behind a dialog, or two. Nobody has to read it."""
MARKS = frozenset(" ▊▌▎▍▀▄▁▂▃▅▆▇█│┃─━┄┌┐└┘├┤┬┴┼╭╮╰╯◌◆·…")
"""Signs that are no text: lines, bars and their ends."""

Colours = dict[str, str]
Pair = tuple[str, str]


@cache
def colours_of(theme: ThemeSpec) -> Colours:
    """Return the colours that screens are painted with, by role."""
    variables = theme_of(theme).variables
    painted = Palette.of(theme_of(theme).to_color_system().generate() | variables).colors
    panel, accent = Color.parse(theme.panel), Color.parse(theme.accent)
    percent = float(variables["block-cursor-blurred-background"].split()[1].rstrip("%"))
    option = {"option": panel.blend(accent, percent / 100, 1)}
    return {role: colour.hex6.lower() for role, colour in (painted | option).items()}


def runs(theme: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the file, the text, and its colour on its background, of every run of every snapshot."""
    for path in sorted(FOLDER.glob("*x[0-9][0-9].txt")):
        picture = read(path).get(theme)
        if picture is None or path.name.startswith(OWN_COLOURS):
            continue
        for row, line in zip(picture.rows, picture.styles, strict=True):
            signs = [part for sign in row for part in [sign, *[""] * (cell_len(sign) - 1)]]
            ground, _, styles = line.partition("  ")
            at = 0
            for run in styles.split():
                style, _, cells = run.rpartition(":")
                colour, _, own_ground = style.partition("+")[0].partition("/")
                text, at = "".join(signs[at : at + int(cells)]), at + int(cells)
                if colour != "_" and set(text) - MARKS:
                    yield path.name, text, colour, own_ground or ground


def pairs(theme_name: str) -> tuple[set[Pair], dict[Pair, str]]:
    """Return the pairs of roles that the snapshots show, and where a pair has a colour without a role."""
    theme = load_theme(theme_name)[0]
    known = colours_of(theme)
    role_of = {colour: role for role, colour in known.items()}
    surface = Color.parse(theme.surface)
    behind = [surface.blend(Color.parse(colour), k, 1).rgb for colour in known.values() for k in BEHIND]

    def is_behind(colour: str) -> bool:
        rgb = Color.parse(known.get(colour, colour)).rgb
        return any(all(abs(a - b) <= 2 for a, b in zip(rgb, other, strict=True)) for other in behind)

    found: set[Pair] = set()
    unknown: dict[Pair, str] = {}
    for name, text, colour, ground in runs(theme_name):
        pair = role_of.get(colour, colour), role_of.get(ground, ground)
        if pair[0] == "rule":
            unknown[pair] = f"{name}: {text!r} has the colour of lines"
        elif all(role in known for role in pair):
            found.add(pair)
        elif not is_behind(colour):
            unknown[pair] = f"{name}: {text!r}"
    return found, unknown


def test_every_pair_of_text_and_background_on_a_screen_has_enough_contrast_in_every_theme() -> None:
    dark, unknown_in_dark = pairs(DARK)
    light, unknown_in_light = pairs(LIGHT)
    assert unknown_in_dark | unknown_in_light == {}, "these colours are no role's, or not one of text"
    assert len(dark | light) > 25
    low = [
        f"{theme.name}: {text} on {ground} has {measured:.2f}:1"
        for theme in THEMES
        for text, ground in sorted(dark | light)
        if (measured := contrast(colours_of(theme)[text], colours_of(theme)[ground]))
        < (TEXT if text == "text" else OTHER)
    ]
    assert low == []


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_selected_text_has_enough_contrast_in_an_input_and_on_each_background(theme: ThemeSpec) -> None:
    variables, colours = theme_of(theme).variables, colours_of(theme)
    for name in ("input-selection", "screen-selection"):
        colour, _, percent = variables[f"{name}-background"].partition(" ")
        text = variables[f"{name}-foreground"]
        for ground in ("field", "panel", "surface"):
            share = float(percent.rstrip("%")) / 100 if percent else 1
            painted = Color.parse(colours[ground]).blend(Color.parse(colour), share, 1).hex6
            if name == "input-selection" or ground != "field":
                assert contrast(text, painted) >= TEXT, (name, ground)
