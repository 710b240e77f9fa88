"""Standard streams that are closed or full: one sentence on stderr and exit code 2, for every command."""

import os
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests import programs
from tests.unit.storage.traffic_samples import requests
from tui.storage.recordings.writer import RecordingWriter

FULL = "mcptui: cannot write to stdout: No space left on device\n"
CLOSED_OUTPUT = "mcptui: cannot write to stdout: Bad file descriptor\n"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 50, 1000))
    return path


def redirected(redirection: str, *args: str, **env: str) -> tuple[int, str]:
    """Run the command with its stdout redirected by a shell. Return exit code and stderr."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *programs.command("-m", "tui", *args)]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
        env={**os.environ, **env},
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    ("args", "unbuffered"),
    [(("--export", "jsonl"), "1"), ((), "1"), (("--stats",), "")],
)
def test_a_full_device_is_reported_in_one_sentence(recording: Path, args: tuple[str, ...], unbuffered: str):
    code, said = redirected("> /dev/full", "traffic", str(recording), *args, PYTHONUNBUFFERED=unbuffered)
    assert code == 2
    assert said.splitlines(keepends=True)[-1] == FULL and "Traceback" not in said


@pytest.mark.parametrize(
    "args",
    [
        ("--version",),
        ("--help",),
        ("sessions",),
        ("run", "--demo", "--no-start", "--json", "hi"),
    ],
)
def test_every_command_reports_that_its_output_cannot_be_written(args: tuple[str, ...]):
    code, said = redirected("> /dev/full", *args, PYTHONUNBUFFERED="")
    assert (code, said.splitlines(keepends=True)[-1:]) == (2, [FULL])
    assert "Traceback" not in said and "Exception ignored" not in said


@pytest.mark.parametrize("args", [("--version",), ("traffic", "--help")])
def test_help_that_cannot_be_written_is_reported_without_buffering_too(args: tuple[str, ...]):
    assert redirected("> /dev/full", *args, PYTHONUNBUFFERED="1") == (2, FULL)


def test_unwritable_messages_change_neither_output_nor_exit_code(recording: Path):
    words = ("-m", "tui", "traffic", recording, "--stats", "--filter", "nothing-is-so")
    command = shlex.join(programs.command(*words))
    for redirection, unbuffered in (("", ""), ("2> /dev/full", ""), ("2> /dev/full", "1")):
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirection}"], capture_output=True, env=env, timeout=60
        )
        assert (done.returncode, done.stdout, bool(done.stderr)) == (0, b"no calls\n", not redirection)


@pytest.mark.parametrize("args", [("config", "init", "--print"), ("sessions",)])
def test_a_closed_stdout_is_reported(args: tuple[str, ...]):
    assert redirected(">&-", *args) == (2, CLOSED_OUTPUT)


def test_a_command_that_writes_nothing_needs_no_stdout(recording: Path, tmp_path: Path):
    code, said = redirected(
        ">&-", "traffic", str(recording), "--export", "jsonl", "-o", str(tmp_path / "out.jsonl")
    )
    assert (code, said.startswith(f"wrote {tmp_path / 'out.jsonl'}: 50 entries")) == (0, True)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 51


def test_a_closed_pipe_reader_is_not_an_error(recording: Path):
    command = f"{shlex.join(programs.command('-m', 'tui', 'traffic', recording))} --json | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, b"")


CLOSED = ("2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-")
COMMANDS = (
    (),
    ("run", "--demo", "--no-start", "hi"),
    ("add", "other", "--", "true"),
    ("traffic", "--list"),
    ("tap", "--", "true"),
    ("--version",),
)
INTERNAL_ERROR = 70


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_command_with_closed_streams_does_not_fail_by_an_internal_error(
    args: tuple[str, ...], separate_home: Path
):
    for redirection in CLOSED[-1:] if args else CLOSED:
        code, said = redirected(redirection, *args)
        assert code != INTERNAL_ERROR and "Internal error" not in said, redirection
    assert not list(separate_home.rglob("crashes/*"))


def test_a_question_is_answered_without_stdin(separate_home: Path):
    assert redirected("<&-", "run", "--demo", "--no-start", "hi")[0] == 0


def test_the_app_without_stdin_names_the_command_for_it(separate_home: Path):
    code, said = redirected("<&-")
    assert (code, "stdin and stdout must be a terminal" in said) == (2, True)


def test_messages_do_not_go_to_stdout_when_stderr_is_closed(separate_home: Path):
    command = f"{shlex.quote(sys.executable)} -m tui traffic no-such-recording 2>&-"
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
    code, said = redirected(f"0> {tmp_path / 'file'}", "run", "--demo", "--no-start", "-")
    assert (code, said) == (2, f"mcptui: cannot read stdin: {os.strerror(9)}\n")
