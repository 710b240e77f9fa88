"""The app in a real terminal: the effect of its output, and restoring the terminal."""

import re

from tests.terminal.fake_app import PAYLOADS
from tests.terminal.pty_app import TerminalApp
from tests.terminal.test_hostile_servers import stray_in

LEFT = b"\x1b[?1049l"
ENTER, PAGE_UP, PAGE_DOWN = "\r", "\x1b[5~", "\x1b[6~"
EVERYTHING = "\x10"


def test_no_hostile_output_reaches_the_terminal_without_colours_either():
    with TerminalApp.fake("hostile", env={"NO_COLOR": "1"}) as app:
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
            app.settled()
        assert stray_in(app) == []
        written = bytes(app.raw)
        for payload in PAYLOADS[:8]:
            assert payload.encode() not in written, payload
        for sequence in (b"]52;c;", b"]0;pwned", b"]8;;http"):
            assert b"\x1b" + sequence not in written
        for char in (*map(chr, range(0x80, 0xA0)), "\u202e", "\u200b", "\U000e0041"):
            assert char.encode() not in written, hex(ord(char))
        assert b"\x00" not in written
        assert LEFT not in written


def test_output_of_others_on_stderr_does_not_reach_the_screen():
    with TerminalApp.fake("noisy") as app:
        app.shows("2 of 3")
        app.settled()
        assert b"STRAY" not in app.raw


def test_keys_in_one_burst_are_handled_in_order_by_panes_and_dialogs_too(calm: TerminalApp):
    calm.send("one\x7f\x7fh" + ENTER + "after")
    calm.shows("Hello.", "› after", "oh")
    calm.answered()
    calm.send("\x1b[17~" + ENTER + EVERYTHING)  # enter is for the pane, not for the dialog
    calm.shows("New conversation", "Hello.")
    calm.send(ENTER + ENTER + "\x1b")  # the second one closes nothing else
    calm.until(lambda: "New conversation" not in calm.text)
    calm.send("still here")
    calm.shows("still here")
    calm.quits()
    assert LEFT in calm.raw
    assert b"\x1b[?25h" in calm.raw[calm.raw.rindex(LEFT) - 200 :]
