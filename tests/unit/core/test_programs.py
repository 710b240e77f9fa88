"""The folders that are searched for a program."""

import os
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.core.programs import find_program, is_command, is_command_line, search_path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("here", "bin"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").touch(0o755)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("entry", ["", ".", "./", "../here", "node_modules/.bin"])
def test_relative_entries_of_path_are_not_searched(here: Path, entry: str) -> None:
    folder = str(here.parent / "bin")
    assert search_path(os.pathsep.join((entry, folder, entry))) == folder
    assert find_program("tool", {"PATH": entry}) is None
    assert find_program("tool", {"PATH": os.pathsep.join((entry, folder))}) == f"{folder}/tool"


def test_a_program_given_with_a_folder_is_not_searched_on_path(here: Path) -> None:
    assert find_program("./tool", {"PATH": ""}) == str(here / "tool")
    assert find_program("./missing", {"PATH": ""}) is None


def test_the_path_variable_of_mcptui_is_the_default(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(here))
    assert find_program("tool") == str(here / "tool")


def test_a_command_is_a_program_a_script_in_the_folder_or_a_reference(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(here.parent / "bin"))
    (here / "servers").mkdir()
    (here / "servers" / "script.py").touch(0o644)
    assert all(map(is_command, ("tool", "./tool", "${RUNNER}", "servers/script.py")))
    assert is_command("./script.py", str(here / "servers"))
    assert not any(map(is_command, ("missing", "./script.py", "script.py", "./servers")))


@each_case(
    "command",
    ["npx -y @scope/pkg", "python3 server.py", "pnpm dlx", "~/bin/x -y", "${BIN}/x -y", '"npx" "-y"'],
)
def test_a_program_with_arguments_is_a_command_line(command: str):
    assert is_command_line(command)


@each_case(
    "command",
    ["npx", "", "/Applications/My App/run", "C:\\Program Files\\x.exe -y", 'a "b', "./my tool", "a\0 b"],
)
def test_a_program_or_a_path_with_a_blank_is_none(command: str):
    assert not is_command_line(command)


def test_an_existing_file_decides(tmp_path: Path):
    program = tmp_path / "run me"
    program.write_text("")
    assert not is_command_line(str(program))
    (tmp_path / "run").write_text("")
    assert is_command_line(f"{tmp_path}/run that")
