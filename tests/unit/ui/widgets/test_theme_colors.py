"""Style words, the colors of a theme, and themes as Textual themes."""

import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import Input, OptionList, TextArea

from tests.cases import each_case
from tests.ui.stage import Stage
from tui.settings.themes import ThemeSpec, all_themes, load_theme
from tui.ui.widgets.theme_colors import DEFAULTS, ROLES, Palette, theme_of

PALETTE = Palette.of({"foreground": "#ffffff", "surface": "#000000", "accent": "#ff0000", "panel": "#222222"})


def test_a_style_combines_color_attributes_and_background():
    style = PALETTE.style("accent bold on panel")

    assert (style.color.name, style.bgcolor.name, style.bold) == ("#ff0000", "#222222", True)


@given(st.text(max_size=40))
def test_any_words_are_accepted_as_a_style(words: str):
    PALETTE.style(words)


def test_every_role_has_a_color_whatever_the_theme_lacks():
    assert all(Palette.of({}).style(role).color is not None for role in ROLES)
    assert Palette.of({"accent": "no colour", "primary": "#00ff00"}).style("accent").color.name == "#00ff00"
    palette = Palette.of({"foreground": "#ffffff 50%", "surface": "#000000"})  # blended with the background
    assert palette.style("text").color.triplet.red in (127, 128)


def test_native_colors_are_not_blended():
    grounds = dict.fromkeys(("surface", "panel"), "transparent")
    palette = Palette.of({**grounds, "foreground": "ansi_default", "accent": "ansi_yellow"}, native=True)

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


SPECS = all_themes()[0]


class Everything(Stage):
    """Mounts the stock widgets that the screens use, so that their stylesheets are parsed and applied."""

    def compose(self) -> ComposeResult:
        yield Input()
        yield TextArea()
        yield OptionList("one", "two", markup=False)


async def test_each_shipped_theme_can_be_applied_to_every_stock_widget() -> None:
    app = Everything()
    async with app.run_test(size=(60, 20)) as pilot:
        app.notify("hello", timeout=60, markup=False)
        for spec in SPECS:
            app.register_theme(theme_of(spec))
            app.theme = spec.name
            for widget in app.query("Input, TextArea, OptionList"):
                widget.focus()
                await pilot.pause()
            await pilot.press("ctrl+p")
            await pilot.press("escape")
            assert app.native_ansi_color is spec.ansi, spec.name


@each_case("spec", SPECS)
def test_rows_and_stylesheets_show_a_role_in_the_same_color(spec: ThemeSpec) -> None:
    theme = theme_of(spec)
    variables = theme.to_color_system().generate() | theme.variables
    palette = Palette.of(variables, spec.ansi)
    of_text = () if spec.ansi else ("text", "dim", "rule", "surface", "panel")
    for role in ("accent", "ok", "warn", "bad", "user", "model", "tool", *of_text):
        assert palette.colors[role] == Color.parse(spec.colours()[role]), role


@each_case("spec", [spec for spec in SPECS if not spec.ansi])
def test_text_in_an_input_has_enough_contrast(spec: ThemeSpec) -> None:
    field = Color.parse(theme_of(spec).variables["field"])
    for role in ("text", "dim"):
        assert contrast(Color.parse(spec.colours()[role]), field) >= 4.5, role


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: Color) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    ]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_an_unknown_color_is_refused_with_its_role() -> None:
    spec = replace(load_theme("harbor")[0], warn="#12345")
    with pytest.raises(ValueError, match="warn: '#12345' is not a color"):
        theme_of(spec)


async def test_our_variables_have_defaults_in_a_theme_of_textual() -> None:
    class Plain(App[None]):
        CSS = " ".join(f"Screen {{ color: ${name}; }}" for name in DEFAULTS)

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return dict(DEFAULTS)

    async with Plain().run_test() as pilot:
        pilot.app.theme = "nord"
        await pilot.pause()


async def test_the_active_theme_can_be_changed() -> None:
    app = Everything()
    async with app.run_test(size=(60, 20)) as pilot:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for spec in SPECS:
                app.register_theme(theme_of(spec))
                app.theme = spec.name
                await pilot.pause()
                assert app.current_theme.dark is spec.dark
