"""After any internal error the terminal is restored, and one line names the report."""

import re
import stat
from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.watched_app import AT_ONCE, PLACES

LEFT = b"\x1b[?1049l"
ENTER = "\r"


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


def test_after_an_internal_error_the_session_can_be_resumed(tmp_path: Path):
    with TerminalApp.watched("crash=key", "--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        app.send("what was said" + ENTER)
        app.shows("rule-based demo")
        app.send("!")
        assert app.ended() == 70
        assert b"Resume this conversation: mcptui --session " in app.raw
    with TerminalApp.real("--demo", "--no-start", "--resume", env=home_in(tmp_path)) as app:
        app.shows("what was said", "rule-based demo")
