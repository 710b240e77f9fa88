import os
from pathlib import Path

import pytest

from tui.addons.tests.review.decisions import Change, Decision
from tui.addons.tests.review.files import texts_of, write
from tui.core.errors import UsageError


def test_a_change_is_written_with_the_mode_of_the_file(tmp_path: Path):
    path = tmp_path / "a.mcp.toml"
    path.write_text("a\r\n", newline="")
    path.chmod(0o640)
    assert texts_of([path]) == {path: "a\r\n"}
    write(Change(path, "a\r\n", "b\r\n", 0, Decision.ACCEPTED))
    assert path.read_bytes() == b"b\r\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path):
    path = tmp_path / "a.mcp.toml"
    path.write_text("mine")
    with pytest.raises(UsageError, match="changed by another program, so nothing was written"):
        write(Change(path, "a", "b", 0, Decision.ACCEPTED))
    assert path.read_text() == "mine"


def test_a_file_that_is_gone_or_cannot_be_written_is_a_sentence(tmp_path: Path):
    path = tmp_path / "gone.mcp.toml"
    with pytest.raises(UsageError, match=r"gone\.mcp\.toml cannot be read"):
        texts_of([path])
    if os.geteuid():  # root may write anywhere
        path.write_text("a")
        tmp_path.chmod(0o500)
        with pytest.raises(UsageError, match="cannot be written"):
            write(Change(path, "a", "b", 0, Decision.ACCEPTED))
        tmp_path.chmod(0o700)
