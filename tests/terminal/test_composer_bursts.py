"""The composer in a real terminal: keys in one burst have the same effect as one by one."""

from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp, home_in

ENTER, ESCAPE, TAB, STEER, SEARCH = "\r", "\x1b", "\t", "\x13", "\x12"


def test_a_command_in_one_burst_runs_and_the_text_after_it_is_inserted():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send("/clea" + ENTER + "after")
        app.shows("› after")


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


def test_escape_after_a_slash_closes_the_list_and_does_not_stop_the_turn():
    with TerminalApp.fake("endless") as app:
        app.shows("2 of 3")
        app.send("go" + ENTER)
        app.shows("It begins.")
        app.send("/mo" + ESCAPE)
        app.until(lambda: "› /mo" in app.text and "Switch model" not in app.text)
        app.send("x")
        app.shows("› /mox", "esc stop")


def test_a_file_is_completed_in_one_burst(tmp_path: Path):
    with TerminalApp.fake("calm", env=home_in(tmp_path)) as app:
        app.shows("2 of 3")
        app.send("read @pyproj" + TAB + "please" + ENTER)
        app.shows("read @pyproject.toml please", "Hello.")


def test_text_typed_before_a_history_search_is_kept_as_the_draft():
    with TerminalApp.fake("calm") as app:
        app.shows("2 of 3")
        app.send("hi" + ENTER)
        app.shows("Hello.")
        app.send("draft" + SEARCH + "h")
        app.shows("history › h", "› hi")
        app.send(ESCAPE)
        app.shows("› draft")


def test_the_steer_key_queues_the_typed_message():
    with TerminalApp.fake("endless") as app:
        app.shows("2 of 3")
        app.send("go" + ENTER)
        app.shows("It begins.")
        app.send("and now" + STEER + "draft")
        app.shows("1 message queued for the next step", "› draft")


def test_text_and_enter_typed_before_the_app_starts_are_sent(tmp_path: Path):
    with TerminalApp.real("--demo", env=home_in(tmp_path)) as app:
        app.send("hello" + ENTER)
        app.shows("▌ hello")


@pytest.mark.parametrize("sign", ["👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣"])
def test_a_typed_emoji_is_deleted_by_one_backspace(sign: str) -> None:
    with TerminalApp.fake("calm") as app:
        app.shows("Ask anything", "2 of 3")
        app.send(f"ab{sign}\x7fc\x7f{sign}\x1b[D\x1b[3~")
        app.send("z\r")
        app.shows("▌ abz")
