"""Plain mode in this process, over a pipe. `tests/terminal/test_plain.py` drives the program."""

import os
import sys
from types import SimpleNamespace

import pytest

from tui.addons.plain.front import run

ARGS = {"command": None, "theme": None, "demo": True, "no_start": True}


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, **args: object
) -> tuple[int, str]:
    read, write = os.pipe()
    os.write(write, typed.encode())
    os.close(write)
    with os.fdopen(read) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        code = run(SimpleNamespace(**ARGS | args))  # type: ignore[arg-type]
    return code, capsys.readouterr().out


@pytest.mark.parametrize("word", [":q", "quit", "exit", "/quit", "/exit"])
def test_what_quits_is_not_sent(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    code, text = said(monkeypatch, capsys, f"{word}\nhello\n")
    assert code == 0 and text.endswith(f"you: {word}\n")


def test_the_exit_code_is_that_of_the_last_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert said(monkeypatch, capsys, "hello")[0] == 0
    code, text = said(monkeypatch, capsys, "hello", model="nosuch", demo=False)
    assert code in (2, 4) and "error: " in text


def test_commands_are_listed_and_unknown_ones_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    _, text = said(monkeypatch, capsys, "/help\n/serverz\n/resend\n/etc/hosts is a file\n")
    assert "mcptui: /resend N: Send the request of message N again.\n" in text
    assert "error: Unknown command /serverz. Did you mean /servers?" in text
    assert "error: /resend N: the number of an entry is required. /traffic lists them.\n" in text
    assert "you: /etc/hosts is a file\nmodel: " in text
