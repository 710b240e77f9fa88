"""The line that says what takes long: on a terminal, after a moment, and erased."""

import io
import sys
from contextlib import redirect_stderr

import pytest

from tests.conftest import wait_until
from tui.commands import progress as module
from tui.commands.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        """The last line, as a terminal shows it."""
        cells = ""
        for part in self.getvalue().rpartition("\n")[2].split("\r"):
            cells = part + cells[len(part) :]
        return cells.rstrip()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(module, "DELAY_SECONDS", 0.01)
    monkeypatch.setattr(module, "REFRESH_SECONDS", 0.01)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    return found


def test_the_line_fits_the_terminal_and_is_erased_at_the_end(terminal: Terminal):
    with redirect_stderr(terminal), progress("linting " * 20):
        wait_until(lambda: terminal.shown)
        assert len(terminal.shown) < 40 and terminal.shown.startswith("◌ linting")
    assert terminal.shown == "" and "\x1b" not in terminal.getvalue()


def test_what_is_printed_takes_the_place_of_the_line_which_comes_back_below(terminal: Terminal):
    with redirect_stderr(terminal), progress("starting") as doing:
        wait_until(lambda: terminal.shown)
        print("● weather", file=sys.stderr)
        *_, printed, _ = terminal.getvalue().split("\n")
        assert printed.rpartition("\r")[2] == "● weather"
        doing.text = "starting notes"
        wait_until(lambda: "notes" in terminal.shown)


def test_an_open_question_is_not_overwritten(terminal: Terminal):
    with redirect_stderr(terminal), progress("working") as doing:
        print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
        before = terminal.getvalue()
        doing.text = "still working"
        with pytest.raises(AssertionError):
            wait_until(lambda: terminal.getvalue() != before, seconds=0.1)


def test_an_interrupt_erases_it(terminal: Terminal):
    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), progress("working"):
        wait_until(lambda: terminal.shown)
        raise KeyboardInterrupt
    assert terminal.shown == ""


@pytest.mark.parametrize("where", ["pipe", "quiet", "dumb"])
def test_there_is_no_line_elsewhere(where: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb" if where == "dumb" else "xterm")
    stream = io.StringIO() if where == "pipe" else terminal
    with redirect_stderr(stream), progress("working", quiet=where == "quiet"):
        assert sys.stderr is stream
