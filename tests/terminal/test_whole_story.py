"""The first steps of a new user, from start to exit, with the real program and its sample servers."""

import re

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive

ENTER, QUIT, SERVERS = "\r", "\x11", "\x1bOR"


def test_a_user_asks_approves_stops_and_starts_a_server_and_quits():
    with TerminalApp.real("--demo") as app:
        app.shows("2 of 3")

        app.send("What's the weather in Hangzhou?" + ENTER)
        app.shows("weather › get_weather", 'location="Hangzhou"', "Weather in Hangzhou:")
        app.until(lambda: "esc stop" not in app.text)

        app.send("add a note: buy milk" + ENTER)
        app.shows("notes › add_note", "waiting for approval")
        # earlier keys are ignored
        app.until(lambda: re.search(r"waiting for approval  [1-9]\d* s", app.text))
        app.send("y")
        app.shows("✓ notes › add_note")
        app.until(lambda: "esc stop" not in app.text)

        processes = app.children()
        app.send(SERVERS)
        app.until(lambda: "s start/stop" in app.lines[-1])
        app.send("s")
        app.shows("1 of 3", "STOPPED  by you")
        app.send("s")
        app.shows("2 of 3")

        processes += app.children()
        app.send(QUIT)
        assert app.ended() == 0
        assert app.faults_of_the_terminal() == []
        assert b"Traceback" not in app.raw
        wait_until(lambda: not alive(processes), 5, "every process to be gone")
