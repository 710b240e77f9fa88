"""Writing a message in the user's own editor: it gets the terminal, which is restored in every case."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive, home_in

EDITOR = """
import os, signal, sys, termios, time
path, did = sys.argv[-1], sys.argv[1]
with open(os.environ["SEEN"], "w") as seen:
    folder = os.path.dirname(path)
    seen.write(f"{os.stat(path).st_mode & 0o777:o} {os.stat(folder).st_mode & 0o777:o} {path}\\n")
    seen.write(open(path).read())
if did == "interrupted":  # blocked and waited for: one that comes before a sleep would not end it
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
sys.stdout.write("\\x1b[?1049h\\x1b[HEDITOR HAS THE TERMINAL")
sys.stdout.flush()
if did == "write":
    line = sys.stdin.readline()
    with open(path, "a") as file:
        file.write(" and " + line)
    open(path + "~", "w").write("backup")
elif did == "raw":
    old = termios.tcgetattr(0)
    new = termios.tcgetattr(0)
    new[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
    termios.tcsetattr(0, termios.TCSANOW, new)
    time.sleep(60)
elif did == "interrupted":
    signal.sigwait([signal.SIGINT])
    sys.exit(3)
sys.stdout.write("\\x1b[?1049l")
"""
CTRL_F = "\x06"


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    (tmp_path / "editor.py").write_text(EDITOR)
    return tmp_path / "seen"


def app_with(seen: Path, did: str, scenario: str = "calm") -> TerminalApp:
    editor = f"{sys.executable} {seen.parent / 'editor.py'} {did}"
    return TerminalApp.fake(
        scenario, env={"EDITOR": editor, "VISUAL": "", "SEEN": str(seen), **home_in(seen.parent)}
    )


def begin(app: TerminalApp, text: str = "draft") -> None:
    app.shows("2 of 3")
    app.send(text + CTRL_F)
    app.shows("EDITOR HAS THE TERMINAL")


def test_text_saved_in_the_editor_is_the_message_and_servers_and_a_turn_continue_meanwhile(seen: Path):
    with app_with(seen, "write") as app:
        begin(app, "hi\rdraft")
        app.send("more\r")
        app.shows("Hello.", "draft and more", "ctrl+p")
        modes, text = seen.read_text().split("\n", 1)
        file, folder, path = modes.split(" ", 2)
        assert (file, folder, text) == ("600", "700", "draft")
        wait_until(lambda: not Path(path).parent.exists())
        app.send("!\r")
        app.shows("▌ draft and more!")
        app.quits()


def test_a_failing_editor_leaves_the_message_unchanged_and_an_interrupt_reaches_only_the_editor(seen: Path):
    with app_with(seen, "interrupted") as app:
        begin(app)
        app.send("\x03")
        # The draft was shown before too, so wait for the editor first.
        app.until(lambda: "EDITOR HAS" not in app.text)
        app.shows("exited with code 3", "› draft")
        app.send("!")
        app.shows("› draft!")


def test_a_signal_ends_the_editor_too_and_restores_the_terminal(seen: Path):
    with app_with(seen, "raw") as app:
        begin(app)
        children = app.children()
        os.kill(app.process.pid, signal.SIGTERM)
        assert app.ended(8) == 128 + signal.SIGTERM
        assert alive(children) == []
        assert not Path(seen.read_text().split("\n")[0].split(" ", 2)[2]).parent.exists()
        assert [fault for fault in app.faults_of_the_terminal() if "line discipline" in fault] == []
        assert b"\x1b[?1049l" in app.raw[app.raw.rindex(b"EDITOR HAS") :]


def test_closing_the_terminal_ends_both_the_editor_and_the_app(seen: Path):
    with app_with(seen, "raw") as app:
        begin(app)
        children = app.children()
        app.hang_up()
        app.process.wait(8)
        assert app.process.returncode == 128 + signal.SIGHUP
        assert alive(children) == []
