"""`mcptui traffic`: a recording of an earlier run on the full screen, offline."""

import subprocess
import sys

from tests import programs
from tests.terminal.pty_app import TerminalApp, home_in

CTRL_Q = "\x11"
MCPTUI = [sys.executable, "-m", "tui"]


def test_a_recording_can_be_opened_and_filtered(tmp_path):
    home = home_in(tmp_path)
    asked = programs.command("-m", "tui", "run", "--demo", "What's the weather in Hangzhou?")
    subprocess.run(asked, env={**home, "PATH": "/usr/bin:/bin"}, check=True, capture_output=True, timeout=60)
    with TerminalApp([*MCPTUI, "traffic"], env=home) as app:
        app.shows("TRAFFIC", "recorded", "tools/call  get_weather", "server/discover")
        app.send("/")
        app.send("method:tools/call kind:response\r")
        app.until(lambda: "server/discover" not in app.text)
        app.send("\r")
        app.shows("light rain")
        app.send(CTRL_Q)
        assert app.ended() == 0


def test_a_file_that_is_not_a_recording_is_refused_in_one_line(tmp_path):
    (tmp_path / "notes.mcptrace").write_text("hello")
    with TerminalApp([*MCPTUI, "traffic", "notes.mcptrace"], env=home_in(tmp_path), cwd=tmp_path) as app:
        assert app.ended() == 2
        app.shows("mcptui traffic:", "notes.mcptrace")
