"""The composer in a real terminal: keys in one burst act as one by one, and a paste stays one text."""

from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp, home_in

ENTER = "\r"


def test_a_command_in_one_burst_runs_and_the_text_after_it_is_inserted(calm: TerminalApp):
    calm.send("/clea" + ENTER + "after")
    calm.shows("› after")


def test_a_complete_command_in_one_burst_runs_at_the_first_enter(tmp_path: Path):
    with TerminalApp.real("--demo", env=home_in(tmp_path)) as app:
        app.shows("2 of 3")
        app.send("hello" + ENTER)
        app.until(lambda: "context" in app.lines[-2] and "esc stop" not in app.text)
        app.send(f"/export html {tmp_path / 'page.html'}" + ENTER)
        app.shows("Contains: 2 messages, 0 redacted values")
        app.send(ENTER)
        app.shows("Exported to")
    assert (tmp_path / "page.html").stat().st_size


def test_text_and_enter_typed_before_the_app_starts_are_sent(tmp_path: Path):
    with TerminalApp.real("--demo", env=home_in(tmp_path)) as app:
        app.send("hello" + ENTER)
        app.shows("▌ hello")


@pytest.mark.parametrize("sign", ["👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣"])
def test_a_typed_emoji_is_deleted_by_one_backspace(sign: str, calm: TerminalApp) -> None:
    calm.send(f"ab{sign}\x7fc\x7f{sign}\x1b[D\x1b[3~")
    calm.send("z\r")
    calm.shows("▌ abz")


def paste(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def test_a_paste_with_colour_codes_is_not_sent_line_by_line(calm: TerminalApp):
    calm.send(paste("small one\rsecond \x1b[31mred\x1b[0m line\rthird"))
    calm.shows("third")
    assert "small one" in calm.text and "second" in calm.text
    assert "queued" not in calm.text and "▌" not in calm.text
    calm.quits()


def test_a_huge_paste_with_escapes_is_one_token_and_the_app_stays_responsive():
    line = "2026-11-21 \x1b[32mINFO\x1b[0m something happened again and again\r"
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send(paste(line * 20_000))
        app.shows("lines]")
        app.send(" typed after it")
        app.shows("typed after it")
        assert "queued" not in app.text
        app.quits()


def test_alt_enter_inserts_a_line_break_and_sends_nothing(calm: TerminalApp):
    calm.send("first")
    calm.send("\x1b\r")
    calm.send("second")
    calm.shows("first", "second")
    rows = [row for row in calm.text.splitlines() if "first" in row or "second" in row]
    assert len(rows) == 2 and "Hello." not in calm.text
    calm.quits()


def test_invalid_utf_8_does_not_end_the_input(calm: TerminalApp):
    calm.send(b"caf\xe9 and on")
    calm.shows("and on")
    calm.quits()
