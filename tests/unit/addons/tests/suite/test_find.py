"""Finding suites by the names of files and folders."""

import os
from pathlib import Path

import pytest

from tui.addons.tests.suite import find
from tui.addons.tests.suite.find import found
from tui.core.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "b.mcp.toml",
        "a.mcp.toml",
        "below/c.mcp.toml",
        "other.toml",
        "node_modules/x.mcp.toml",
        ".venv/x.mcp.toml",
        ".git/x.mcp.toml",
        ".hidden/x.mcp.toml",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*given: str) -> list[str]:
    return [path.as_posix() for path in found(given)]


def test_without_names_every_suite_below_the_current_folder_is_found():
    assert names() == ["a.mcp.toml", "b.mcp.toml", "below/c.mcp.toml"]


def test_a_named_folder_is_searched():
    assert names("below") == ["below/c.mcp.toml"]


def test_a_named_file_may_have_any_name():
    assert names("other.toml") == ["other.toml"]


def test_files_keep_their_order_and_are_found_once():
    assert names("b.mcp.toml", ".", "./b.mcp.toml") == ["b.mcp.toml", "a.mcp.toml", "below/c.mcp.toml"]


def test_a_hidden_folder_that_is_named_is_searched():
    assert names(".hidden") == [".hidden/x.mcp.toml"]


def test_a_link_to_a_folder_above_is_not_followed(folder: Path):
    os.symlink(folder, folder / "below" / "loop")
    assert names("below") == ["below/c.mcp.toml"]


def test_a_missing_name_is_an_error():
    with pytest.raises(UsageError, match=r"nowhere does not exist\. Name a suite"):
        found(["nowhere"])


@pytest.mark.parametrize("target", ["nowhere", "link.mcp.toml"])
def test_a_link_that_leads_nowhere_or_to_itself_is_an_error(folder: Path, target: str):
    os.symlink(target, folder / "link.mcp.toml")
    with pytest.raises(UsageError, match="is a symbolic link that leads to no file"):
        found([str(folder / "link.mcp.toml")])


def test_a_name_with_a_null_character_is_an_error():
    with pytest.raises(UsageError):
        found(["a\0b"])


def test_too_many_folders_are_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(find, "MAX_FOLDERS", 1)
    with pytest.raises(UsageError, match="more than 1 folders"):
        found([])
