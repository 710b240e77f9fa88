"""Keys that come in one burst mean what they would mean one by one."""

import pytest
from textual import events

from tests.conftest import until
from tests.ui.fakes import FakeRuntime, says
from tests.ui.test_app import opened as app_with
from tests.ui.test_traffic import opened
from tests.ui.traffic_stage import some
from tui.ui.screens.traffic import TrafficScreen

NAMES = {"/": "slash", " ": "space", ":": "colon", "\r": "enter", "_": "underscore"}


def burst(app, text):
    for character in text:
        key = NAMES.get(character, character)
        app.post_message(events.Key(key, character if character != "\r" else None))


@pytest.mark.parametrize("text", ["tool:search_notes", "server:notes", "method:tools/call"])
async def test_a_filter_typed_in_one_burst_is_the_filter(text) -> None:
    async with opened(some().recording()) as (screen, pilot):
        burst(pilot.app, "/" + text + "\r")
        await until(lambda: screen.sifting.query.text == text, what=screen.sifting.query.text)
        assert not screen.filter_bar.is_open
        assert screen.list.has_focus


async def test_a_search_typed_in_one_burst_is_the_search() -> None:
    async with opened(some().recording()) as (screen, pilot):
        burst(pilot.app, "s" + "connecting" + "\r")
        await until(lambda: "found" in screen.filter_line.render_line(0).text)


async def test_the_screen_can_be_opened_and_filtered_in_one_burst() -> None:
    async with app_with(FakeRuntime(says("hello"))) as (app, _):
        app.post_message(events.Key("f4", None))
        burst(app, "/server:notes\r")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await until(lambda: app.screen.sifting.query.text == "server:notes")
