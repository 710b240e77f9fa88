"""Local files that can be attached."""

import os
from pathlib import Path

import pytest

from tui.ui.chat.composer.attachments import not_attached
from tui.ui.chat.composer.suggestions import MOST_ENTRIES, LiveSources, files, named, tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "README.md",
        "src/app.py",
        "src/deep/notes.md",
        ".env",
        "node_modules/x/notes.md",
        "a b.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * 10)
    return tmp_path


def names(query: str, folder: Path) -> list[str]:
    return [one.name for one in files(query, folder)]


def test_nothing_written_shows_the_directory_without_what_is_hidden(folder: Path):
    assert names("", folder) == ["node_modules/", "src/", "a b.txt", "README.md"]


def test_a_path_is_followed_into_its_directory(folder: Path):
    assert names("src/", folder) == ["src/deep/", "src/app.py"]
    assert names("src/de", folder) == ["src/deep/"]


def test_a_bare_name_is_found_further_down_but_not_in_what_was_made(folder: Path):
    assert [one.name for one in named("notes", tree(folder))] == ["src/deep/notes.md"]
    assert names("notes", folder) == []


def test_hidden_files_come_when_they_are_asked_for(folder: Path):
    assert names(".", folder) == [".env"]


def test_an_absolute_path_and_one_of_the_home_are_followed(folder: Path, monkeypatch: pytest.MonkeyPatch):
    assert names(f"{folder}/READ", Path("/")) == [f"{folder}/README.md"]
    monkeypatch.setenv("HOME", str(folder))
    assert names("~/READ", Path("/")) == ["~/README.md"]


@pytest.mark.parametrize("query", ["nowhere/", "README.md/", "\0/", "a" * 5000 + "/"])
def test_what_is_not_there_suggests_nothing(folder: Path, query: str):
    assert names(query, folder) == []


def test_a_directory_is_gone_into_and_a_file_is_attached(folder: Path):
    found = {one.name: one for one in files("", folder)}
    assert found["src/"].text == "@src/" and found["src/"].reference is None
    assert found["README.md"].reference is not None and found["README.md"].about == "10 B"


def test_names_are_shown_cleaned_and_meant_as_they_are(tmp_path: Path):
    name = "a\x1b[31mb]c.txt"
    (tmp_path / name).write_text("x")
    (one,) = files("", tmp_path)
    assert one.reference is not None
    assert "\x1b" not in one.name and one.reference.path == name and "]" not in one.reference.name


def test_a_directory_of_any_size_is_looked_at_so_far_only(tmp_path: Path):
    for number in range(MOST_ENTRIES + 50):
        os.mknod(tmp_path / f"{number:05}")
    assert 0 < len(files("", tmp_path)) <= 200


def test_a_link_in_a_circle_ends(tmp_path: Path):
    (tmp_path / "loop").symlink_to(tmp_path)
    assert tree(tmp_path) == []


def test_only_a_file_that_is_there_is_one(folder: Path):
    sources = LiveSources(folder, lambda: None)
    assert sources.names_file("README.md") and sources.names_file("src/app.py")
    assert not any(map(sources.names_file, ("", "src", "nowhere", "\0", "~nobody/x")))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("see @src/nothere.txt", "@src/nothere.txt (file not found)"),
        ("(@src/nothere.txt).", "@src/nothere.txt (file not found)"),
        ("all of @src", "@src (a directory)"),
        ('@"src/no file.txt" please', "@src/no file.txt (file not found)"),
        ("@src/dead", "@src/dead (not a readable file)"),
        ("pasted @src/app.py", "@src/app.py (only the name was pasted: press tab to attach the file)"),
        ("read @one:mem://a now", "@one:mem://a (only the name was typed: press tab to attach the resource)"),
        ("ask @anna, @two:mem://a, @one:, a@b.c, @app.route('/x'), [@notes.md], @nowhere/x", ""),
    ],
)
def test_what_seems_to_be_attached_and_is_not_is_told(tmp_path: Path, text: str, told: str):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("print()")
    (tmp_path / "src" / "dead").symlink_to("gone")
    assert not_attached(text, tmp_path, ["one"]) == (f"Not attached: {told}." if told else "")
