"""The command line of `mcptui doctor`."""

import re
from pathlib import Path
from typing import Any

import pytest

from tui.addons.doctor.command import doctor, is_not_found
from tui.commands.command_line import parse
from tui.core.errors import UsageError


def given(*words: str) -> Any:
    return parse(["doctor", *words])


def test_a_command_that_does_not_exist_fails_without_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert doctor(given("--report", str(tmp_path / "r.txt"), "--", "no-such-command", "-v")) == 1
    assert "no-such-command not found on PATH" in capsys.readouterr().out
    assert "no-such-command" in (tmp_path / "r.txt").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("python3 server.py --x", "is one word.*Split it: -- python3 server.py --x"),
        ("./no/such/path", "./no/such/path does not exist.*Check the path"),
    ],
)
def test_a_command_line_in_one_word_and_a_path_have_their_own_advice(
    command: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert doctor(given("--", command)) == 1
    assert re.search(said, capsys.readouterr().out, re.DOTALL)


@pytest.mark.parametrize("words", [("a", "b"), ("a", "--", "python")])
def test_more_than_one_server_is_an_error(words: tuple[str, ...]):
    with pytest.raises(UsageError, match="one server at most"):
        doctor(given(*words))


def test_a_report_that_cannot_be_written_is_an_error_before_anything_starts(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot write the report: Is a directory"):
        doctor(given("--report", str(tmp_path), "a"))


@pytest.mark.parametrize(
    ("command", "is_missing"), [("sh", False), ("https://h/mcp", False), ("./no-such-file", True)]
)
def test_urls_and_commands_are_told_from_what_does_not_exist(command: str, is_missing: bool):
    assert is_not_found(command) == is_missing
