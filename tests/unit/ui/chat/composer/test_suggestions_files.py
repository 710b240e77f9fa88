"""Local files that can be attached."""

from pathlib import Path

import pytest

from tui.ui.chat.composer import suggestions
from tui.ui.chat.composer.pastes import not_attached
from tui.ui.chat.composer.suggestions import LiveSources, files, tree


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


def test_an_empty_query_lists_the_directory_without_hidden_files(folder: Path):
    assert names("", folder) == ["node_modules/", "src/", "a b.txt", "README.md"]


def test_a_path_lists_the_directory_it_names(folder: Path):
    assert names("src/", folder) == ["src/deep/", "src/app.py"]
    assert names("src/de", folder) == ["src/deep/"]


async def test_a_bare_name_is_found_in_subdirectories_but_not_in_node_modules(folder: Path):
    found = await LiveSources(folder, lambda: None).deeper("notes")
    assert [one.name for one in found] == ["src/deep/notes.md"]
    assert names("notes", folder) == []


def test_hidden_files_are_listed_after_a_leading_dot(folder: Path):
    assert names(".", folder) == [".env"]


def test_absolute_paths_and_paths_in_the_home_directory_are_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    assert names(f"{folder}/READ", Path("/")) == [f"{folder}/README.md"]
    monkeypatch.setenv("HOME", str(folder))
    assert names("~/READ", Path("/")) == ["~/README.md"]


@pytest.mark.parametrize("query", ["nowhere/", "README.md/", "\0/", "a" * 5000 + "/"])
def test_a_directory_that_does_not_exist_gives_no_suggestions(folder: Path, query: str):
    assert names(query, folder) == []


def test_selecting_a_directory_opens_it_and_selecting_a_file_attaches_it(folder: Path):
    found = {one.name: one for one in files("", folder)}
    assert found["src/"].text == "@src/" and found["src/"].reference is None
    assert found["README.md"].reference is not None and found["README.md"].about == "10 B"


def test_names_are_shown_cleaned_and_paths_are_kept_unchanged(tmp_path: Path):
    name = "a\x1b[31mb]c.txt"
    (tmp_path / name).write_text("x")
    (one,) = files("", tmp_path)
    assert one.reference is not None
    assert "\x1b" not in one.name and one.reference.path == name and "]" not in one.reference.name


def test_only_the_first_entries_of_a_large_directory_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(suggestions, "MOST_ENTRIES", 10)
    for number in range(20):
        (tmp_path / str(number)).touch()
    assert len(files("", tmp_path)) == 10


def test_a_circular_symlink_is_not_followed(tmp_path: Path):
    (tmp_path / "loop").symlink_to(tmp_path)
    assert tree(tmp_path) == []


def test_only_an_existing_file_counts_as_a_file(folder: Path):
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
        ("pasted @src/app.py", "@src/app.py (press tab after the name to attach it)"),
        ("read @one:mem://a now", "@one:mem://a (press tab after the name to attach it)"),
        ("ask @anna, @two:mem://a, @one:, a@b.c, @app.route('/x'), [@notes.md], @nowhere/x", ""),
    ],
)
def test_a_reference_that_is_not_attached_is_reported(tmp_path: Path, text: str, told: str):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("print()")
    assert not_attached(text, tmp_path, ["one"]) == (f"Not attached: {told}." if told else "")
