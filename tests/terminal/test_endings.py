"""However the program ends, the terminal is restored, no server keeps running, and an error is reported."""

import os
import re
import signal
import stat
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive, home_in
from tests.terminal.set_ups import config_with
from tests.terminal.watched_app import AT_ONCE, PLACES

SERVERS = {"crlf": ("crlf", {}), "family": ("grandchild_holds_pipes", {})}
LEFT, ENTER = b"\x1b[?1049l", "\r"


@pytest.fixture
def config(tmp_path: Path) -> str:
    return config_with(tmp_path, SERVERS)


def all_gone(processes):
    wait_until(lambda: not alive(processes), 5, "every process to be gone")


def ends(app: TerminalApp, number: signal.Signals) -> None:
    os.kill(app.process.pid, number)
    assert app.ended(10) == 128 + number
    assert app.faults_of_the_terminal() == []
    assert b"Traceback" not in app.raw


def test_a_signal_ends_the_program_and_its_servers_and_restores_the_terminal(config):
    with TerminalApp.real("--demo", "--config", config) as app:
        app.shows("2 of 2")
        processes = app.children()
        ends(app, signal.SIGTERM)
        all_gone(processes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_sigint_and_sigquit_end_the_program_and_restore_the_terminal(idle, number):
    ends(idle, number)


def test_closing_the_window_ends_the_servers_and_keeps_an_unsent_message_for_the_next_run(config, tmp_path):
    with TerminalApp.real("--demo", "--config", config, env=home_in(tmp_path)) as app:
        app.shows("2 of 2")
        processes = app.children()
        app.send("an unsent draft")
        app.shows("an unsent draft")
        app.hang_up()
        assert app.process.wait(10) == 128 + signal.SIGHUP
        all_gone(processes)
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        app.send("\x1b[A")
        app.shows("an unsent draft")
        app.quits()


def test_an_internal_error_ends_the_servers_shows_no_secret_and_the_session_can_be_resumed(config, tmp_path):
    env = home_in(tmp_path / "home")
    with TerminalApp.watched("crash=key", "--demo", "--config", config, env=env) as app:
        app.shows("2 of 2")
        processes = app.children()
        app.send("what was said" + ENTER)
        app.shows("rule-based demo")
        app.send("!")
        assert app.ended() == 70
        assert app.faults_of_the_terminal() == []
        after = bytes(app.raw[app.raw.rindex(LEFT) :])
        assert b"Internal error: RuntimeError: a defect" in after
        assert b"Servers were stopped. Report: " in after
        assert b"Resume this conversation: mcptui --session " in after
        assert b"sk-secret-in-a-local" not in app.raw
        assert b"\x1b]0;pwned" not in app.raw
        all_gone(processes)
    with TerminalApp.real("--demo", "--no-start", "--resume", env=env) as app:
        app.shows("what was said", "rule-based demo")


def test_servers_of_a_killed_program_exit_within_five_seconds(config):
    with TerminalApp.real("--demo", "--config", config) as app:
        app.shows("2 of 2")
        processes = app.children()
        assert len(processes) >= 3
        os.kill(app.process.pid, signal.SIGKILL)
        app.process.wait()
        all_gone(processes)


@pytest.mark.parametrize("place", PLACES)
def test_an_internal_error_restores_the_terminal_and_saves_a_report(place, tmp_path: Path):
    with TerminalApp.watched(f"crash={place}", "--demo", "--no-start", env=home_in(tmp_path)) as app:
        if place not in AT_ONCE:
            app.shows("0 of 3")
            app.send("x")
        assert app.ended() == 70
        assert app.faults_of_the_terminal() == []
        (line,) = re.findall(r"mcptui: [^\r\n]*", bytes(app.raw[app.raw.rindex(LEFT) :]).decode())
        assert b"Traceback" not in app.raw and b"sk-secret" not in app.raw
    assert line.startswith("mcptui: Internal error: RuntimeError: a defect 20. ")
    report = Path(line.partition("Report: ")[2])
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    text = report.read_text(encoding="utf-8")
    assert "in defect" in text and "sk-secret" not in text
