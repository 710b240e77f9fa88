"""The parser of the command line: built only as far as needed, and equal to the complete one."""

import subprocess
import sys

import pytest

from tui.cli import main
from tui.commands.command_line import build_parser

COMMANDS = [
    *("run", "call", "read", "prompt", "list", "servers", "search", "add", "remove"),
    *("login", "logout", "config", "sessions", "tap", "traffic", "mock"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_of_its_own(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        build_parser().parse_args([command, "--help"])
    said = capsys.readouterr().out
    assert left.value.code == 0
    assert said.startswith(f"usage: mcptui {command}") and "show this help message and exit" in said


def test_the_help_names_every_command():
    said = build_parser().format_help()
    assert all(f"\n    {command} " in said for command in COMMANDS)


@pytest.mark.parametrize(
    "words", [["--mod", "x", "mock", "-h"], ["--theme=x", "trace", "-h"], ["--demo", "run", "-h"]]
)
def test_an_abbreviated_option_and_a_former_command_name_are_accepted(words: list[str]):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0


def loaded_by(*words: str) -> set[str]:
    code = "import sys; sys.argv[0] = 'mcptui'; from tui.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, *words], capture_output=True, text=True
    )
    assert done.returncode == 0
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_the_version_needs_no_parser():
    assert "argparse" not in loaded_by("--version")


def test_help_imports_no_more_than_the_parser_needs():
    loaded = loaded_by("--help")
    assert "argparse" in loaded
    assert not {"shutil", "typing", "asyncio", "tui.commands.run"} & loaded
