"""A standard stream that is closed, or that cannot be read, is no internal error in any command."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CLOSED = ("<&-", "2>&-", "<&- 2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-")
COMMANDS = (
    (),
    ("run", "--demo", "--no-start", "hi"),
    ("add", "other", "--", "true"),
    ("traffic",),
    ("traffic", "--list"),
    ("sessions",),
    ("config", "check"),
    ("decisions",),
    ("tap", "--", "true"),
    ("--version",),
)
INTERNAL_ERROR = 70


def run(redirection: str, *args: str) -> tuple[int, str]:
    """Run the command with redirections of a shell; return its exit code and stderr."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "tui", *args]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_command_with_closed_streams_does_not_fail_by_an_internal_error(
    args: tuple[str, ...], separate_home: Path
):
    for redirection in CLOSED:
        code, said = run(redirection, *args)
        assert code != INTERNAL_ERROR and "Internal error" not in said, redirection
    assert not list(separate_home.rglob("crashes/*"))


def test_a_question_is_answered_without_stdin(separate_home: Path):
    assert run("<&-", "run", "--demo", "--no-start", "hi")[0] == 0


def test_the_app_without_stdin_names_the_command_for_it(separate_home: Path):
    code, said = run("<&-")
    assert (code, "stdin and stdout must be a terminal" in said) == (2, True)


def test_messages_do_not_go_to_stdout_when_stderr_is_closed(separate_home: Path):
    command = f"{shlex.quote(sys.executable)} -m tui run '' 2>&-"
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")


def test_an_opened_file_does_not_get_the_number_of_a_closed_stream(separate_home: Path):
    code = (
        "import sys, os, subprocess; from tui import cli; cli._run = lambda given: 0; cli.main([]);"
        "file = open(os.devnull); assert file.fileno() > 2, file.fileno();"
        "sys.exit(subprocess.run(['sh', '-c', 'read x; test -e /dev/fd/0 -a -e /dev/fd/1']).returncode)"
    )
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} <&- >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_question_from_a_stdin_that_cannot_be_read_is_a_usage_error(separate_home: Path, tmp_path: Path):
    code, said = run(f"0> {tmp_path / 'file'}", "run", "--demo", "--no-start", "-")
    assert (code, said) == (2, f"mcptui: cannot read stdin: {os.strerror(9)}\n")
