"""Comparing two entries or two calls, and where a turn's time went while the conversation is there."""

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import asked, ripen, shows
from tests.ui.app_stage import opened as app_with
from tests.ui.fakes import FakeRuntime, calls, says
from tests.ui.stage import press, shown
from tests.ui.test_traffic import opened, title
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


async def test_two_requests_are_compared_with_their_answers() -> None:
    async with opened(two_calls().recording()) as (screen, pilot):
        screen.list.select(1)
        await press(pilot, "d")
        screen.look()
        assert "comparing entry 1 with…" in title(screen)
        screen.list.select(3)
        await press(pilot, "d")
        await until(lambda: "2 differences" in compared(pilot))
        assert '~ request.params.arguments.location  "Beijing" -> "Hangzhou"' in compared(pilot)
        assert "+ answer.result.extra" in compared(pilot)
        assert "differ, as they always do" in compared(pilot)


async def test_what_always_differs_is_shown_with_a_key_and_entries_alone_with_another() -> None:
    async with opened(two_calls().recording()) as (screen, pilot):
        screen.list.select(2)
        await press(pilot, "d")
        screen.list.select(4)
        await press(pilot, "d", "a")
        await until(lambda: "~ result.took_ms  3 -> 9" in compared(pilot))
        assert "request.params" not in compared(pilot)
        await press(pilot, "tab")
        await until(lambda: "request.params" in compared(pilot))
        await press(pilot, "escape", "escape")
        screen.look()
        assert "comparing" not in title(screen)
        assert pilot.app.screen is screen


async def test_texts_that_are_no_json_are_compared_line_by_line() -> None:
    recorded = Recorded()
    recorded.add(Kind.STDERR, b"one\ntwo")
    recorded.add(Kind.STDERR, b"one\n\x1b[31mthree")
    async with opened(recorded.recording()) as (_screen, pilot):
        await press(pilot, "d", "k", "d")
        await until(lambda: "1 difference" in compared(pilot))
        assert "␛[31mthree" in compared(pilot)


async def test_the_same_is_said_to_be_the_same() -> None:
    recorded = Recorded()
    recorded.add(Kind.STDERR, b"one")
    recorded.add(Kind.STDERR, b"one")
    async with opened(recorded.recording()) as (_screen, pilot):
        burst(pilot.app, "dkd")
        await until(lambda: isinstance(pilot.app.screen, ComparisonScreen))
        await until(lambda: "The two are the same." in compared(pilot))


async def test_what_was_kept_in_part_is_not_compared() -> None:
    recorded = Recorded()
    recorded.add(Kind.STDERR, b"one", sha256="0" * 64)
    recorded.add(Kind.STDERR, b"one")
    async with opened(recorded.recording()) as (_screen, pilot):
        await press(pilot, "d", "k", "d")
        await until(lambda: "Only the beginning of entry 1 was kept" in compared(pilot))


async def test_the_waterfall_of_a_live_turn_shows_how_long_a_person_was_waited_for() -> None:
    runtime = FakeRuntime(calls("notes__delete_note", '{"id": "milk"}'), says("Done."))
    async with app_with(runtime) as (app, pilot):
        await asked(app, pilot)
        await ripen(app)
        await press(pilot, "f2", "y")
        await shows(app, "Done.")
        runtime.recorded.add(Kind.EVENT, method="spawn")
        turn = app.main.parts.spans.entries[0].number
        await press(pilot, "f4")
        screen = app.screen
        await until(lambda: screen.list.selected)
        runtime.recorded.frames.turn[0] = turn
        await press(pilot, "w")
        assert isinstance(app.screen, WaterfallScreen)
        await shows(app, "waiting for you")


async def test_the_waterfall_of_an_entry_without_a_turn_opens_no_other_turn() -> None:
    recorded = some()
    async with opened(recorded.recording()) as (screen, pilot):
        await until(lambda: len(screen.list.view) == len(recorded.entries))
        screen.list.select(1)
        await press(pilot, "w")
        assert [one.message for one in pilot.app._notifications] == ["No turn caused this entry."]
        assert pilot.app.screen is screen


async def test_the_waterfall_of_an_entry_with_a_turn_opens_that_turn() -> None:
    recorded = some()
    recorded.call(cause=Cause(2, 1, "call-3"))
    async with opened(recorded.recording()) as (screen, pilot):
        await until(lambda: len(screen.list.view) == len(recorded.entries))
        screen.list.select(2)
        await press(pilot, "w")
        await shows(pilot.app, "WATERFALL  turn 1")
