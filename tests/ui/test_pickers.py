"""Choosing a theme, seen at once on the whole screen, and a model."""

from collections.abc import Sequence

import pytest
from textual.widgets import OptionList

from tests.ui.stage import Stage, press
from tui.settings.themes import ThemeSpec, all_themes
from tui.ui.screens.themes import ThemePicker


@pytest.fixture(scope="module")
def specs() -> Sequence[ThemeSpec]:
    return all_themes()[0]


async def test_the_screen_wears_the_theme_that_the_mark_stands_on(specs: Sequence[ThemeSpec]) -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"))
        await pilot.pause()
        worn = [pilot.app.theme]
        for _ in specs[1:]:
            await press(pilot, "down")
            worn.append(pilot.app.theme)
    assert worn == [spec.name for spec in specs]


async def test_the_screen_behind_stays_in_view(specs: Sequence[ThemeSpec]) -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"))
        await pilot.pause()
        assert pilot.app.screen.styles.background.a == 0


async def test_enter_keeps_the_theme_and_gives_its_name(specs: Sequence[ThemeSpec]) -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"), given.append)
        await press(pilot, "j", "enter")
        assert given == [specs[1].name]
        assert pilot.app.theme == specs[1].name


async def test_escape_gives_the_old_theme_back(specs: Sequence[ThemeSpec]) -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"), given.append)
        await press(pilot, "down", "down", "escape")
        assert given == [None]
        assert pilot.app.theme == "harbor"


async def test_the_mark_stands_on_the_theme_that_is_worn(specs: Sequence[ThemeSpec]) -> None:
    async with Stage(theme="quay").run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "quay"))
        await pilot.pause()
        options = pilot.app.screen.query_one(OptionList)
        assert options.highlighted == [spec.name for spec in specs].index("quay")
        assert pilot.app.theme == "quay"
