"""Filter, search, notes, saved filters, statistics and turns."""

import threading

from tests.conftest import until
from tests.ui.stage import press, shown
from tests.ui.test_traffic import numbered, opened
from tests.ui.traffic_stage import some
from tui.core.errors import ConfigError
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Cause
from tui.traffic.record.open_recording import Annotations
from tui.ui.traffic.screen import TrafficScreen


def line(screen: TrafficScreen) -> str:
    return screen.filter_line.render_line(0).text


async def test_tab_completes_a_word() -> None:
    async with opened(some().recording()) as (screen, pilot):
        await press(pilot, "slash", *"serv", "tab")
        assert screen.filter_bar._input.value == "server:"
        await press(pilot, *"no", "tab", "enter")
        assert screen.filter_bar._input.value == "server:notes"


async def test_an_invalid_filter_shows_its_error_and_changes_nothing() -> None:
    async with opened(some().recording()) as (screen, pilot):
        await press(pilot, "slash", *"size:much", "enter")
        assert screen.filter_bar.display
        assert "✗" in screen.filter_bar._problem.render_line(0).text
        await press(pilot, "escape")
        assert not screen.filter_bar.display
        assert len(screen.list.view) == 11


async def test_a_filter_matches_bodies() -> None:
    async with opened(some().recording()) as (screen, pilot):
        await press(pilot, "slash", *"body:connecting", "enter")
        await until(lambda: len(screen.list.view) == 1)


async def test_a_search_goes_from_match_to_match() -> None:
    async with opened(numbered(200).recording()) as (screen, pilot):
        await press(pilot, "home", "ctrl+f", *"n15", "enter")
        await until(lambda: screen.list.selected == 16)
        await press(pilot, "n")
        await until(lambda: screen.list.selected == 151)
        assert "of 11 found" in line(screen)
        await press(pilot, "N")
        await until(lambda: screen.list.selected == 16)


async def test_a_filter_is_saved_under_a_name_and_selected() -> None:
    kept: list[tuple[str, str]] = []
    recording = some().recording(annotations=Annotations(keep_filter=lambda *kept_as: kept.append(kept_as)))
    async with opened(recording) as (screen, pilot):
        await press(pilot, "slash", *"status:tool_error", "enter", "f", "enter")
        await press(pilot, *"bad", "enter")
        await until(lambda: kept == [("bad", "status:tool_error")] and "bad" in recording.annotations.filters)
        await press(pilot, "escape", "f", "enter")
        assert screen.active_filter.query.text == "status:tool_error"


async def test_an_error_while_saving_a_filter_is_shown_and_the_name_is_kept() -> None:
    saved: list[str] = []

    def save(name: str, text: str) -> None:
        saved.append(name)
        if len(saved) == 1:
            raise ConfigError("is not TOML.", where="filters.toml", next_step="Correct it.")

    recording = some().recording(annotations=Annotations(keep_filter=save))
    async with opened(recording) as (screen, pilot):
        await press(pilot, "slash", *"status:tool_error", "enter", "f", "enter")
        await press(pilot, *"bad", "enter")
        await until(lambda: bool(pilot.app._notifications) and screen.prompt.display)
        assert [(one.title, one.message) for one in pilot.app._notifications] == [
            ("Filter bad not saved", "filters.toml: is not TOML. Correct it.")
        ]
        assert recording.annotations.filters == {} and screen.prompt._input.value == "bad"
        await press(pilot, "enter")
        await until(lambda: recording.annotations.filters == {"bad": "status:tool_error"})


async def test_saving_a_filter_does_not_block_the_screen() -> None:
    go_on = threading.Event()
    recording = some().recording(annotations=Annotations(keep_filter=lambda *_: go_on.wait(10) and None))
    async with opened(recording) as (screen, pilot):
        try:
            await press(pilot, "slash", *"status:tool_error", "enter", "f", "enter")
            await press(pilot, *"bad", "enter", "escape")
            await until(lambda: screen.active_filter.query.text == "")
            assert recording.annotations.filters == {} and not go_on.is_set()
        finally:
            go_on.set()
        await until(lambda: recording.annotations.filters == {"bad": "status:tool_error"})


async def test_a_note_is_saved_and_found() -> None:
    kept: list[tuple[int, str]] = []
    recording = some().recording(
        annotations=Annotations(keep_note=lambda seq, _, text: kept.append((seq, text)))
    )
    async with opened(recording) as (screen, pilot):
        screen.list.select(5)
        await press(pilot, "M", *"ask", "enter")
        assert kept == [(5, "ask")]
        assert "✎" in shown(screen.list)[4]
        await press(pilot, "slash", *"note:ask", "enter")
        await until(lambda: len(screen.list.view) == 1)


async def test_a_secret_in_a_note_is_neither_shown_nor_kept() -> None:
    kept: list[tuple[int, str]] = []
    redactor = Redactor({"API_KEY": "hunter2x5f0c9a3e"})
    recording = some().recording(
        annotations=Annotations(
            keep_note=lambda seq, _, text: kept.append((seq, text)), redact=lambda text: redactor.redact(text)
        )
    )
    async with opened(recording) as (screen, pilot):
        screen.list.select(5)
        await press(pilot, "M", *"with hunter2x5f0c9a3e", "enter")
        assert kept == [(5, "with [redacted:API_KEY]")] and recording.annotations.notes == dict(kept)


async def test_a_key_opens_the_turn_of_an_entry() -> None:
    async with opened(some().recording()) as (screen, pilot):
        got: list[Cause | None] = []
        screen.dismiss = got.append  # type: ignore[method-assign,assignment]
        screen.list.select(4)
        await press(pilot, "g")
        await until(lambda: got == [Cause(1, 2)])
        del screen.dismiss


async def test_a_line_in_the_statistics_filters_its_entries() -> None:
    async with opened(some().recording()) as (screen, pilot):
        await press(pilot, "S", "enter")
        await until(lambda: pilot.app.screen is screen)
        assert screen.active_filter.query.text == "server:notes"


async def test_a_bar_of_the_waterfall_filters_its_entries() -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.list.select(2)
        await press(pilot, "w")
        lanes = pilot.app.screen.query_one("#lanes")
        await until(lambda: "get_weather" in "".join(shown(lanes)))  # type: ignore[arg-type]
        await press(pilot, "enter")
        await until(lambda: len(screen.list.view) == 2)
