import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.review.stage import TEXT, failures
from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.files import read_again, texts_of, with_accepted, with_varied, write
from tui.core.errors import ConfigError, UsageError


def test_a_change_is_written_with_the_mode_of_the_file(tmp_path: Path):
    path = tmp_path / "a.mcp.toml"
    path.write_text("a\r\n", newline="")
    path.chmod(0o640)
    assert texts_of([path]) == {path: "a\r\n"}
    write(path, "a\r\n", "b\r\n")
    assert path.read_bytes() == b"b\r\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path):
    path = tmp_path / "a.mcp.toml"
    path.write_text("mine")
    with pytest.raises(UsageError, match="changed by another program, so nothing was written"):
        write(path, "a", "b")
    assert path.read_text() == "mine"


def test_a_file_that_is_gone_or_cannot_be_written_is_a_sentence(tmp_path: Path):
    path = tmp_path / "gone.mcp.toml"
    with pytest.raises(UsageError, match=r"gone\.mcp\.toml cannot be read"):
        texts_of([path])
    if os.geteuid():  # root may write anywhere
        path.write_text("a")
        tmp_path.chmod(0o500)
        with pytest.raises(UsageError, match="cannot be written"):
            write(path, "a", "b")
        tmp_path.chmod(0o700)


def test_a_failure_without_a_response_is_a_sentence(tmp_path: Path):
    failure = replace(failures(tmp_path / "a.mcp.toml")[1], response=None)
    for edit in (
        lambda: with_accepted(TEXT, failure),
        lambda: with_varied(TEXT, failure, Part(("text",))),
    ):
        with pytest.raises(UsageError, match="no response"):
            edit()


def test_a_file_that_is_not_valid_any_more_is_a_sentence(tmp_path: Path):
    failure = failures(tmp_path / "a.mcp.toml")[1]
    with pytest.raises(UsageError, match=r"a\.mcp\.toml cannot be changed"):
        with_accepted(TEXT.replace("[server]", "[server"), failure)
    with pytest.raises(ConfigError):
        read_again("[server", failure)
