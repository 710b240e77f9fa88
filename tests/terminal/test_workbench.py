"""The workbench in a real terminal, over the real program and its sample servers."""

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive

ENTER, ESCAPE, QUIT, CALL = "\r", "\x1b", "\x11", "\x13"
F3, F4, F5 = "\x1bOR", "\x1bOS", "\x1b[15~"


def test_a_tool_is_called_by_hand_its_messages_are_shown_and_its_result_is_quoted():
    with TerminalApp.real("--demo") as app:
        app.shows("2 of 3")
        app.send(F3)
        app.until(lambda: "start/stop" in app.lines[-1])
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

        processes = app.children()
        app.send(F5)
        app.shows("weather › get_weather with", "> ")
        app.send(QUIT)
        assert app.ended() == 0
        assert app.faults_of_the_terminal() == []
        assert b"Traceback" not in app.raw
        wait_until(lambda: not alive(processes), 5, "every process to be gone")
