"""Files that a user asks for are complete or not there."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.core.errors import StorageError
from tui.storage.files.private_file import write_whole


def test_a_file_is_written_completely_and_is_private(tmp_path: Path):
    target = tmp_path / "out.jsonl"
    write_whole(target, ["a\n", "b\n"])
    assert target.read_bytes() == b"a\nb\n"
    assert target.stat().st_mode & 0o777 == 0o600


def test_an_existing_file_survives_a_failed_export(tmp_path: Path):
    target = tmp_path / "out.jsonl"
    target.write_text("before")

    def failing() -> Iterator[str]:
        yield "half"
        raise OSError(28, os.strerror(28))

    for name, new in (("out.jsonl", False), ("other.jsonl", True)):
        with pytest.raises(StorageError, match="cannot write the file"):
            write_whole(tmp_path / name, failing(), new=new)
    with pytest.raises(StorageError, match="File exists"):
        write_whole(target, ["after"], new=True)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
