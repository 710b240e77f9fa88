"""The traffic screen and `mcptui traffic` in a real terminal."""

import asyncio
import sys

import pytest

from tests.endpoint import calls, says
from tests.protocol.command import mcptui
from tests.protocol.test_tap import recordings
from tests.protocol.test_traffic import SERVER, call
from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import config_with, endpoint_beside

MCPTUI = [sys.executable, "-m", "tui"]


def test_a_recording_can_be_opened_and_filtered(tmp_path):
    home = home_in(tmp_path)
    asyncio.run(mcptui("run", "--demo", "What's the weather in Hangzhou?", **home))
    with TerminalApp([*MCPTUI, "traffic"], env=home) as app:
        app.shows("TRAFFIC", "recorded", "tools/call get_weather", "handshake and lists")
        app.send("/")
        app.send("method:tools/call kind:response\r")
        app.until(lambda: "handshake and lists" not in app.text)
        app.send("\r")
        app.shows("light rain")
        app.quits()


@pytest.mark.parametrize(("ending", "why"), [("mcptrace", "not a recording"), ("ndjson", "line 1 is not")])
def test_a_file_that_is_not_a_recording_is_refused_in_one_line(tmp_path, ending: str, why: str):
    (tmp_path / f"notes.{ending}").write_text("hello")
    with TerminalApp([*MCPTUI, "traffic", f"notes.{ending}"], env=home_in(tmp_path), cwd=tmp_path) as app:
        assert app.ended() == 2
        app.shows(f"mcptui: notes.{ending}: {why}")


@pytest.mark.parametrize(
    ("answer", "code", "said"), [("y", 0, "2 requests: 2 same"), ("n", 2, "nothing was sent")]
)
def test_nothing_is_sent_before_the_preview_is_confirmed(answer: str, code: int, said: str) -> None:
    tap = ("tap", "--name", "s", "--", sys.executable, "-c", SERVER)
    asyncio.run(mcptui(*tap, stdin=call(1, "good") + call(2, "bad")))
    recording = str(recordings()[0])
    with TerminalApp.real("traffic", recording, "--replay", "--", sys.executable, "-c", SERVER) as app:
        app.send("y\r")  # before anything could be read
        app.shows("good  1 call, may change something", "bad  1 call", "Send them?")
        assert "same" not in app.text
        app.send(f"{answer}\r")
        app.shows(said)
        assert app.ended() == code


def test_entries_of_several_recordings_have_one_heading():
    tap = ("tap", "--name", "s", "--", sys.executable, "-c", SERVER)
    for tool in ("good", "other", "good"):
        asyncio.run(mcptui(*tap, stdin=call(1, tool)))
    with TerminalApp.real("traffic", "--since", "1h", "--filter", "tool:good kind:request") as app:
        assert app.ended() == 0
        assert app.text.count("tools/call good") == 2 and app.text.count("outcome") == 1


ENTER, ESCAPE, END, CONVERSATION, TRAFFIC = "\r", "\x1b", "\x1b[F", "\x1bOQ", "\x1bOS"


def calls_the_first(request):
    return calls((request.json["tools"][0]["function"]["name"], {}))


def test_a_result_of_one_very_long_line_is_truncated_on_screen_and_in_requests(tmp_path):
    servers = {"long": ("long_unbroken_line", {"FAULT_MIB": "4", "FAULT_LINES": "0"})}
    with endpoint_beside([calls_the_first, says("The end.")]) as endpoint:
        config = config_with(tmp_path, servers, endpoint=endpoint.base_url, rules=["*/*"])
        with TerminalApp.real("--config", config) as app:
            app.shows("1 of 1")
            app.send("go" + ENTER)
            app.shows("The end.")
            app.answered()
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
            app.quits()
    assert max(len(request.body) for request in endpoint.requests) < 1 << 17
