"""The composer in a real terminal: keys in one burst act as one by one, and a paste stays one text."""

import re
from pathlib import Path

from tests.terminal.pty_app import TerminalApp, home_in

ENTER = "\r"


def test_a_complete_command_in_one_burst_runs_at_the_first_enter(idle: TerminalApp, tmp_path: Path):
    idle.send("hello" + ENTER)
    idle.until(lambda: "context" in idle.lines[-2] and "esc stop" not in idle.text)
    idle.send(f"/export html {tmp_path / 'page.html'}" + ENTER)
    idle.shows("Contains: 2 messages, 0 redacted values")
    idle.send(ENTER)
    idle.shows("● conversation")
    idle.send("\x13")
    idle.shows("Exported to")
    assert (tmp_path / "page.html").stat().st_size


def test_text_and_enter_typed_before_the_app_starts_are_sent(tmp_path: Path):
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.send("hello" + ENTER)
        app.shows("▌ hello")


def test_a_typed_emoji_is_deleted_by_one_backspace_and_a_burst_has_a_command_and_text(
    calm: TerminalApp,
) -> None:
    for sign in ("👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣"):
        calm.send(f"ab{sign}\x7fc\x7f{sign}\x1b[D\x1b[3~")
        calm.shows("› ab")
        calm.send("z\r")
        calm.shows("▌ abz")
        calm.answered()
        calm.send("/clea" + ENTER + "after")
        calm.until(lambda: "▌ abz" not in calm.text)
        calm.shows("› after")
        calm.send("\x7f" * len("after"))
        calm.shows("› Ask anything")


def paste(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def test_pastes_of_any_size_line_breaks_and_invalid_utf_8_stay_in_the_input(calm: TerminalApp):
    calm.send(paste("small one\rsecond \x1b[31mred\x1b[0m line\rthird"))
    calm.shows("small one", "second", "third")
    calm.send(" fourth\x1b\r")  # alt+enter
    calm.send(b"caf\xe9 and on")
    calm.shows("and on")
    rows = [row for row in calm.lines if "fourth" in row or "and on" in row]
    assert len(rows) == 2
    line = "2026-11-21 \x1b[32mINFO\x1b[0m something happened again and again\r"
    calm.send(paste(line * 20_000))
    calm.shows("lines]")
    calm.send(" typed after it")
    calm.shows("typed after it")
    assert "queued" not in calm.text and "▌" not in calm.text and "Hello." not in calm.text
    calm.quits()


def test_what_an_input_method_commits_is_text_in_every_field_and_never_an_answer():
    committed = "你好，yn世界"
    with TerminalApp.fake("hostile") as app:
        app.shows("1 of 2")
        for opens, closes in (("", "\x15"), ("\x10", "\x1b")):  # composer, palette
            app.send(opens)
            app.settled()
            app.send(committed)
            app.shows(committed)
            app.send(closes)
            app.until(lambda: committed not in app.text)
        app.send("hi\r")
        app.until(lambda: re.search(r"waiting for approval  [1-9]\d* s", app.text))
        app.send(committed)
        app.shows(committed)
        app.shows("waiting for approval")
