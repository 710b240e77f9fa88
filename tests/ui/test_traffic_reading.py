"""The open entry: its tabs, searching and copying in it."""

import json
from threading import Event

import pytest

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import press, shown
from tests.ui.test_traffic import opened
from tests.ui.traffic_stage import Recorded, some
from tui.core.search.readings import places
from tui.core.traffic import Finding, Kind, Severity
from tui.ui.traffic.bars import EntryTab
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.widgets import page as page_module


def page(screen: TrafficScreen, number: int = 0) -> str:
    return "\n".join(shown(screen.entry.pages[number]))


async def test_an_entry_is_opened_its_values_and_paths_are_copied_and_escape_returns_to_the_list() -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.list.select(2)
        await press(pilot, "enter")
        await until(lambda: 'location  "Beijing"' in page(screen))
        await press(pilot, "G", "y")
        assert pilot.app.clipboard == "Beijing"
        await press(pilot, "Y")
        assert pilot.app.clipboard == "params.arguments.location"
        await press(pilot, "escape")
        assert not screen.entry.display
        assert screen.list.has_focus


async def test_a_finding_without_a_stored_sentence_shows_one() -> None:
    recorded = some()
    recorded.findings.append(Finding(3, "unknown-id", Severity.ERROR, "", "basic", "weather", "", 9, (1, 2)))
    recorded.columns.set_severities([(Severity.ERROR, [3])])
    async with opened(recorded.recording()) as (screen, pilot):
        screen.list.select(3)
        await press(pilot, "enter")
        await until(lambda: screen.entry.loaded)
        screen.entry.show_tab(EntryTab.FINDINGS)
        await until(lambda: "The same finding as in #1, #2." in page(screen))


async def test_a_search_in_an_entry_unfolds_its_match() -> None:
    recorded = Recorded()
    recorded.add(Kind.RESPONSE, {"result": {"rows": [{"n": n} for n in range(300)] + [{"n": "needle"}]}})
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: screen.entry.loaded)
        await press(pilot, "slash", *"needle", "enter")
        await until(lambda: 'n  "needle"' in page(screen))
        reading = screen.entry.pages[0]
        await until(lambda: not reading.busy)
        assert reading.sheet.path(reading.cursor) == "result.rows[300].n"


async def test_a_search_in_an_entry_finds_escaped_text() -> None:
    recorded = Recorded()
    recorded.add(Kind.RESPONSE, rb'{"result":{"first":1,"name":"Caf\u00c9","said":"say \"hi\""}}')
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: screen.entry.loaded)
        reading = screen.entry.pages[0]
        for text, found in (("café", "result.name"), ('say "hi"', "result.said")):
            screen.entry._search(text)
            await until(lambda found=found: reading.sheet.path(reading.cursor) == found, what=found)
            row = reading.row(reading.cursor)
            assert any("selected" in style for _, style in row)


async def test_the_response_is_shown_as_soon_as_it_is_recorded() -> None:
    recorded = Recorded()
    recorded.add(Kind.REQUEST, {"id": 1}, method="tools/call", ident="1", root=1)
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: screen.entry.loaded)
        recorded.add(Kind.RESPONSE, {"result": "late"}, method="tools/call", ident="1", pair=1, root=1)
        await until(lambda: "late" in page(screen, 1))


@pytest.mark.parametrize("then", ["another search", "leave"])
async def test_another_search_or_closing_the_screen_stops_a_search(
    monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    begun, ended = Event(), Event()

    def endless(data: bytes, text: str, stop: Event) -> list[int]:
        if text != "endless":
            return places(data, text, stop)
        begun.set()
        if stop.wait(20):
            ended.set()
        return []

    monkeypatch.setattr(page_module, "places", endless)
    monkeypatch.setattr(page_module, "AT_ONCE", 0)
    recorded = Recorded()
    recorded.add(Kind.RESPONSE, {"result": {"rows": [{"n": n} for n in range(30)] + [{"n": "needle"}]}})
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        await until(lambda: screen.entry.loaded)
        screen.entry._search("endless")
        await until(begun.is_set)
        if then == "another search":
            screen.entry._search("needle")
            page_read = screen.entry.pages[0]
            await until(lambda: page_read.sheet.path(page_read.cursor) == "result.rows[30].n")
        else:
            screen.dismiss(None)
        await until(ended.is_set)
    assert not pilot.app._notifications


async def test_keys_work_while_a_large_body_is_read() -> None:
    recorded = Recorded()
    body = json.dumps({"rows": [{"id": n, "text": "x" * 80} for n in range(60_000)]}).encode()
    recorded.add(Kind.NOTIFICATION, {}, method="small")
    recorded.add(Kind.RESPONSE, body)
    async with opened(recorded.recording()) as (screen, pilot):
        await press(pilot, "enter")
        await press(pilot, "escape", "up")
        assert screen.list.selected == 1
        await press(pilot, "down", "enter")
        await until(lambda: "rows" in page(screen))


async def test_a_streamed_model_reply_is_shown_joined() -> None:
    chunks = [{"choices": [{"delta": {"content": word}}]} for word in ("It ", "rains.")]
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    recorded = Recorded()
    seq = recorded.add(Kind.MODEL_REPLY, body, source="model:m")
    async with opened(recorded.recording()) as (screen, pilot):
        screen.list.select(seq)
        await press(pilot, "enter")
        await until(lambda: 'text  "It rains."' in page(screen), what=page(screen))


async def test_a_wide_terminal_shows_a_preview_of_the_selected_entry_until_it_is_opened() -> None:
    async with opened(some().recording(), (160, 30)) as (screen, pilot):
        assert screen.list.columns < 130
        screen.list.select(3)
        await until(lambda: "25 °C" in screen_text(pilot.app))
        assert screen.focused is screen.list
        await press(pilot, "enter")
        await until(lambda: screen.list.columns > 150)
        assert not screen.preview.pane.region.width
        await press(pilot, "escape")
        await until(lambda: screen.list.columns < 130)
        screen.list.select(5)
        await until(lambda: "412 ms" in "\n".join(shown(screen.preview.pane)))
