"""An unwritable stdout gives one sentence on stderr and exit code 2, for every command."""

import os
import shlex
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests import programs
from tests.unit.storage.traffic_samples import requests
from tui.storage.recordings.writer import RecordingWriter

FULL = "mcptui: cannot write to stdout: No space left on device\n"
CLOSED = "mcptui: cannot write to stdout: Bad file descriptor\n"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 50, 1000))
    return path


def run(redirection: str, *args: str, **env: str) -> tuple[int, str]:
    """Run the command with its stdout redirected by a shell. Return exit code and stderr."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *programs.command("-m", "tui", *args)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, env={**os.environ, **env}
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "args",
    [
        ("--export", "jsonl"),
        ("--export", "har"),
        ("--export", "html", "--filter", "nothing-is-so"),
        ("--json",),
        (),
        ("--stats",),
        ("--lint",),
        ("--slowest",),
        ("--list",),
    ],
)
def test_a_full_device_is_reported_in_one_sentence(recording: Path, args: tuple[str, ...], unbuffered: str):
    named = () if args == ("--list",) else (str(recording),)
    code, said = run("> /dev/full", "traffic", *named, *args, PYTHONUNBUFFERED=unbuffered)
    assert code == 2
    assert said.splitlines(keepends=True)[-1] == FULL and "Traceback" not in said


@pytest.mark.parametrize(
    "args",
    [
        ("--version",),
        ("--help",),
        ("config", "init", "--print"),
        ("config", "show"),
        ("sessions",),
        ("run", "--demo", "hi"),
        ("run", "--demo", "--json", "hi"),
    ],
)
def test_every_command_reports_that_its_output_cannot_be_written(args: tuple[str, ...]):
    code, said = run("> /dev/full", *args, PYTHONUNBUFFERED="")
    assert (code, said.splitlines(keepends=True)[-1:]) == (2, [FULL])
    assert "Traceback" not in said and "Exception ignored" not in said


@pytest.mark.parametrize("args", [("--version",), ("--help",), ("traffic", "--help")])
def test_help_that_cannot_be_written_is_reported_without_buffering_too(args: tuple[str, ...]):
    assert run("> /dev/full", *args, PYTHONUNBUFFERED="1") == (2, FULL)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_unwritable_messages_change_neither_output_nor_exit_code(recording: Path, unbuffered: str):
    words = ("-m", "tui", "traffic", recording, "--stats", "--filter", "nothing-is-so")
    command = shlex.join(programs.command(*words))
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    for redirection in ("", "2> /dev/full"):
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirection}"], capture_output=True, env=env, timeout=60
        )
        assert (done.returncode, done.stdout, bool(done.stderr)) == (0, b"no calls\n", not redirection)


@pytest.mark.parametrize("args", [("config", "init", "--print"), ("sessions",), ("traffic", "--list")])
def test_a_closed_stdout_is_reported(args: tuple[str, ...]):
    assert run(">&-", *args) == (2, CLOSED)


def test_a_command_that_writes_nothing_needs_no_stdout(recording: Path, tmp_path: Path):
    code, said = run(">&-", "traffic", str(recording), "--export", "jsonl", "-o", str(tmp_path / "out.jsonl"))
    assert (code, said.startswith(f"wrote {tmp_path / 'out.jsonl'}: 50 entries")) == (0, True)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 51


def test_a_closed_pipe_reader_is_not_an_error(recording: Path):
    command = f"{shlex.join(programs.command('-m', 'tui', 'traffic', recording))} --json | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, b"")
