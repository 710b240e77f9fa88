"""An unreadable configuration: the program opens, reports the error with its line, and is usable."""

from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp

QUIT = "\x11"


def conversation(app: TerminalApp) -> str:
    """The text of the conversation, with wrapped lines joined."""
    lines = [line.partition("│")[0].strip() for line in app.lines]
    return "".join(line if line.endswith(("-", "/")) else f"{line} " for line in lines)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[servers.x]\ncommand = "python\n', "toml:2: is not TOML: a string is not closed"),
        ("[servers.x]\ncommand = 7\n", "toml:2 servers.x.command: must be a string, not a number"),
        ("\x1b]0;pwned\x07 = = =\n", "toml:1: is not TOML: a key is missing"),
    ],
)
def test_a_configuration_error_is_shown_with_its_line(tmp_path: Path, content: str, said: str):
    path = tmp_path / "config.toml"
    path.write_text(content, encoding="utf-8")
    with TerminalApp.real("--demo", "--config", str(path)) as app:
        app.until(lambda: said in conversation(app))
        if "is not TOML" in said:
            told = "Nothing in the file is used until it is corrected"
            app.until(lambda: told in conversation(app))
        app.send("hello\r")
        app.shows("demo model: rule-based")
        assert b"\x1b]0;" not in app.raw
        app.send(QUIT)
        assert app.ended() == 0
        assert app.faults_of_the_terminal() == []


def test_with_an_unreadable_file_no_model_is_used_and_no_starter_is_offered(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers\n", encoding="utf-8")
    with TerminalApp.real("--config", str(path), columns=160, rows=40) as app:
        app.shows("no model", "] is missing", "To check the file again, run mcptui config check.")
        assert "config init" not in "".join(app.lines)
        app.send(QUIT)
        assert app.ended() == 0


def test_a_missing_named_file_is_reported_with_the_command_that_creates_it(tmp_path: Path):
    with TerminalApp.real("--demo", "--no-start", "--config", str(tmp_path / "nowhere.toml")) as app:
        step = "Check the path, or create it with `mcptui config init --config"
        app.until(lambda: f"toml: file not found. {step}" in conversation(app))
        app.send(QUIT)
        assert app.ended() == 0
