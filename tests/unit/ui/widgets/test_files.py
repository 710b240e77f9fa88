"""Checking a path before anything is written, and opening a file with the system's program."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tui.ui.widgets import files
from tui.ui.widgets.files import _write_new, open_file, opener, path_problem, typed_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("new")
    (tmp_path / "lost").symlink_to("no/new")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "for_new", "for_any"),
    [
        ("new", "", ""),
        ("n" * 255, "", ""),
        ("n" * 256, "File name too long", "File name too long"),
        ("", "Is a directory", "Is a directory"),
        ("folder", "Is a directory", "Is a directory"),
        ("no/new", "No such directory: {}/no", "No such directory: {}/no"),
        ("file/new", "Not a directory", "Not a directory"),
        ("file", "File exists", ""),
        ("link", "File exists", ""),
        ("fifo", "File exists", ""),
        ("dangling", "File exists", ""),
        ("lost", "File exists", "No such directory"),
        ("loop", "File exists", "Too many levels of symbolic links"),
        ("nu\0ll", "Contains a null character", "Contains a null character"),
    ],
)
def test_a_path_is_checked_against_the_file_system(folder: Path, name: str, for_new: str, for_any: str):
    text = f" {folder}/{name} " if name else str(folder)
    assert path_problem(text).startswith(for_new.format(folder)) and bool(path_problem(text)) is bool(for_new)
    assert path_problem(text, new=False).startswith(for_any.format(folder))
    assert bool(path_problem(text, new=False)) is bool(for_any)
    assert path_problem("  ") == ""


def test_a_tilde_with_an_unknown_user_is_a_plain_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert typed_path("~nobody-of-this-name/x") == Path("~nobody-of-this-name/x")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert typed_path(" ~/x ") == tmp_path / "x"


@pytest.mark.parametrize("mask", [0, 0o777])
def test_a_saved_file_is_private_for_any_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        _write_new(tmp_path / "saved", b"data")
    finally:
        os.umask(before)
    assert (tmp_path / "saved").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        _write_new(tmp_path / "saved", b"other")


class Notified:
    """Replaces the app and records its notifications."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def notify(self, message: str, **_: Any) -> None:
        self.told.append(message)


@pytest.mark.parametrize(
    ("platform", "program"), [("linux", "xdg-open"), ("darwin", "open"), ("win32", "explorer.exe")]
)
def test_each_system_has_its_opener_and_the_file_is_never_an_option(platform: str, program: str):
    command = opener(Path("--help"), platform)
    assert command[0] == program and Path(command[1]).is_absolute()


@pytest.fixture
def open_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    return lambda *command: monkeypatch.setattr(files, "opener", lambda path: command)


async def test_the_opener_gets_the_file_as_one_argument(tmp_path: Path, open_with: Callable[..., None]):
    file, app = tmp_path / "a b; rm -rf $HOME.txt", Notified()
    seen = tmp_path / "seen"
    code = f"import sys, pathlib; pathlib.Path({str(seen)!r}).write_text(sys.argv[1])"
    open_with(sys.executable, "-c", code, str(file))
    await open_file(app, file)  # type: ignore[arg-type]
    await until(seen.exists)
    assert seen.read_text() == str(file) and app.told == []


async def test_an_opener_that_is_missing_or_fails_is_reported(tmp_path: Path, open_with: Callable[..., None]):
    app = Notified()
    open_with("no-such-opener", "x")
    await open_file(app, tmp_path / "a.png")  # type: ignore[arg-type]
    assert "Cannot start no-such-opener: " in app.told[0] and str(tmp_path / "a.png") in app.told[0]
    open_with(sys.executable, "-c", "raise SystemExit(3)")
    await open_file(app, tmp_path / "a.odd")  # type: ignore[arg-type]
    assert "found no program for a.odd" in app.told[1]
