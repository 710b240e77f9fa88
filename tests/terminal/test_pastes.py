"""A paste stays one text in the composer, whatever it contains."""

from tests.terminal.pty_app import TerminalApp

CTRL_Q = "\x11"


def paste(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def test_a_paste_with_colour_codes_is_not_sent_line_by_line():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send(paste("small one\rsecond \x1b[31mred\x1b[0m line\rthird"))
        app.shows("third")
        assert "small one" in app.text and "second" in app.text
        assert "queued" not in app.text and "▌" not in app.text
        app.send(CTRL_Q)
        assert app.ended() == 0


def test_a_huge_paste_with_escapes_is_one_token_and_the_app_stays_responsive():
    line = "2026-11-21 \x1b[32mINFO\x1b[0m something happened again and again\r"
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send(paste(line * 20_000))
        app.shows("lines]")
        app.send(" typed after it")
        app.shows("typed after it")
        assert "queued" not in app.text
        app.send(CTRL_Q)
        assert app.ended() == 0


def test_alt_enter_inserts_a_line_break_and_sends_nothing():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send("first")
        app.send("\x1b\r")
        app.send("second")
        app.shows("first", "second")
        rows = [row for row in app.text.splitlines() if "first" in row or "second" in row]
        assert len(rows) == 2 and "Hello." not in app.text
        app.send(CTRL_Q)
        assert app.ended() == 0


def test_invalid_utf_8_does_not_end_the_input():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send(b"caf\xe9 and on")
        app.shows("and on")
        app.send(CTRL_Q)
        assert app.ended() == 0
