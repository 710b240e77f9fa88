"""However the program ends, the terminal is given back as it was and no server stays behind."""

import os
import signal
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive, home_in
from tests.terminal.set_ups import config_with

SERVERS = {"crlf": ("crlf", {}), "family": ("grandchild_holds_pipes", {})}
LEFT = b"\x1b[?1049l"


@pytest.fixture
def config(tmp_path: Path) -> str:
    return config_with(tmp_path, SERVERS)


def all_gone(processes):
    wait_until(lambda: not alive(processes), 5, "every process to be gone")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
def test_a_signal_ends_program_and_servers_and_gives_the_terminal_back(config, name):
    number = getattr(signal, name)
    with TerminalApp.real("--demo", "--config", config) as app:
        app.shows("2 of 2")
        processes = app.children()
        os.kill(app.process.pid, number)
        assert app.ended(10) == 128 + number
        assert app.faults_of_the_terminal() == []
        assert b"Traceback" not in app.raw
        all_gone(processes)


def test_a_window_that_is_closed_ends_program_and_servers(config):
    with TerminalApp.real("--demo", "--config", config) as app:
        app.shows("2 of 2")
        processes = app.children()
        app.hang_up()
        assert app.process.wait(10) == 128 + signal.SIGHUP
        all_gone(processes)


def test_what_was_typed_and_not_sent_is_in_the_input_history_of_the_next_run(tmp_path):
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        app.send("an unsent draft")
        app.shows("an unsent draft")
        app.hang_up()
        assert app.process.wait(10) == 128 + signal.SIGHUP
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        app.send("\x1b[A")
        app.shows("an unsent draft")
        app.send("\x11")
        assert app.ended() == 0


def test_a_defect_ends_program_and_servers_and_tells_no_secret(config):
    with TerminalApp.watched("crash", "--demo", "--config", config) as app:
        app.until(app.children)
        processes = app.children()
        assert app.ended() == 1
        assert app.faults_of_the_terminal() == []
        after = bytes(app.raw[app.raw.rindex(LEFT) :])
        assert b"Internal error: RuntimeError: a defect" in after
        assert b"Servers were stopped. Report: " in after
        assert b"sk-secret-in-a-local" not in app.raw
        assert b"\x1b]0;pwned" not in app.raw
        all_gone(processes)


def test_no_server_outlives_a_killed_program_by_five_seconds(config):
    with TerminalApp.real("--demo", "--config", config) as app:
        app.shows("2 of 2")
        processes = app.children()
        assert len(processes) >= 3
        os.kill(app.process.pid, signal.SIGKILL)
        app.process.wait()
        all_gone(processes)
