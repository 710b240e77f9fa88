"""Comparing two entries or two calls, and the waterfall of a turn."""

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import asked, ripen, screen_text, shows
from tests.ui.app_stage import opened as app_with
from tests.ui.fakes import FakeRuntime, calls, says
from tests.ui.stage import press, shown
from tests.ui.test_traffic import opened
from tests.ui.test_traffic_bursts import burst
from tests.ui.traffic_stage import Recorded, some
from tui.core.traffic import Cause, Kind
from tui.ui.traffic.comparison import ComparisonScreen
from tui.ui.traffic.waterfall import WaterfallScreen


def two_calls() -> Recorded:
    recorded = Recorded()
    said = [{"type": "text", "text": "25 °C"}]
    recorded.call(result={"content": said, "took_ms": 3})
    recorded.call(arguments={"location": "Hangzhou"}, result={"content": said, "took_ms": 9, "extra": [1]})
    return recorded


def compared(pilot: Pilot[None]) -> str:
    screen = pilot.app.screen
    assert isinstance(screen, ComparisonScreen)
    return "\n".join([screen._title.render_line(0).text, *shown(screen._page)])


async def test_two_requests_are_compared_with_their_responses() -> None:
    async with opened(two_calls().recording()) as (screen, pilot):
        screen.list.select(1)
        await press(pilot, "d")
        screen.look()
        words = "Comparing entry 1: select the other entry, press d."
        await until(lambda: words in screen_text(pilot.app))
        screen.list.select(3)
        await press(pilot, "d")
        await until(lambda: "2 differences" in compared(pilot))
        (line,) = [line for line in compared(pilot).splitlines() if "Hangzhou" in line]
        assert line.startswith("~") and "Beijing" in line
        assert (
            "3 differences hidden that are expected between two calls (2 IDs, 1 duration). Press a"
            in compared(pilot)
        )


async def test_a_key_shows_expected_differences_and_tab_adds_the_requests_of_two_responses() -> None:
    async with opened(two_calls().recording()) as (screen, pilot):
        screen.list.select(2)
        await press(pilot, "d")
        screen.list.select(4)
        await press(pilot, "d", "a")
        await until(lambda: '"took_ms": 9' in compared(pilot))
        assert '"request"' not in compared(pilot)
        await press(pilot, "tab")
        await until(lambda: "Hangzhou" in compared(pilot))
        await press(pilot, "c", "escape")
        assert "Hangzhou" in pilot.app.clipboard
        screen.look()
        await until(lambda: "Comparing" not in screen_text(pilot.app))
        assert pilot.app.screen is screen


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"body": b"one\ntwo"}, b"one\n\x1b[31mthree", ["1 difference", "␛[31mthree"]),
        ({"body": b"one"}, b"one", ["No differences"]),
        ({"body": b"one", "sha256": "0" * 64}, b"one", ["Entry 1 is truncated and cannot be compared."]),
    ],
    ids=["by line", "identical", "truncated"],
)
async def test_texts_that_are_not_json_are_compared(first, second, expected) -> None:
    recorded = Recorded()
    recorded.add(Kind.STDERR, **first)
    recorded.add(Kind.STDERR, second)
    async with opened(recorded.recording()) as (_screen, pilot):
        burst(pilot.app, "dkd")
        await until(lambda: isinstance(pilot.app.screen, ComparisonScreen))
        await until(lambda: all(text in compared(pilot) for text in expected))


async def test_the_waterfall_of_a_live_turn_shows_the_time_of_an_approval() -> None:
    runtime = FakeRuntime(calls("notes__delete_note", '{"id": "milk"}'), says("Done."))
    async with app_with(runtime) as (app, pilot):
        await asked(app, pilot)
        await ripen(app)
        await press(pilot, "f2", "y")
        await shows(app, "Done.")
        runtime.recorded.add(Kind.EVENT, method="spawn")
        turn = app.main.regions.trace.spans.entries[0].number
        await press(pilot, "f4")
        screen = app.screen
        await until(lambda: screen.list.selected)
        runtime.recorded.columns.turn[0] = turn
        await press(pilot, "w")
        assert isinstance(app.screen, WaterfallScreen)
        await shows(app, "waiting for you")


async def test_below_the_waterfall_are_the_calls_of_the_selected_step_and_enter_shows_one() -> None:
    recorded = Recorded()
    for city in ("Beijing", "Hangzhou"):
        recorded.call(cause=Cause(1, 1, f"call-{city}"), arguments={"location": city})
    async with opened(recorded.recording(live=False)) as (screen, pilot):
        await press(pilot, "w")
        await until(lambda: "Hangzhou" in screen_text(pilot.app))
        assert "2 calls in step 1" in screen_text(pilot.app)
        await press(pilot, "tab", "down", "enter")
        await until(lambda: screen.active_filter.query.text == "turn:1 call:call-Hangzhou")


async def test_an_entry_without_a_turn_has_no_waterfall() -> None:
    recorded = some()
    async with opened(recorded.recording()) as (screen, pilot):
        await until(lambda: len(screen.list.view) == len(recorded.entries))
        screen.list.select(1)
        await press(pilot, "w")
        assert [one.message for one in pilot.app._notifications] == ["This entry does not belong to a turn."]
        assert pilot.app.screen is screen


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (8, "   turn 8 of 8   "),
        (1, "   turn 1 of the conversation, turn 8 of 8 in this recording"),
    ],
)
async def test_the_waterfall_has_the_turn_number_of_the_conversation(number, words) -> None:
    runtime = FakeRuntime(says("Done."))
    async with app_with(runtime) as (app, pilot):
        await press(pilot, "x", "enter")
        await shows(app, "Done.")
        turn = app.main.regions.trace.spans.entries[0]
        turn.number, turn.traffic = number, 8
        runtime.recorded.call(cause=Cause(8, 1, "call-1"))
        await press(pilot, "f4")
        await until(lambda: app.screen.list.selected)
        await press(pilot, "w")
        await shows(app, words)
        await press(pilot, "left")
        await shows(app, "turn 7 of 8")
