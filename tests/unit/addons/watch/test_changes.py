"""Changes of files as editors make them: each save causes one."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import until
from tui.addons.watch.changes import SAME_SECONDS, SeenFiles, changes, watch_library


@asynccontextmanager
async def watching(
    folder: Path, *, is_used: Callable[[], bool] = lambda: True
) -> AsyncIterator[list[list[str]]]:
    found: list[list[str]] = []

    async def follow() -> None:
        async for files in changes(SeenFiles(["**/*.py"], str(folder)), is_used):
            found.append([os.path.basename(one) for one in files])

    task = asyncio.create_task(follow())
    probe = folder / "ready.py"

    def is_ready() -> bool:
        probe.write_text(str(os.times().elapsed))
        return bool(found)

    await until(is_ready)
    await asyncio.sleep(0.2)
    found.clear()
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.wait((task,))


def replaced(path: Path) -> None:
    copy = path.with_name("copy~")
    copy.write_text("x = 2")
    os.replace(copy, path)


def moved_away(path: Path) -> None:
    path.rename(path.with_name("backup~"))
    path.write_text("x = 2")


def written_twice(path: Path) -> None:
    path.write_text("x = 2")
    path.write_text("x = 2")


@pytest.mark.parametrize("save", [replaced, moved_away, written_twice])
async def test_a_save_is_one_change(tmp_path: Path, save: Callable[[Path], None]):
    path = tmp_path / "server.py"
    path.write_text("x = 1")
    async with watching(tmp_path) as found:
        save(path)
        await until(lambda: bool(found))
        await asyncio.sleep(0.2)
        assert found == [["server.py"]]


async def test_a_file_in_a_new_folder_is_watched(tmp_path: Path):
    async with watching(tmp_path) as found:
        (tmp_path / "package").mkdir()
        path = tmp_path / "package" / "tool.py"

        def is_seen() -> bool:
            path.write_text(str(os.times().elapsed))
            return ["tool.py"] in found

        await until(is_seen)


async def test_a_save_before_the_library_watches_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "server.py"
    path.write_text("x = 1")
    imported = watch_library

    def saved_first() -> object:
        path.write_text("x = 22")
        return imported()

    monkeypatch.setattr("tui.addons.watch.changes.watch_library", saved_first)
    async with (
        aclosing(changes(SeenFiles(["*.py"], str(tmp_path)), lambda: True)) as found,
        asyncio.timeout(10),
    ):
        assert await anext(found) == [str(path)]


def test_the_same_content_counts_again_only_if_it_was_not_used_or_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, now = tmp_path / "server.py", [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    seen = SeenFiles(["*.py"], str(tmp_path))

    def saved(*, is_used: bool) -> list[str]:
        path.write_text("x = 1")
        os.utime(path, ns=(0, next(times)))
        return seen.changed([str(path), str(tmp_path / "a.txt")], is_used=is_used)

    times = itertools.count(1)
    assert saved(is_used=True) == [str(path)]
    assert saved(is_used=True) == []
    assert saved(is_used=False) == [str(path)]
    now[0] += SAME_SECONDS + 1
    assert saved(is_used=True) == [str(path)]


def test_a_version_of_a_file_counts_once(tmp_path: Path):
    path = tmp_path / "server.py"
    path.write_text("x = 1")
    seen = SeenFiles(["*.py"], str(tmp_path))
    assert (seen.missed(), seen.changed([str(path)], is_used=False)) == ([], [])
    path.write_text("x = 22")
    assert seen.missed() == [str(path)]
    assert seen.changed(seen.missed(), is_used=False) == [str(path)]
    assert (seen.missed(), seen.changed([str(path)], is_used=False)) == ([], [])


def test_patterns_without_a_file_are_known(tmp_path: Path):
    (tmp_path / "a.py").touch()
    assert [SeenFiles([one], str(tmp_path)).is_empty for one in ("*.py", "*.zz")] == [False, True]
