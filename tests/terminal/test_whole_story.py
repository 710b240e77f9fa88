"""The whole story of a user, from start to exit, with the real program and its sample servers."""

import re

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive

ENTER, ESCAPE, CALL = "\r", "\x1b", "\x13"
F3, F4, F5 = "\x1bOR", "\x1bOS", "\x1b[15~"


def test_a_user_asks_approves_restarts_a_server_calls_a_tool_by_hand_quotes_its_result_and_quits():
    with TerminalApp.real("--demo", forks=None) as app:
        app.shows("2 of 3")

        app.send("What's the weather in Hangzhou?" + ENTER)
        app.shows("weather › get_weather", 'location="Hangzhou"', "Weather in Hangzhou:")
        app.answered()

        app.send("add a note: buy milk" + ENTER)
        app.shows("notes › add_note", "waiting for approval")
        # earlier keys are ignored
        app.until(lambda: re.search(r"waiting for approval  [1-9]\d* s", app.text))
        app.send("y")
        app.shows("✓ notes › add_note")
        app.answered()

        processes = app.children()
        app.send(F3)
        app.until(lambda: "s start/stop" in app.lines[-1])
        app.send("s")
        app.shows("1 of 3", "STOPPED  by you")
        app.send("s")
        app.shows("2 of 3")

        app.send(ENTER)
        app.shows("WORKBENCH", "get_weather", "location  text")

        app.send(ENTER + "Beijing" + CALL)
        app.shows("✓ done", "Beijing")
        app.send(F4)
        app.shows("TRAFFIC", "call:hand-1", "tools/call")
        app.send(ESCAPE)
        app.until(lambda: "call:hand-1" not in app.text)
        app.send(ESCAPE)
        app.shows("WORKBENCH", "✓ done")

        processes += app.children()
        app.send(F5)
        app.shows("weather › get_weather with", "> ")
        app.quits()
        wait_until(lambda: not alive(processes), 5, "every process to be gone")
