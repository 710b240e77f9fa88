"""The app of `mcptui traffic FILE`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import Mock

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from tests.conftest import until
from tests.ui.app_stage import shows
from tests.ui.traffic_stage import some
from tui.settings.themes import DEFAULT_THEME
from tui.ui.app.traffic_app import TrafficApp
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.traffic.screen import TrafficScreen


@asynccontextmanager
async def shown(opens_at: int = 0) -> AsyncIterator[tuple[TrafficApp, TrafficScreen, Pilot[Any]]]:
    async def save_theme(name: str) -> None:
        pass

    recording = some().recording()
    recording.opens_at = opens_at
    app = TrafficApp(recording, theme=DEFAULT_THEME, keys={}, save_theme=save_theme)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        assert isinstance(app.screen, TrafficScreen)
        yield app, app.screen, pilot


async def test_the_title_of_the_terminal_is_that_of_the_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Mock()
    monkeypatch.setattr("tui.ui.app.traffic_app.terminal_of", lambda app: terminal)
    async with shown() as (app, _, _):
        terminal.show_title.assert_called_once_with(app._recording.title)


async def test_closing_the_traffic_screen_quits() -> None:
    async with shown() as (app, _, pilot):
        await pilot.press("escape")
        await until(lambda: app.return_value == 0)


@pytest.mark.parametrize("opens", ["f1", "ctrl+p", "ctrl+t"])
async def test_the_keys_of_every_footer_work_over_the_statistics_of_a_recording(opens: str) -> None:
    async with shown() as (app, screen, pilot):
        await until(lambda: screen.is_whole)
        await pilot.press("S", opens)
        await until(lambda: len(app.screen_stack) == 3)
        if opens == "ctrl+p":
            titles = [command.title for command in app.commands()]
            assert "Show or hide handshakes and lists" in titles and "Filter the list" not in titles
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is screen)


async def test_a_recording_opens_the_entry_that_it_names_and_keys_go_to_the_next_marked_one() -> None:
    async with shown(opens_at=3) as (_, screen, pilot):
        await until(lambda: screen.list.selected == 3 and screen.entry.display)
        for seq in (3, 7):
            screen.recording.entries.mark(screen.recording.entries.index(seq), True)
        await pilot.press("right_curly_bracket")
        await until(lambda: screen.list.selected == 7)
        await pilot.press("left_curly_bracket")
        await until(lambda: screen.list.selected == 3)
        await pilot.press("right_square_bracket")
        await until(lambda: screen.list.selected == 4)


async def test_the_help_of_a_recording_lists_no_screen_that_cannot_be_opened() -> None:
    async with shown() as (app, _, pilot):
        await pilot.press("f1")
        await shows(app, "Traffic screen")
        await pilot.press(*"approval")
        await shows(app, "No matches")
        await pilot.press("escape", *"waterfall")
        await shows(app, "Show the entry's turn as a waterfall", "Show the previous turn")


async def test_the_palette_has_only_the_commands_for_a_recording() -> None:
    async with shown() as (app, screen, pilot):
        await until(lambda: screen.is_whole)
        await pilot.press("ctrl+p")
        await until(lambda: isinstance(app.screen, CommandPalette))
        titles = {command.title for command in app.commands()}
        assert {"Filter the list", "Switch theme"} <= titles
        assert not titles & {"New conversation", "Focus the servers", "Call the tool, read the resource"}
        await pilot.press(*"size")
        await shows(app, "Sort by size")
        await pilot.press("enter")
        await until(lambda: app.screen is screen and screen.active_filter.order is not None)


async def test_widgets_mounted_later_are_below_the_first_lines() -> None:
    async with shown() as (_, screen, _):
        await until(lambda: screen.is_whole)
        below = [
            screen.filter_line,
            screen.filter_bar,
            screen.list.parent.parent,
            screen.entry,
            screen.prompt,
        ]
        assert [child for child in screen.children if child in below] == below


async def test_a_notification_does_not_cover_the_filter() -> None:
    async with shown() as (app, screen, pilot):
        await until(lambda: screen.is_whole)
        await pilot.press("slash")
        app.notify("Saved.")
        await until(lambda: any(toast.region for toast in screen.query(Toast)))
        assert (screen.filter_bar.region.y, screen.query_one(Toast).region.y) == (1, 2)


def test_an_action_on_a_partly_mounted_screen_is_not_run() -> None:
    screen = TrafficScreen(some().recording(), KeyOverrides())
    assert not screen.check_action("traffic_filter", ())
