"""A whole command line where a program belongs."""

from pathlib import Path

import pytest

from tui.core.programs import command_line, is_command_line


@pytest.mark.parametrize(
    "command",
    ["npx -y @scope/pkg", "python3 server.py", "pnpm dlx", "~/bin/x -y", "${BIN}/x -y", '"npx" "-y"'],
)
def test_a_program_with_arguments_is_a_command_line(command: str):
    assert is_command_line(command)


@pytest.mark.parametrize(
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


def test_unclosed_quotes_have_no_words():
    assert command_line('a "b') == []
