"""The traffic screen in a real terminal, over the real servers."""

from tests.terminal.pty_app import TerminalApp


def test_one_key_opens_the_traffic_screen_and_another_an_entry():
    with TerminalApp.real("--demo") as app:
        app.shows("2 of 3")
        app.send("\x1bOS")
        app.shows("TRAFFIC", "tools/list", "following")
        app.send("/method:tools/list\r")
        app.shows("filter › method:tools/list")
        app.send("\r")
        app.shows("jsonrpc", "entry ")
        app.send("\x11")
        assert app.ended() == 0
        assert app.faults_of_the_terminal() == []
