"""Exports from the traffic screen: which entries, the format, the file."""

import json
import os
import select
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, chdir
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import press
from tests.ui.test_traffic import numbered, opened, told
from tests.ui.test_traffic_bursts import burst
from tests.ui.traffic_stage import Recorded, some
from tests.unit.traffic.small_traffic import begun_at_end, fill
from tui.core.traffic import Kind
from tui.ui.dialogs.export_dialogs import ExportDialog
from tui.ui.forms.share_review import ShareReview
from tui.ui.traffic import export
from tui.ui.traffic.screen import TrafficScreen


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def seqs(path: Path) -> list[object]:
    return [line["seq"] for line in lines(path)]


class Exporting:
    """The traffic screen of a recording, which exports to a folder."""

    def __init__(self, screen: TrafficScreen, pilot: Pilot[None], folder: Path) -> None:
        self.screen, self.pilot, self._folder = screen, pilot, folder

    @property
    def dialog(self) -> ExportDialog:
        assert isinstance(self.pilot.app.screen, ExportDialog)
        return self.pilot.app.screen

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    async def chosen(self, *keys: str) -> Path:
        """Press keys in the dialogs, then enter for the suggested name; return the file."""
        await self.press("x", *keys)
        assert self.dialog.field.has_focus
        await self.press("enter")
        return await self.written()

    async def written(self) -> Path:
        def files() -> list[Path]:
            return [one for one in self._folder.iterdir() if one.name[0] != "." and one.stat().st_size]

        await until(lambda: files() and not self.screen.exporter.note, what=self.screen.exporter.note)
        return files()[0]

    async def named(self, path: Path) -> None:
        """Choose all entries as JSON Lines, and a path."""
        await self.press("x", "enter")
        self.dialog.field.value = str(path)
        await self.press("enter")

    async def confirmed(self, path: Path, words: str = "Press enter to write to it") -> None:
        """Choose a path that must be confirmed, and confirm it."""
        await self.named(path)
        await until(lambda: words in screen_text(self.pilot.app))
        await self.press("enter")


@asynccontextmanager
async def exporting(
    recorded: Recorded, folder: Path, live: bool = True, size: tuple[int, int] = (120, 30)
) -> AsyncIterator[Exporting]:
    async with opened(recorded.recording(live=live), size) as (screen, pilot):
        with chdir(folder):
            yield Exporting(screen, pilot, folder)


async def test_filtered_entries_are_exported_as_json_lines(tmp_path: Path) -> None:
    async with exporting(some(), tmp_path) as export:
        await export.press("slash", *"server:notes", "enter")
        await until(lambda: len(export.screen.list.view) == 4)
        path = await export.chosen("enter")
    assert (path.suffix, seqs(path)) == (".jsonl", [4, 5, 6, 7])


async def test_entries_loaded_after_the_prompt_are_not_exported(tmp_path: Path) -> None:
    recorded = Recorded()
    for _ in range(8):
        recorded.call()
    recorded.columns = begun_at_end(recorded, 4)
    async with exporting(recorded, tmp_path, live=False) as export:
        await export.press("slash", *"kind:request", "enter")
        await until(lambda: len(export.screen.list.view) == 2)
        await export.press("x")
        await until(lambda: "matches so far, 25 % done: 2 entries" in screen_text(export.pilot.app))
        fill(recorded.columns, recorded, 12)
        await until(lambda: len(export.screen.list.view) == 8)
        await export.press("enter", "enter")
        assert seqs(await export.written()) == [13, 15]


async def test_a_list_of_calls_is_exported_as_listed_or_with_all_entries(tmp_path: Path) -> None:
    async with exporting(some(), tmp_path) as export:
        await export.press("6")
        await until(lambda: len(export.screen.list.view) == 3)
        await export.press("x")
        await until(lambda: "all: 11 entries" in screen_text(export.pilot.app))
        assert "shown, calls only: 3 entries" in screen_text(export.pilot.app)
        await export.press("enter", "enter")
        assert seqs(await export.written()) == [2, 4, 9]


async def reviewed(export: Exporting) -> ShareReview:
    """Return the review of a page, once its parts are counted."""
    await until(lambda: isinstance(export.pilot.app.screen, ShareReview))
    await until(lambda: "● messages" in screen_text(export.pilot.app))
    screen = export.pilot.app.screen
    assert isinstance(screen, ShareReview)
    return screen


async def test_a_call_is_exported_as_html_after_a_review(tmp_path: Path) -> None:
    async with exporting(some(), tmp_path) as export:
        export.screen.list.select(5)
        await export.press("x", "j", "enter", "tab", "tab", "enter")
        await reviewed(export)
        assert all(one in screen_text(export.pilot.app) for one in ("2 entries", "from the server “notes”"))
        assert not os.listdir(tmp_path)
        await export.press("ctrl+s")
        page = (await export.written()).read_text()
    assert (page.count('<details class="row"'), page.count(" ms</span>")) == (2, 2)


async def test_a_part_that_is_switched_off_in_the_review_is_not_in_the_page(tmp_path: Path) -> None:
    recorded = some()
    async with exporting(recorded, tmp_path, size=(80, 24)) as export:
        export.screen.list.select(5)
        await export.press("M", *"secret plan", "enter", "x", "down", "down", "enter", "tab", "tab", "enter")
        await reviewed(export)
        await export.press("down", "down", "space")
        await until(lambda: "○ notes" in screen_text(export.pilot.app))
        await export.press("ctrl+s")
        page = (await export.written()).read_text()
    assert "secret plan" not in page and '<details class="row"' in page


async def test_a_review_that_is_cancelled_writes_nothing(tmp_path: Path) -> None:
    async with exporting(some(), tmp_path) as export:
        await export.press("x", "enter", "tab", "tab", "enter")
        await reviewed(export)
        await export.press("escape")
        await until(lambda: export.screen.is_current)
        assert not os.listdir(tmp_path) and not export.screen.exporter.note


async def test_marked_entries_are_exported_in_one_burst(tmp_path: Path) -> None:
    async with exporting(numbered(5), tmp_path) as export:
        burst(export.pilot.app, "mkkmx" + "j\r\r")
        assert seqs(await export.written()) == [3, 5]


@pytest.mark.parametrize("other", [0, 1], ids=["request", "response"])
async def test_a_marked_entry_is_exported_with_its_other_half_and_what_the_user_noted(
    tmp_path: Path, other: int
) -> None:
    recorded = Recorded()
    for _ in range(3):
        recorded.call()
    async with exporting(recorded, tmp_path) as export:
        await export.press("home", *["j"] * (2 + other), "m", "M", *"why so slow", "enter")
        found = lines(await export.chosen("j", "enter"))
    assert [one["kind"] for one in found] == ["request", "response"]
    assert found[1]["pair"] == found[0]["seq"]
    assert [one.get("note", "") for one in found] == ["" if n != other else "why so slow" for n in (0, 1)]
    assert [one.get("marked", False) for one in found] == [n == other for n in (0, 1)]


async def test_an_existing_file_is_replaced_only_after_confirmation(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    async with exporting(numbered(2), tmp_path) as export:
        await export.named(there)
        await until(lambda: "already exists" in screen_text(export.pilot.app))
        await export.press("escape", "escape")
        assert there.read_text() == "mine"
        await export.confirmed(there, "Press enter to replace it")
        await until(lambda: there.read_text() != "mine" and not export.screen.exporter.note)
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
    async with exporting(numbered(2), tmp_path / "folder") as export:
        await export.named(tmp_path / name)
        await until(lambda: problem in screen_text(export.pilot.app))
        field = export.dialog.field
        assert field.has_focus and field.value == str(tmp_path / name)
        await export.press("x")
        await until(lambda: problem not in screen_text(export.pilot.app))
        field.value = str(tmp_path / "folder" / "out.jsonl")
        await export.press("enter")
        assert seqs(await export.written()) == [1, 2]


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A fifo, and a descriptor that reads from it."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, handle
    os.close(handle)


async def test_a_fifo_is_written_to_after_confirmation_and_not_replaced(fifo: tuple[Path, int]) -> None:
    path, handle = fifo
    async with exporting(numbered(2), path.parent) as export:
        await export.confirmed(path)
        await until(lambda: any("written to" in note for note in told(export.pilot)))
    found = os.read(handle, 100_000).splitlines()
    assert [json.loads(line).get("seq") for line in found] == [None, 1, 2] and path.is_fifo()


@pytest.mark.parametrize("leave", ["escape", "ctrl+q"])
async def test_an_export_to_a_fifo_without_a_reader_can_be_cancelled(
    fifo: tuple[Path, int], leave: str
) -> None:
    path, handle = fifo
    async with exporting(numbered(2000), path.parent) as export:
        await export.confirmed(path)
        await until(lambda: select.select([handle], [], [], 0)[0])
        assert export.screen.exporter.note
        if leave == "escape":
            # `press` waits until the app is idle. On a busy machine, the toast is gone by then.
            export.pilot.app.simulate_key("escape")
            await until(lambda: told(export.pilot) == ["Export cancelled."])
            await until(lambda: not export.screen.exporter.note)
            assert export.screen.is_current
        else:
            export.pilot.app.exit()
    await until(lambda: not export.screen.is_running)
    assert not export.screen.exporter.note and path.is_fifo()


@pytest.mark.parametrize(("detail", "contained"), [("url", "1 of 12"), ("cwd", "0 of 12")])
async def test_a_har_file_counts_only_its_entries_at_60x20(tmp_path: Path, detail: str, contained: str):
    recorded = some()
    recorded.add(Kind.REQUEST, detail={detail: "https://a.example/"})
    async with exporting(recorded, tmp_path, size=(60, 20)) as export:
        await export.press("x", "enter", "tab", "tab", "tab")
        await until(lambda: f"HAR contains HTTP only: {contained} entries" in screen_text(export.pilot.app))
        assert all(words in screen_text(export.pilot.app) for words in ("● HAR (HTTP only)", "esc cancel"))
        await export.press("enter")
        assert (await export.written()).suffix == ".har"
        (said,) = told(export.pilot)
    assert said.startswith(f"{contained[0]} entr") and "missing" not in said


async def test_entries_dropped_during_an_export_are_counted(tmp_path: Path) -> None:
    recorded = numbered(5)
    async with exporting(recorded, tmp_path) as export:
        recorded.dropped = 2
        await export.chosen("enter")
        (said,) = told(export.pilot)
    assert said.startswith("3 entries, ")
    assert said.endswith("2 entries missing (dropped from the recording)")


async def test_closing_the_screen_cancels_an_export_and_removes_its_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(export, "SLICE_SECONDS", 0)
    monkeypatch.setattr(export, "REST_SECONDS", 50)
    async with exporting(numbered(2), tmp_path) as exported:
        await exported.press("x", "enter", "enter")
        await until(lambda: exported.screen.exporter.note == "exporting 0 %")
        exported.screen.dismiss(None)
        await until(lambda: not exported.screen.is_attached)
    assert os.listdir(tmp_path) == []


async def test_an_export_first_shows_its_servers_and_shift_tab_redacts_values(tmp_path: Path) -> None:
    async with exporting(some(), tmp_path, size=(80, 24)) as export:
        await export.press("x", "enter")
        names = ("“notes”", "“slow”", "“weather”")
        await until(lambda: all(name in screen_text(export.pilot.app) for name in names))
        await export.press("shift+tab")
        assert "● redact   On: texts become" in screen_text(export.pilot.app)
        await export.press("enter")
        assert "<text, " in (await export.written()).read_text()
