"""A replay asks on the terminal before it sends anything."""

import asyncio
import sys

import pytest

from tests.protocol.command import mcptui
from tests.protocol.test_tap import recordings
from tests.protocol.test_traffic import SERVER, call
from tests.terminal.pty_app import TerminalApp


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
