"""Pickers: the theme, previewed on the whole screen, and long lists."""

from collections.abc import Sequence

import pytest
from textual.content import Content
from textual.widgets import OptionList

from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage, press
from tui.settings.themes import ThemeSpec, all_themes
from tui.ui.dialogs.picker import Picker, ThemePicker


@pytest.fixture(scope="module")
def specs() -> Sequence[ThemeSpec]:
    return all_themes()[0]


async def test_the_highlighted_theme_is_previewed(specs: Sequence[ThemeSpec]) -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"))
        await pilot.pause()
        worn = [pilot.app.theme]
        for _ in specs[1:]:
            await press(pilot, "down")
            worn.append(pilot.app.theme)
    assert worn == [spec.name for spec in specs]


async def test_the_screen_below_stays_visible(specs: Sequence[ThemeSpec]) -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"))
        await pilot.pause()
        assert pilot.app.screen.styles.background.a == 0


async def test_enter_selects_the_theme_and_returns_its_name(specs: Sequence[ThemeSpec]) -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"), given.append)
        await press(pilot, "j", "enter")
        assert given == [specs[1].name]
        assert pilot.app.theme == specs[1].name


async def test_escape_restores_the_old_theme(specs: Sequence[ThemeSpec]) -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "harbor"), given.append)
        await press(pilot, "down", "down", "escape")
        assert given == [None]
        assert pilot.app.theme == "harbor"


async def test_the_current_theme_is_highlighted_first(specs: Sequence[ThemeSpec]) -> None:
    async with Stage(theme="quay").run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(ThemePicker(specs, "quay"))
        await pilot.pause()
        options = pilot.app.screen.query_one(OptionList)
        assert options.highlighted == [spec.name for spec in specs].index("quay")
        assert pilot.app.theme == "quay"


MANY = [(f"t{number}", Content(f"notes › tool_{number}")) for number in range(300)]


@pytest.mark.parametrize("finds", [False, True])
async def test_heading_and_keys_of_a_long_list_are_visible_on_a_small_screen(finds: bool) -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(Picker("Tools", MANY, "t299", finds=finds))
        await pilot.pause()
        shown = screen_text(pilot.app)
    assert "TOOLS" in shown and "tool_299" in shown and "enter select   esc close" in shown


async def test_typing_narrows_a_long_list_and_enter_selects_the_match() -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(Picker("Tools", MANY, finds=True), given.append)
        await press(pilot, *"29 tool", "down", "enter")
    assert given == ["t129"]


async def test_without_a_match_enter_does_nothing_and_escape_cancels() -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(Picker("Tools", MANY, finds=True), given.append)
        await press(pilot, *"xyz", "enter", "down", "pagedown", "escape")
    assert given == [None]


async def test_a_short_list_has_no_filter_field() -> None:
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(Picker("Tools", MANY[:3], finds=True))
        await pilot.pause()
        assert "type to filter" not in screen_text(pilot.app)
