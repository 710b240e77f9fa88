"""The title of the terminal's window, notifications and the bell, in every byte that the program writes."""

from pathlib import Path

from tests.configurations import config_file, table
from tests.terminal.pty_app import TerminalApp, home_in

AWAY = "\x1b[O"
"""What a terminal sends when it loses the focus."""


def test_the_title_says_what_runs_or_waits_and_the_user_who_is_elsewhere_is_called(tmp_path: Path) -> None:
    config = config_file(tmp_path, table("ui", notify=True, bell=True))
    env = home_in(tmp_path) | {"TERM_PROGRAM": "iTerm.app"}
    with TerminalApp.real("--demo", "--config", config, env=env) as app:
        app.shows("2 of 3")
        assert b"\x1b[22;2t\x1b]2;mcptui\x1b\\" in app.raw
        app.send("What's the weather in Hangzhou?\r")
        app.until(lambda: b"\x1b]2;Working: What's the weather" in app.raw)
        app.send(AWAY)
        app.until(lambda: b"\x1b]9;mcptui: Turn ended: What's the weather in Hangzhou?\a\a" in app.raw)
        app.send("\x1b[Iadd a note: buy milk\r")
        app.until(lambda: b"\x1b]2;Waiting for approval: What's the weather" in app.raw)
        app.send("\x1b")
        app.answered()
        assert app.raw.count(b"\x1b]9;") == 1  # the user was back
        app.quits()
        assert app.raw.rindex(b"\x1b]2;\x1b\\\x1b[23;2t") > app.raw.rindex(b"Hangzhou?\x1b\\")


def test_a_terminal_without_titles_gets_none(tmp_path: Path) -> None:
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path) | {"TERM": "linux"}) as app:
        app.shows("0 of 3")
        app.quits()
        assert b"\x1b]2;" not in app.raw and b";2t" not in app.raw
