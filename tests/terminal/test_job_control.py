"""Stopped and continued by signals or by a shell, the app redraws and leaves the terminal as it found it."""

import os
import signal
import sys
from collections.abc import Callable, Iterator

import psutil
import pytest

from tests.terminal.pty_app import FAKE_APP, TerminalApp

ENTER, F1 = "\r", "\x1bOP"
TAKEN = b"\x1b[?1049h"
"""What the app writes when it takes the terminal."""

WHOLE_SCREEN = ("SERVERS", "TRACE", "›", "2 of 3", "ctrl+p")


def greeted(app: TerminalApp) -> None:
    app.send("hi" + ENTER)
    app.shows("Hello.")


def works_and_quits(app: TerminalApp) -> None:
    app.shows(*WHOLE_SCREEN)
    app.until(lambda: not app.echoes)
    greeted(app)
    app.quits()


def test_continued_the_app_sets_the_terminal_modes_again_and_repaints_the_screen_of_any_size(calm):
    calm.shows(*WHOLE_SCREEN)
    threads = len(psutil.Process(calm.process.pid).threads())
    for number in (signal.SIGTSTP, signal.SIGSTOP, signal.SIGTSTP):
        os.kill(calm.process.pid, number)
        calm.stopped()
        assert number == signal.SIGSTOP or calm.faults_of_the_terminal() == []
        calm.reset()
        os.kill(calm.process.pid, signal.SIGCONT)
        calm.shows(*WHOLE_SCREEN)
    calm.reset()
    os.kill(calm.process.pid, signal.SIGCONT)  # without a stop
    calm.shows(*WHOLE_SCREEN)
    calm.settled()  # the signal makes it take the terminal again
    assert len(psutil.Process(calm.process.pid).threads()) <= threads, "one thread reads the terminal"
    calm.send("\x1a")  # ctrl+z
    calm.shows("Cannot suspend: there is no shell with job control to return to.")
    calm.send(F1)
    calm.shows("Anywhere")
    os.kill(calm.process.pid, signal.SIGTSTP)
    calm.stopped()
    calm.resize(90, 30)
    calm.reset()
    os.kill(calm.process.pid, signal.SIGCONT)
    calm.shows("Anywhere")
    calm.settled()
    calm.send("\x1b")
    calm.until(lambda: "Anywhere" not in calm.text)
    calm.shows("›", "Ask anything")
    calm.resize(120, 40)
    works_and_quits(calm)


def test_a_slow_shutdown_is_announced_outside_the_screen_and_a_stop_leaves_the_terminal_to_the_shell():
    with TerminalApp.fake("slow to stop") as app:
        app.shows("2 of 3")
        app.send("\x11")  # ctrl+q
        app.shows("stopping servers…")
        os.kill(app.process.pid, signal.SIGTSTP)
        app.stopped()
        os.kill(app.process.pid, signal.SIGCONT)
        assert app.ended() == 0
        assert app.faults_of_the_terminal() == []
        assert "stopping servers… done".encode() in app.raw[app.raw.rindex(b"\x1b[?1049l") :]
        assert app.raw.count(TAKEN) == 1 and b"Traceback" not in app.raw


@pytest.fixture
def shell() -> Iterator[TerminalApp]:
    argv = ["bash", "--norc", "--noprofile", "-i"]
    with TerminalApp(argv, env={"PS1": "shell> ", "INPUTRC": os.devnull}) as shell:
        shell.shows("shell>")
        yield shell
        # A stopped job would keep the shell, and the test, waiting.
        for child in shell.children():
            child.kill()


def start_app(shell: TerminalApp, ending: str = "") -> psutil.Process:
    shell.send(f"exec 2>&1; {sys.executable} {FAKE_APP} calm {ending}{ENTER}")
    shell.until(shell.children)
    return shell.children()[0]


@pytest.fixture
def job(shell: TerminalApp) -> psutil.Process:
    """Start the app in the foreground of the shell."""
    started = start_app(shell)
    shell.shows(*WHOLE_SCREEN)
    return started


def stop_with(shell: TerminalApp, job: psutil.Process, stop: Callable[[], object]) -> None:
    before = len(shell.raw)
    stop()
    shell.stopped(job)
    # Not on the screen: SIGSTOP may come in the middle of an escape sequence.
    shell.until(lambda: b"shell>" in shell.raw[before:].partition(b"Stopped")[2])


def comes_back(shell: TerminalApp) -> None:
    taken = shell.raw.count(TAKEN)
    shell.reset()
    shell.send("fg" + ENTER)
    shell.until(lambda: shell.raw.count(TAKEN) > taken and not shell.echoes)
    shell.shows(*WHOLE_SCREEN)
    greeted(shell)


def test_fg_brings_the_app_back_and_bg_leaves_it_stopped_and_the_terminal_to_the_shell(shell, job):
    stop_with(shell, job, lambda: job.send_signal(signal.SIGSTOP))
    comes_back(shell)
    stop_with(shell, job, lambda: job.send_signal(signal.SIGTSTP))
    before = shell.raw.count(TAKEN)
    shell.send("bg; echo back $((40 + 2))" + ENTER)
    shell.shows("back 42")
    shell.stopped(job)
    assert shell.raw.count(TAKEN) == before
    comes_back(shell)


def test_an_app_started_in_the_background_waits_for_fg(shell):
    shell.stopped(start_app(shell, "&"))
    assert TAKEN not in shell.raw
    comes_back(shell)


def test_ctrl_z_undoes_in_a_text_and_suspends_elsewhere_and_fg_brings_the_app_back(shell, job):
    shell.send("some text")
    shell.shows("some text")
    shell.send("\x1a")
    shell.until(lambda: "some text" not in shell.text)
    assert job.status() != psutil.STATUS_STOPPED
    stop_with(shell, job, lambda: shell.send("\x1a"))
    comes_back(shell)
    shell.send(F1)
    shell.shows("Type to filter")
    shell.send("\x1a")
    shell.stopped(job)
