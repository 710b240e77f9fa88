"""Exports from the traffic screen: which entries, the format, the file."""

import json
import os
import select
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import press
from tests.ui.test_traffic import numbered, opened
from tests.ui.test_traffic_bursts import burst
from tests.ui.traffic_stage import Recorded, some
from tests.unit.traffic.small_traffic import begun_at_end, fill
from tui.ui.dialogs.confirm import Confirm
from tui.ui.traffic import export
from tui.ui.traffic.screen import TrafficScreen


def seqs(path: Path) -> list[int]:
    return [json.loads(line)["seq"] for line in path.read_text().splitlines()[1:]]


def only(folder: Path) -> Path | None:
    found = [path for path in folder.iterdir() if not path.name.startswith(".") and path.stat().st_size]
    return found[0] if found else None


async def chosen(screen: TrafficScreen, pilot, *keys: str) -> None:
    """Press keys, then enter for the suggested name."""
    await press(pilot, "x", *keys)
    assert screen.prompt._input.has_focus
    await press(pilot, "enter")
    await until(lambda: not screen.exporter.note, what=screen.exporter.note)


async def test_filtered_entries_are_exported_as_json_lines(tmp_path: Path) -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await press(pilot, "slash", *"server:notes", "enter")
        await until(lambda: len(screen.list.view) == 4)
        await chosen(screen, pilot, "enter", "enter")
        path = only(tmp_path)
        assert path is not None
        assert path.suffix == ".jsonl"
        assert seqs(path) == [4, 5, 6, 7]


async def test_entries_loaded_after_the_prompt_are_not_exported(tmp_path: Path) -> None:
    recorded = Recorded()
    for _ in range(8):
        recorded.call()
    recorded.columns = begun_at_end(recorded, 4)
    async with opened(recorded.recording(live=False)) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await press(pilot, "slash", *"kind:request", "enter")
        await until(lambda: len(screen.list.view) == 2)
        await press(pilot, "x")
        await until(lambda: "shown so far, 25 % done: 2 entries" in screen_text(pilot.app))
        fill(recorded.columns, recorded, 12)
        await until(lambda: len(screen.list.view) == 8)
        await press(pilot, "enter", "enter", "enter")
        await until(lambda: only(tmp_path) and not screen.exporter.note)
        path = only(tmp_path)
        assert path is not None
        assert seqs(path) == [13, 15]


async def test_a_list_of_calls_is_exported_as_listed_or_with_all_entries(tmp_path: Path) -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await press(pilot, "6")
        await until(lambda: len(screen.list.view) == 3)
        await press(pilot, "x")
        await until(lambda: "all entries: 11" in screen_text(pilot.app))
        assert "as listed, calls only: 3 entries" in screen_text(pilot.app)
        await press(pilot, "enter", "enter", "enter")
        await until(lambda: only(tmp_path) and not screen.exporter.note)
        path = only(tmp_path)
        assert path is not None
        assert seqs(path) == [2, 4, 9]


async def test_a_call_is_exported_as_html(tmp_path: Path) -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        screen.list.select(5)
        await chosen(screen, pilot, "j", "enter", "j", "j", "enter")
        path = only(tmp_path)
        assert path is not None
        assert path.suffix == ".html"
        assert path.read_text().count("<details>") == 2


async def test_marked_entries_are_exported_in_one_burst(tmp_path: Path) -> None:
    async with opened(numbered(5).recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        burst(pilot.app, "mkkmx" + "j\r\r")
        await until(lambda: screen.prompt._input.has_focus)
        burst(pilot.app, "\r")
        await until(lambda: only(tmp_path) and not screen.exporter.note)
        path = only(tmp_path)
        assert path is not None
        assert seqs(path) == [3, 5]


@pytest.mark.parametrize("other", [0, 1], ids=["request", "response"])
async def test_a_marked_entry_is_exported_with_its_other_half_and_what_the_user_noted(
    tmp_path: Path, other: int
) -> None:
    recorded = Recorded()
    for _ in range(3):
        recorded.call()
    async with opened(recorded.recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await press(pilot, "home", *["j"] * (2 + other), "m", "M", *"why so slow", "enter")
        await chosen(screen, pilot, "j", "enter", "enter")
        path = only(tmp_path)
        assert path is not None
        found = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        assert [one["kind"] for one in found] == ["request", "response"]
        assert found[1]["pair"] == found[0]["seq"]
        assert [one.get("note", "") for one in found] == ["" if n != other else "why so slow" for n in (0, 1)]
        assert [one.get("marked", False) for one in found] == [n == other for n in (0, 1)]


async def test_an_existing_file_is_replaced_only_after_confirmation(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    async with opened(numbered(2).recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path

        async def named() -> None:
            await press(pilot, "x", "enter", "enter")
            screen.prompt._input.value = str(there)
            await press(pilot, "enter")
            await until(lambda: isinstance(pilot.app.screen, Confirm))

        await named()
        await press(pilot, "n")
        assert there.read_text() == "mine"
        await named()
        pilot.app.screen._delay._clock = lambda: float("inf")
        await press(pilot, "y")
        await until(lambda: there.read_text() != "mine" and not screen.exporter.note)
        assert seqs(there) == [1, 2]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no/out.jsonl", "No such directory"),
        ("folder", "Is a directory"),
        ("file/out.jsonl", "Not a directory"),
        ("n" * 256, "File name too long"),
    ],
)
async def test_an_unwritable_path_is_kept_in_the_prompt_with_the_error(
    tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    async with opened(numbered(2).recording()) as (screen, pilot):
        await press(pilot, "x", "enter", "enter")
        screen.prompt._input.value = str(tmp_path / name)
        await press(pilot, "enter")
        await until(lambda: problem in screen_text(pilot.app))
        assert screen.prompt._input.has_focus and screen.prompt._input.value == str(tmp_path / name)
        await press(pilot, "x")
        await until(lambda: problem not in screen_text(pilot.app))
        screen.prompt._input.value = str(tmp_path / "folder" / "out.jsonl")
        await press(pilot, "enter")
        await until(lambda: only(tmp_path / "folder") and not screen.exporter.note)
    assert seqs(tmp_path / "folder" / "out.jsonl") == [1, 2]


async def test_a_fifo_is_written_to_after_confirmation_and_not_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    handle = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        async with opened(numbered(2).recording()) as (screen, pilot):
            await press(pilot, "x", "enter", "enter")
            screen.prompt._input.value = str(fifo)
            await press(pilot, "enter")
            await until(lambda: isinstance(pilot.app.screen, Confirm))
            await until(lambda: "y write   esc n cancel" in screen_text(pilot.app))
            pilot.app.screen._delay._clock = lambda: float("inf")
            await press(pilot, "y")
            await until(lambda: any("written to" in note.message for note in pilot.app._notifications))
        lines = os.read(handle, 100_000).splitlines()
        assert [json.loads(line).get("seq") for line in lines] == [None, 1, 2] and fifo.is_fifo()
    finally:
        os.close(handle)


@pytest.mark.parametrize("leave", ["escape", "ctrl+q"])
async def test_an_export_to_a_fifo_without_a_reader_can_be_cancelled(tmp_path: Path, leave: str) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    handle = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        async with opened(numbered(2000).recording()) as (screen, pilot):
            await press(pilot, "x", "enter", "enter")
            screen.prompt._input.value = str(fifo)
            await press(pilot, "enter")
            await until(lambda: isinstance(pilot.app.screen, Confirm))
            pilot.app.screen._delay._clock = lambda: float("inf")
            await press(pilot, "y")
            await until(lambda: select.select([handle], [], [], 0)[0])
            assert screen.exporter.note
            if leave == "escape":
                await press(pilot, "escape")
                await until(lambda: not screen.exporter.note)
                assert [note.message for note in pilot.app._notifications] == ["Export cancelled."]
                assert screen.is_current
            else:
                pilot.app.exit()
        await until(lambda: not screen.is_running)
        assert not screen.exporter.note and fifo.is_fifo()
    finally:
        os.close(handle)


async def test_a_har_file_counts_only_what_it_contains(tmp_path: Path) -> None:
    async with opened(some().recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await chosen(screen, pilot, "enter", "j", "j", "j", "enter")
        path = only(tmp_path)
        said = [note.message for note in pilot.app._notifications]
    assert path is not None and path.suffix == ".har"
    assert len(said) == 1 and said[0].startswith("0 entries, ") and "missing" not in said[0]


async def test_entries_dropped_during_an_export_are_counted(tmp_path: Path) -> None:
    recorded = numbered(5)
    async with opened(recorded.recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        recorded.dropped = 2
        await chosen(screen, pilot, "enter", "enter")
        said = [note.message for note in pilot.app._notifications]
    assert len(said) == 1 and said[0].startswith("3 entries, ")
    assert said[0].endswith("2 entries missing (dropped from the recording)")


async def test_closing_the_screen_cancels_an_export_and_removes_its_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(export, "SLICE_SECONDS", 0)
    monkeypatch.setattr(export, "REST_SECONDS", 50)
    async with opened(numbered(2).recording()) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await press(pilot, "x", "enter", "enter", "enter")
        await until(lambda: screen.exporter.note == "exporting 0 %")
        screen.dismiss(None)
        await until(lambda: not screen.is_attached)
    assert left_in(tmp_path) == []


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_an_export_first_shows_its_servers_and_shift_tab_redacts_values(
    tmp_path: Path,
) -> None:
    async with opened(some().recording(), (80, 24)) as (screen, pilot):
        screen.exporter.folder = lambda: tmp_path
        await press(pilot, "x", "enter")
        await until(lambda: "from the servers “notes" in screen_text(pilot.app))
        await press(pilot, "shift+tab")
        assert "● redact values" in screen_text(pilot.app)
        await press(pilot, "enter")
        assert "export redacted to" in screen_text(pilot.app)
        await press(pilot, "enter")
        await until(lambda: only(tmp_path) and not screen.exporter.note)
        path = only(tmp_path)
        assert path is not None and "<text, " in path.read_text()
