"""Names of foreign files, and folders that are written whole or not at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.storage.files.archives import collision, name_fault, new_folder


@each_case(
    "name",
    [
        *("", "/etc/passwd", "../x", "a/../x", "a//b", "./a", "a/.", "C:/x", "c:x", "a\\b", "a\0b", "a\nb"),
        *("a\u202eb", "x" * 256, "é" * 128, "/".join(["x" * 200] * 6)),
    ],
)
def test_a_name_that_leaves_its_folder_or_cannot_be_shown_is_refused(name: str):
    assert name_fault(name) != ""


@each_case("name", ["a", "a/b.md", "a b", "..a", "é", "CON", "aux.js", "a.", ".git/x"])
def test_an_ordinary_name_is_accepted(name: str):
    assert name_fault(name) == ""


@each_case(
    "name",
    [
        *("CON", "con.txt", "a/aux.js", "LPT1", "com¹.x", "nul", "CONIN$", "a.", "a ", "a /b", "a:b/c"),
        *("x/a:b", "a<b", "a|b", "a?", "a*", 'a"', ".git", ".GIT/config", "a/.git/hooks/x"),
    ],
)
def test_a_portable_name_is_none_that_a_system_reserves(name: str):
    assert name_fault(name, portable=True) != ""


@each_case(
    "names",
    [["a", "A"], ["a", "a"], ["a", "a/b"], ["a/b", "A/c"], ["é", "e\u0301"], ["straße", "STRASSE"]],
)
def test_two_names_that_may_be_one_file_collide(names: list[str]):
    assert "would overwrite each other" in collision((name, False) for name in names)


def test_different_names_do_not_collide():
    assert collision([("a", True), ("a/b", False), ("a/c", False), ("d", False)]) == ""


@given(st.lists(st.text(min_size=1, max_size=20), max_size=6))
def test_accepted_names_are_written_inside_the_folder(names: list[str]):
    for name in names:
        if not name_fault(name):
            parts = Path("/base").joinpath(*name.removesuffix("/").split("/")).parts
            assert parts[:2] == ("/", "base") and ".." not in parts


def test_a_folder_appears_only_when_it_is_complete(tmp_path: Path):
    with new_folder(tmp_path / "out" / "it") as fresh:
        (fresh / "file").write_text("x")
        assert not (tmp_path / "out" / "it").exists()
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["it", "file"]


@pytest.mark.parametrize("existing", [True, False])
def test_a_failure_leaves_everything_unchanged(tmp_path: Path, existing: bool):
    folder = tmp_path / "it"
    if existing:
        folder.mkdir()
        (folder / "old").write_text("old")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError, match="full"), new_folder(folder) as fresh:
        (fresh / "new").write_text("x")
        raise OSError("full")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_older_folder_is_replaced_as_a_whole(tmp_path: Path):
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "old").write_text("old")
    with new_folder(tmp_path / "it") as fresh:
        (fresh / "new").write_text("new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["it", "new"]


def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_text("mine")
    (tmp_path / "it").symlink_to(tmp_path / "elsewhere")
    with new_folder(tmp_path / "it") as fresh:
        (fresh / "new").write_text("new")
    assert (tmp_path / "elsewhere" / "mine").read_text() == "mine"
    assert not (tmp_path / "it").is_symlink() and (tmp_path / "it" / "new").exists()
