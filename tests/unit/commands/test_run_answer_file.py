"""The answer is written to the named file of any type. Problems are reported before the run."""

import os
import stat
from pathlib import Path

import pytest

from tui.commands.run import AnswerFile
from tui.core.errors import UsageError


def test_a_symlink_is_followed_and_no_temporary_file_is_left(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "answer.md")
    AnswerFile(str(tmp_path / "link")).write("Yes.")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "answer.md").read_text() == "Yes.\n"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_answer_can_be_written_to_a_fifo(tmp_path: Path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    handle = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        AnswerFile(str(fifo)).write("Yes.")
        assert os.read(handle, 100) == b"Yes.\n" and fifo.is_fifo()
    finally:
        os.close(handle)


def test_the_file_has_the_default_permissions_of_new_files(tmp_path: Path):
    before = os.umask(0o027)
    try:
        AnswerFile(str(tmp_path / "answer.md")).write("Yes.")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "answer.md").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Is a directory"),
        ("no/answer.md", "No such file or directory"),
        ("n" * 256, "File name too long"),
        ("loop", "Too many levels of symbolic links"),
        ("lost", "No such file or directory"),
    ],
)
def test_an_unwritable_path_is_refused_before_the_run(tmp_path: Path, name: str, why: str):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("no/answer.md")
    with pytest.raises(UsageError, match=f"cannot write the answer: {why}"):
        AnswerFile(str(tmp_path / name))
