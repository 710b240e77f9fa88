"""Checking a path before anything is written."""

import os
from pathlib import Path

import pytest

from tui.ui.widgets.files import _write_new, path_problem, typed_path


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
        ("no/new", "No such directory", "No such directory"),
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
    assert path_problem(text).startswith(for_new) and bool(path_problem(text)) is bool(for_new)
    assert path_problem(text, new=False).startswith(for_any)
    assert bool(path_problem(text, new=False)) is bool(for_any)


def test_an_empty_path_is_accepted():
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
