"""Reading files and state files."""

import os
from pathlib import Path

import pytest

from tui.settings.files import Unreadable, read_bounded


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert read_bounded(path) == "x = 1\r\n"


def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_not(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)
    assert read_bounded(path, 10) == "x" * 10
    with pytest.raises(Unreadable, match="is larger than"):
        read_bounded(path, 9)


def test_a_missing_file_differs_from_an_unreadable_one(tmp_path: Path):
    (tmp_path / "file").touch()
    for missing in ("nothing", "no folder/nothing", "file/nothing"):
        with pytest.raises(FileNotFoundError):
            read_bounded(tmp_path / missing)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_anything_but_a_regular_file_is_refused_without_leaking_a_descriptor(tmp_path: Path, make):
    make(tmp_path / "a")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        with pytest.raises(Unreadable):
            read_bounded(tmp_path / "a")
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_a_device_is_refused():
    with pytest.raises(Unreadable, match="not a regular file"):
        read_bounded(Path("/dev/zero"))


def test_a_path_with_a_null_byte_is_refused():
    with pytest.raises(Unreadable):
        read_bounded(Path("a\0b"))
