"""Commands of test files that also run in another clone of the project."""

from pathlib import Path

import pytest

from tui.addons.tests.keep.portable import command_in, program_in


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a server in a folder, and an empty folder beside it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "srv").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "srv" / "server.py").touch()
    return tmp_path


def test_a_path_of_the_project_is_relative_to_the_file_wherever_that_is(project: Path):
    words = ("python", str(project / "srv" / "server.py"))
    base = str(project / "sub")
    assert command_in(project / "sub", words, base, is_chosen=False) == (("python", "../srv/server.py"), "")
    assert command_in(project, words, base, is_chosen=False) == (("python", "srv/server.py"), "")
    assert command_in(project, ("python", "../srv/server.py"), base, is_chosen=False)[0][1] == "srv/server.py"


def test_the_folder_is_written_if_the_command_needs_it(project: Path):
    (project / "sub" / "data.json").touch()
    words = ("python", "../srv/server.py", "data.json")
    found = command_in(project, words, str(project / "sub"), is_chosen=False)
    assert found == (("python", "../srv/server.py", "data.json"), "sub")
    assert command_in(project, ("npx", "server"), str(project / "sub"), is_chosen=False)[1] == "sub"


def test_an_empty_folder_and_one_outside_of_the_project_are_not_written(
    project: Path, tmp_path_factory: pytest.TempPathFactory
):
    assert command_in(project, ("npx", "server"), str(project / "sub"), is_chosen=False)[1] == ""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    words = ("python", str(project / "srv" / "server.py"))
    assert command_in(project, words, str(elsewhere), is_chosen=False) == (("python", "srv/server.py"), "")


def test_a_configured_folder_is_always_written(project: Path):
    words = ("python", str(project / "srv" / "server.py"))
    found = command_in(project, words, str(project / "sub"), is_chosen=True)
    assert found == (("python", "../srv/server.py"), "sub")


def test_a_file_in_no_project_names_what_is_near_it(tmp_path: Path):
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv" / "server.py").touch()
    words = ("/bin/sh", str(tmp_path / "srv" / "server.py"), "/etc/hosts")
    found = command_in(tmp_path / "here", words, str(tmp_path), is_chosen=False)
    assert found == (("/bin/sh", "../srv/server.py", "/etc/hosts"), "")


def test_one_program_written_in_two_ways_is_the_same(project: Path):
    one = program_in(project, ("python", "srv/server.py"), "")
    assert one == program_in(project, ("python", "server.py"), "srv")
    assert program_in(project, ("npx", "server"), "srv") != program_in(project, ("npx", "server"), "sub")
