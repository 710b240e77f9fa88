"""The traffic screen: one line per entry, following, selecting, pairs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage, press, row_with, shown
from tests.ui.traffic_stage import Recorded, some
from tests.unit.traffic.small_traffic import begun_at_end, fill
from tui.core.traffic import Kind, Outcome, Severity
from tui.settings.state.switches import switch
from tui.traffic.record.open_recording import Annotations, Recording
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.traffic import bars, entry_list
from tui.ui.traffic.active_filter import FOLD
from tui.ui.traffic.bars import EntryTab
from tui.ui.traffic.screen import TrafficScreen


@asynccontextmanager
async def opened(
    traffic: Recording, size: tuple[int, int] = (120, 30)
) -> AsyncIterator[tuple[TrafficScreen, Pilot[None]]]:
    async with Stage().run_test(size=size) as pilot:
        screen = TrafficScreen(traffic, KeyOverrides())
        await pilot.app.push_screen(screen)
        await pilot.pause()
        yield screen, pilot
        if pilot.app.screen is screen:
            screen.dismiss(None)
            await pilot.pause()


def numbered(count: int) -> Recorded:
    recorded = Recorded()
    for number in range(count):
        recorded.add(Kind.NOTIFICATION, {}, method=f"notifications/n{number}")
    return recorded


def told(pilot: Pilot[None]) -> list[str]:
    return [note.message for note in pilot.app._notifications]


def title(screen: TrafficScreen) -> str:
    return screen._title.render_line(0).text


async def test_the_latency_of_a_pending_request_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = some()
    async with opened(recorded.recording()) as (screen, _):
        monkeypatch.setattr(entry_list.time, "monotonic_ns", lambda: recorded.now + 3_100_000_000)
        screen.list.tick()
        line = row_with(shown(screen.list), "wait")
        assert "3.1 s" in line
        assert line.endswith("◌")


async def test_the_newest_entry_is_followed_until_the_user_scrolls_up() -> None:
    recorded = numbered(100)
    async with opened(recorded.recording()) as (screen, pilot):
        await until(lambda: "notifications/n99" in shown(screen.list)[-1])
        recorded.add(Kind.NOTIFICATION, {}, method="notifications/new")
        screen.look()
        assert "notifications/new" in shown(screen.list)[-1]
        assert "following" in title(screen)
        await press(pilot, "k")
        before = shown(screen.list)
        recorded.add(Kind.NOTIFICATION, {}, method="notifications/newer")
        screen.look()
        assert shown(screen.list) == before
        assert "press end to follow" in title(screen)
        await press(pilot, "end")
        assert "notifications/newer" in shown(screen.list)[-1]
        await until(lambda: "following" in title(screen))


async def test_linting_progress_is_shown_only_if_the_linter_lags_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded, judged, now = numbered(10), [9], [50.0]
    monkeypatch.setattr(bars, "monotonic", lambda: now[0])
    async with opened(recorded.recording(judged=lambda: judged[0])) as (screen, _):
        assert "linting" not in title(screen)
        now[0] += bars.LAG_SECONDS
        screen.look()
        assert "linting 90 %" in title(screen)
        recorded.add(Kind.NOTIFICATION, {}, method="notifications/new")
        judged[0] = 10
        screen.look()
        assert "linting 90 %" in title(screen)
        judged[0] = 11
        screen.look()
        assert "linting" not in title(screen)


async def test_the_selection_stays_in_a_list_that_fits_the_screen() -> None:
    recorded = numbered(3)
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "up", "up")
        for number in range(60):
            recorded.add(Kind.NOTIFICATION, {}, method=f"notifications/more{number}")
            screen.look()
        assert screen.list.selected == 1
        assert "notifications/n0" in shown(screen.list)[0]


async def test_a_key_selects_the_partner_and_pressed_again_returns() -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.list.select(4)
        assert screen.list.selected == 4
        await press(pilot, "p")
        assert screen.list.selected == 5
        assert shown(screen.list)[4].startswith("▸")
        assert shown(screen.list)[3].startswith("⇄")
        await press(pilot, "p")
        assert screen.list.selected == 4


async def test_the_partner_of_an_answer_is_known_before_it_is_loaded() -> None:
    recorded = Recorded()
    recorded.call(takes_ms=7)
    recorded.columns = begun_at_end(recorded, 1)
    async with opened(recorded.recording(live=False)) as (screen, pilot):
        assert shown(screen.list)[1].split()[-2:] == ["…", "✓"]
        await press(pilot, "enter")
        screen.entry.show_tab(EntryTab.TIMING)
        await until(lambda: "took        7.0 ms on the wire" in "".join(shown(screen.entry.page)))
        await press(pilot, "escape", "slash", *"kind:response", "enter", "p")
        await until(lambda: len(screen.list.view) == 1)
        await until(lambda: "Entry 1 is not loaded yet." in told(pilot))
        await press(pilot, "escape", "p")
        assert screen.list.selected == 1
        fill(recorded.columns, recorded, 1)
        await until(lambda: shown(screen.list)[1].split()[-3:] == ["7.0", "ms", "✓"])


async def test_a_request_whose_answer_may_not_be_loaded_is_not_shown_as_pending() -> None:
    recorded = Recorded()
    for _ in range(3):
        recorded.call()
    recorded.columns = begun_at_end(recorded, 1)
    fill(recorded.columns, recorded, 1)
    async with opened(recorded.recording(live=False)) as (screen, pilot):
        await press(pilot, "home")
        assert shown(screen.list)[0].split()[-2:] == ["…", "…"]
        await press(pilot, "p")
        await until(lambda: "Its response is not loaded yet." in told(pilot))


async def test_progress_belongs_to_its_call_and_a_key_selects_the_request() -> None:
    recorded = Recorded()
    recorded.add(Kind.REQUEST, {}, method="tools/call", ident="1", root=1)
    recorded.add(Kind.NOTIFICATION, {}, method="notifications/progress", pair=1, root=1)
    recorded.add(Kind.RESPONSE, {}, method="tools/call", ident="1", pair=1, root=1)
    async with opened(recorded.recording()) as (screen, pilot):
        await pilot.pause()
        assert shown(screen.list)[1].startswith("┊")
        await press(pilot, "B")
        assert screen.list.selected == 1


async def test_times_are_clock_times_or_relative_to_the_start_or_the_line_above() -> None:
    recorded = Recorded()
    recorded.add(Kind.NOTIFICATION, {}, method="a")
    recorded.add(Kind.NOTIFICATION, {}, method="b", after_ms=1500)
    async with opened(recorded.recording(), (80, 20)) as (screen, pilot):
        assert row_with(shown(screen.list), " b").count(":") == 2
        await press(pilot, "t")
        assert "1.500" in row_with(shown(screen.list), " b")
        await press(pilot, "t")
        assert "1.5 s" in row_with(shown(screen.list), " b")


async def test_a_mark_is_shown_and_saved() -> None:
    kept: list[tuple[int, bool]] = []
    recorded = numbered(3)
    annotations = Annotations(keep_note=lambda seq, marked, _: kept.append((seq, marked)))
    async with opened(recorded.recording(annotations=annotations)) as (screen, pilot):
        await press(pilot, "m")
        assert shown(screen.list)[2].startswith("▸◆")
        await press(pilot, "m")
        assert "◆" not in shown(screen.list)[2]
    assert kept == [(3, True), (3, False)]


async def test_an_empty_traffic_list_explains_what_it_will_show() -> None:
    async with opened(Recorded().recording()) as (screen, _):
        assert "Every message of every server appears here" in " ".join(shown(screen.list))


async def test_sorted_by_latency_a_list_without_calls_says_how_to_see_all_entries() -> None:
    recorded = Recorded()
    recorded.add(Kind.STDERR, b"hello", source="weather")
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "6")
        await until(lambda: "No calls yet. Only calls have a latency." in " ".join(shown(screen.list)))


async def test_names_from_messages_are_cleaned() -> None:
    recorded = Recorded()
    recorded.add(Kind.REQUEST, b"", method="\x1b]\x07[bold]", tool="\u202eevil\n", source="a\x9bb")
    async with opened(recorded.recording()) as (screen, _):
        text = "".join(shown(screen.list))
    assert not any(sign in text for sign in "\x1b\x07\x9b\u202e")
    assert "[bold]" in text


async def test_the_reader_is_closed_with_the_screen() -> None:
    recorded = some()
    async with opened(recorded.recording()) as (screen, _):
        await until(lambda: any("␛[31mcache is cold" in line for line in shown(screen.list)))
    await until(lambda: recorded.closed)


async def test_an_unreadable_recording_shows_the_reason() -> None:
    recording = Recorded().recording(live=False, problem=lambda: "it is damaged (malformed page 7)")
    async with opened(recording) as (screen, _):
        await until(lambda: any("malformed page 7" in row for row in shown(screen.list)))


async def test_a_damaged_recording_shows_how_much_of_it_is_linted() -> None:
    recording = some().recording(live=False, problem=lambda: "it is damaged", judged=lambda: 1)
    async with opened(recording) as (_, pilot):
        await until(lambda: "linting" in screen_text(pilot.app))
        title = next(line for line in screen_text(pilot.app).splitlines() if "TRAFFIC" in line)
        assert "it is damaged" in title


async def test_a_recording_whose_writer_has_ended_is_no_longer_followed() -> None:
    recording = some().recording()
    async with opened(recording) as (screen, pilot):
        await until(lambda: "follow" in screen_text(pilot.app).splitlines()[0])
        recording.live = False
        await until(lambda: screen_text(pilot.app).splitlines()[0].rstrip().endswith("recorded"))
        assert not screen.recording.live


async def test_the_key_of_a_column_sorts_and_h_unfolds_housekeeping_in_every_later_run() -> None:
    recorded = Recorded()
    calls = (("initialize", "", 900), ("tools/call", "quick", 2), ("tools/call", "slow", 300))
    for method, tool, took in calls:
        asked = recorded.add(Kind.REQUEST, {}, method=method, tool=tool, source="weather")
        recorded.add(Kind.RESPONSE, {}, method=method, tool=tool, source="weather", pair=asked, after_ms=took)
    async with opened(recorded.recording()) as (screen, pilot):
        await until(lambda: "2 entries" in shown(screen.list)[0])
        assert "4 of 6" in screen_text(pilot.app) and "2 folded  h show" in screen_text(pilot.app)
        await press(pilot, "6")
        await until(lambda: "slow" in shown(screen.list)[0])
        assert len(screen.list.view) == 2 and "quick" in shown(screen.list)[1]
        await press(pilot, "6", "6", "h")
        await until(lambda: len(screen.list.view) == 6)
        await until(lambda: not switch(FOLD, True))
    async with opened(recorded.recording()) as (screen, _):
        assert len(screen.list.view) == 6


async def test_enter_unfolds_a_server_and_a_jump_unfolds_an_entry() -> None:
    recorded = Recorded()
    for server in ("weather", "notes"):
        for method in ("initialize", "tools/list"):
            recorded.call("", method=method, source=server)
    async with opened(recorded.recording()) as (screen, pilot):
        await until(lambda: len(screen.list.view) == 2)
        await press(pilot, "enter")
        await until(lambda: len(screen.list.view) == 5)
        assert not screen.entry.display
        assert screen.list.select(3) and screen.list.selected == 3
        assert len(screen.list.view) == 6


async def test_enter_on_a_failed_entry_opens_its_findings_only_if_it_has_some() -> None:
    recorded = Recorded()
    for _ in range(2):
        asked = recorded.add(Kind.REQUEST, {}, method="tools/call", tool="x")
        recorded.add(Kind.ERROR, {}, method="tools/call", tool="x", pair=asked, outcome=Outcome.ERROR)
    recorded.columns.set_severities([(Severity.WARNING, [4])])
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        assert screen.entry.tab is EntryTab.FINDINGS
        await press(pilot, "escape", "home", "enter")
        assert screen.entry.tab is EntryTab.PAIR


async def test_an_event_without_bytes_is_not_copied() -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.list.select(1)
        await pilot.press("c")
        await until(lambda: "This cannot be copied as a command or a script." in told(pilot))
        assert pilot.app.screen is screen
