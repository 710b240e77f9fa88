"""Themes as Textual themes."""

import warnings
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import Input, OptionList, TextArea

from tests.ui.stage import Stage
from tui.settings.themes import ThemeSpec, all_themes, load_theme
from tui.ui.widgets.palette import Palette
from tui.ui.widgets.theming import theme_of, variable_defaults

SPECS = all_themes()[0]

ROLE_VARIABLES = {
    "accent": "accent",
    "text": "foreground",
    "dim": "text-dim",
    "rule": "rule",
    "surface": "surface",
    "panel": "panel",
    "ok": "ok",
    "warn": "warn",
    "bad": "bad",
    "user": "user",
    "model": "model",
    "tool": "tool",
}


class Everything(Stage):
    """Mounts the stock widgets that the screens use, so that their stylesheets are parsed and applied."""

    def compose(self) -> ComposeResult:
        yield Input()
        yield TextArea()
        yield OptionList("one", "two", markup=False)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
async def test_a_shipped_theme_fits_every_widget(spec: ThemeSpec) -> None:
    app = Everything(theme=spec.name)
    async with app.run_test(size=(60, 20)) as pilot:
        for widget in app.query("Input, TextArea, OptionList"):
            widget.focus()
            await pilot.pause()
        app.notify("hello", markup=False)
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert app.native_ansi_color is spec.ansi


@pytest.mark.parametrize("spec", [spec for spec in SPECS if not spec.ansi], ids=lambda spec: spec.name)
def test_each_role_is_a_variable_for_stylesheets(spec: ThemeSpec) -> None:
    theme = theme_of(spec)
    variables = theme.to_color_system().generate() | theme.variables
    for role, name in ROLE_VARIABLES.items():
        assert Color.parse(variables[name]) == Color.parse(spec.colours()[role]), role


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_rows_and_stylesheets_show_a_role_in_the_same_color(spec: ThemeSpec) -> None:
    theme = theme_of(spec)
    variables = theme.to_color_system().generate() | theme.variables
    palette = Palette.of(variables, spec.ansi)
    for role in ("accent", "ok", "warn", "bad", "user", "model", "tool"):
        assert palette.colors[role] == Color.parse(spec.colours()[role]), role


def test_an_unknown_color_is_refused_with_its_role() -> None:
    spec = replace(load_theme("harbor")[0], warn="#12345")
    with pytest.raises(ValueError, match="warn: '#12345' is no colour"):
        theme_of(spec)


async def test_our_variables_have_defaults_in_a_theme_of_textual() -> None:
    class Plain(App[None]):
        CSS = " ".join(f"Screen {{ color: ${name}; }}" for name in variable_defaults())

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return variable_defaults()

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
