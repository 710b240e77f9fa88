"""The app in a real terminal: the effect of its output, and restoring the terminal."""

import os
import re
import signal
import time

import pytest

from tests.terminal.fake_app import PAYLOADS
from tests.terminal.pty_app import TerminalApp

LEFT = b"\x1b[?1049l"
ENTER, PAGE_UP, PAGE_DOWN = "\r", "\x1b[5~", "\x1b[6~"
EVERYTHING = "\x10"


def settled(app: TerminalApp) -> None:
    """Wait until painting has stopped."""
    size = -1
    while size != len(app.raw):
        size = len(app.raw)
        app.pump(0.3)


def test_keys_are_handled_and_the_terminal_is_restored():
    with TerminalApp.fake("calm") as app:
        app.shows("Ask anything", "2 of 3")
        app.send("hi" + ENTER)
        app.shows("Hello.")
        app.send("\x11")
        assert app.ended() == 0
        assert LEFT in app.raw
        assert b"\x1b[?25h" in app.raw[app.raw.rindex(LEFT) - 200 :]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_the_app_with_its_exit_code_and_restores_the_terminal(name):
    number = getattr(signal, name)
    with TerminalApp.fake("endless") as app:
        app.shows("2 of 3")
        app.send("go" + ENTER)
        app.shows("It begins.")
        os.kill(app.process.pid, number)
        assert app.ended(5) == 128 + number
        assert LEFT in app.raw


def test_closing_the_terminal_ends_the_app():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.hang_up()
        app.process.wait(5)
        assert app.process.returncode == 128 + signal.SIGHUP


def test_quitting_is_quick():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        began = time.monotonic()
        app.send("\x11")
        app.ended()
        assert time.monotonic() - began < 5


def test_a_slow_shutdown_is_announced_after_the_terminal_is_restored():
    with TerminalApp.fake("slow to stop") as app:
        app.shows("2 of 3")
        app.send("\x11")
        assert app.ended() == 0
        assert "stopping servers… done".encode() in app.raw[app.raw.rindex(LEFT) :]


def test_no_hostile_output_reaches_the_terminal():
    with TerminalApp.fake("hostile") as app:
        app.shows("1 of 2")
        app.send("hi" + ENTER)
        # on the screen for longer than the grace time
        app.until(lambda: re.search(r"waiting for approval  [1-9]\d* s", app.text))
        app.send("\x1bOQ")  # f2
        app.shows("once")
        app.send("y")
        app.shows("not shown yet")
        app.send(PAGE_UP)
        app.until(lambda: "once" not in app.text)
        app.send(PAGE_DOWN)
        app.shows("once")
        app.send("y")
        app.shows("answered", seconds=10)
        for keys in ("\x1bOR", ENTER, "\x1bOS", ENTER, "\x0c", "\x1b", "\x10", "\x1b", "\x1bOP", "\x1b"):
            app.send(keys)
            settled(app)
        written = bytes(app.raw)
        for payload in PAYLOADS[:8]:
            assert payload.encode() not in written, payload
        for sequence in (b"]52;c;", b"]0;pwned", b"]8;;http"):
            assert b"\x1b" + sequence not in written
        for char in (*map(chr, range(0x80, 0xA0)), "\u202e", "\u200b", "\U000e0041"):
            assert char.encode() not in written, hex(ord(char))
        assert b"\x00" not in written
        assert LEFT not in written


def test_without_colours_no_hostile_output_reaches_the_terminal_either():
    with TerminalApp.fake("hostile", env={"NO_COLOR": "1"}) as app:
        app.shows("1 of 2")
        settled(app)
        assert b"\x1b]52" not in app.raw
        assert b"\x1b[?1049l" not in app.raw


def test_output_of_others_on_stderr_does_not_reach_the_screen():
    with TerminalApp.fake("noisy") as app:
        app.shows("2 of 3")
        settled(app)
        assert b"STRAY" not in app.raw


def test_an_internal_error_restores_the_terminal_and_shows_no_secret():
    with TerminalApp.fake("crash") as app:
        assert app.ended() == 70
        after = bytes(app.raw[app.raw.rindex(LEFT) :])
        assert b"Internal error: RuntimeError: a defect" in after and b"Traceback" not in after
        assert b"sk-secret-in-a-local" not in app.raw
        assert b"\x1b]0;pwned" not in app.raw


def test_keys_in_one_burst_are_handled_in_order():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send("one\x7f\x7fh" + ENTER + "after")
        app.shows("Hello.", "› after", "oh")


def test_closing_a_dialog_twice_in_one_burst_closes_nothing_else():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send(EVERYTHING)
        app.shows("New conversation")
        app.send(ENTER + ENTER + "\x1b")
        app.until(lambda: "New conversation" not in app.text)
        app.send("still here")
        app.shows("still here")


def test_a_key_for_a_pane_does_not_reach_the_dialog_opened_by_the_next_key():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send("hi" + ENTER)
        app.shows("Hello.")
        app.until(lambda: "esc stop" not in app.text)
        app.send("\x1b[17~" + ENTER + EVERYTHING)
        app.shows("New conversation", "Hello.")


def test_five_megabytes_can_be_pasted_while_the_screen_stays_responsive():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        text = ("x" * 62 + "\r") * 80_000
        app.send("\x1b[200~" + text + "\x1b[201~")
        app.shows("[pasted 5.0 MB, 80 000 lines]", seconds=30)
        app.send("!")
        app.shows("lines]!")
