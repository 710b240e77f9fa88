"""Keys that arrive in one burst act as if typed one by one."""

import pytest
from textual import events

from tests.conftest import until
from tests.ui.app_stage import opened as app_with
from tests.ui.fakes import FakeRuntime, says
from tests.ui.test_traffic import opened
from tests.ui.traffic_stage import some
from tui.ui.traffic.screen import TrafficScreen

NAMES = {"/": "slash", " ": "space", ":": "colon", "\r": "enter", "_": "underscore"}


def burst(app, text):
    for character in text:
        key = NAMES.get(character, character)
        app.post_message(events.Key(key, character if character != "\r" else None))


@pytest.mark.parametrize("text", ["tool:search_notes", "server:notes", "method:tools/call"])
async def test_a_filter_can_be_typed_in_one_burst(text) -> None:
    async with opened(some().recording()) as (screen, pilot):
        burst(pilot.app, "/" + text + "\r")
        await until(lambda: screen.active_filter.query.text == text, what=screen.active_filter.query.text)
        await until(lambda: not screen.filter_bar.display and screen.list.has_focus)


@pytest.mark.parametrize(
    ("keys", "effect"),
    [
        (("ctrl+f", "connecting\r"), lambda app: "found" in app.screen.filter_line.render_line(0).text),
        (("Mask them\r",), lambda app: app.screen.recording.annotations.notes == {2: "ask them"}),
        (("cj\r",), lambda app: "'location': 'Beijing'" in app.clipboard),
        (("\r/Beijing\r",), lambda app: app.screen.entry.page.search_text == "beijing"),
    ],
    ids=["search", "note", "copy as Python", "search in an entry"],
)
async def test_input_can_be_typed_in_one_burst(keys, effect) -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.list.select(2)
        for part in keys:
            if part == "ctrl+f":
                pilot.app.post_message(events.Key(part, None))
            else:
                burst(pilot.app, part)
        await until(lambda: pilot.app.screen is screen and effect(pilot.app))


async def test_the_screen_can_be_opened_and_filtered_in_one_burst() -> None:
    async with app_with(FakeRuntime(says("hello"))) as (app, _):
        app.post_message(events.Key("f4", None))
        burst(app, "/server:notes\r")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await until(lambda: app.screen.active_filter.query.text == "server:notes")


@pytest.mark.parametrize("key", ["S", "w"])
async def test_the_next_key_of_a_burst_closes_a_screen_that_is_opening(key) -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.list.select(2)
        burst(pilot.app, "/server:weather\r")
        await until(lambda: screen.active_filter.query.text == "server:weather" and screen.list.has_focus)
        burst(pilot.app, f"{key}q")
        burst(pilot.app, "t")
        await until(lambda: screen.list._maker.mode == 1)
        assert pilot.app.screen is screen
        assert screen.active_filter.query.text == "server:weather"


async def test_keys_after_the_enter_of_a_filter_go_to_the_list() -> None:
    async with opened(some().recording()) as (screen, pilot):
        burst(pilot.app, "/tool:search_notes\rmt")
        await until(
            lambda: screen.active_filter.query.text == "tool:search_notes",
            3,
            what=f"{screen.filter_bar._input.value} {screen.filter_bar.display} {pilot.app.focused}",
        )
        await until(lambda: any(screen.recording.entries.marked), what="the mark")
        assert screen.active_filter.query.text == "tool:search_notes"
        assert not screen.filter_bar.display


async def test_keys_after_the_escape_of_a_search_go_to_the_list() -> None:
    async with opened(some().recording()) as (screen, pilot):
        burst(pilot.app, "sabc")
        pilot.app.post_message(events.Key("escape", None))
        burst(pilot.app, "m")
        await until(lambda: any(screen.recording.entries.marked), what="the mark")


async def test_a_prompt_is_cancelled_when_the_focus_moves() -> None:
    async with opened(some().recording()) as (screen, pilot):
        await pilot.press("ctrl+f")
        await until(lambda: screen.prompt.display)
        screen.set_focus(screen.list)
        await until(lambda: not screen.prompt.display)
