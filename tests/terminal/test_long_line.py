"""A result of 4 MiB without a line break in the real program: it is truncated."""

from tests.endpoint import calls, says
from tests.terminal.pty_app import TerminalApp
from tests.terminal.set_ups import config_with, endpoint_beside

ENTER, ESCAPE, END, QUIT, CONVERSATION, TRAFFIC = "\r", "\x1b", "\x1b[F", "\x11", "\x1bOQ", "\x1bOS"


def call(request):
    return calls((request.json["tools"][0]["function"]["name"], {}))


def test_a_result_of_one_very_long_line_is_truncated_on_screen_and_in_requests(tmp_path):
    servers = {"long": ("long_unbroken_line", {"FAULT_MIB": "4", "FAULT_LINES": "0"})}
    with endpoint_beside([call, says("The end.")]) as endpoint:
        config = config_with(tmp_path, servers, endpoint=endpoint.base_url, rules=["*/*"])
        with TerminalApp.real("--config", config) as app:
            app.shows("1 of 1")
            app.send("go" + ENTER)
            app.shows("The end.")
            app.until(lambda: "esc stop" not in app.text)
            app.send(CONVERSATION + END + "v")
            app.shows("RESULT", "AAAA")
            app.send(END)
            app.shows("more characters")
            app.send("q")
            app.shows("TRACE")
            app.send(TRAFFIC)
            app.shows("TRAFFIC", "4.2 MB")
            app.send("/kind:response method:tools/call" + ENTER)
            app.shows("1 of ")
            app.send(END + ENTER)
            app.shows("explain", "AAAA")
            app.send(ESCAPE)
            app.send(QUIT)
            assert app.ended() == 0
    assert max(len(request.body) for request in endpoint.requests) < 1 << 17
