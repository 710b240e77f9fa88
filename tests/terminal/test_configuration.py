"""The configuration in a real terminal: unreadable, edited with an editor, its servers edited in the app."""

import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive, home_in


def conversation(app: TerminalApp) -> str:
    """The text of the conversation, with wrapped lines joined."""
    lines = [line.partition("│")[0].strip() for line in app.lines]
    return "".join(line if line.endswith(("-", "/")) else f"{line} " for line in lines)


def test_a_configuration_error_is_shown_with_its_line(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("\x1b]0;pwned\x07 = = =\n", encoding="utf-8")
    with TerminalApp.real("--demo", "--config", str(path)) as app:
        for said in (
            "toml:1: is not TOML: a key is missing",
            "Nothing in the file is used until it is corrected",
        ):
            app.until(lambda said=said: said in conversation(app))
        app.send("hello\r")
        app.shows("demo model: rule-based")
        assert b"\x1b]0;" not in app.raw
        app.quits()


def test_with_an_unreadable_file_no_model_is_used_and_no_starter_is_offered(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers\n", encoding="utf-8")
    with TerminalApp.real("--config", str(path), columns=160, rows=40) as app:
        app.shows("no model", "] is missing", "To check the file again, run mcptui config check.")
        assert "config init" not in "".join(app.lines)
        app.quits()


def test_a_missing_named_file_is_reported_with_the_command_that_creates_it(tmp_path: Path):
    with TerminalApp.real("--demo", "--no-start", "--config", str(tmp_path / "nowhere.toml")) as app:
        step = "Check the path, or create it with `mcptui config init --config"
        app.until(lambda: f"toml: file not found. {step}" in conversation(app))
        app.quits()


EDITOR = """
import os, sys
path, text = sys.argv[-1], open(sys.argv[-1]).read()
replacing, code = open(os.environ["WHAT"]).read().split("|")
old, new = replacing.split(">")
if old:
    open(path, "w").write(text.replace(old, new))
sys.exit(int(code))
"""


@pytest.fixture
def what(tmp_path: Path) -> Path:
    (tmp_path / "editor.py").write_text(EDITOR)
    (tmp_path / "config.toml").write_text('# mine\n[ui]\ntheme = "harbor"\n[servers]\n')
    return tmp_path / "what"


def app_with(what: Path) -> TerminalApp:
    editor = f"{sys.executable} {what.parent / 'editor.py'}"
    env = {"EDITOR": editor, "VISUAL": "", "WHAT": str(what), **home_in(what.parent)}
    return TerminalApp.real("--demo", "--config", str(what.parent / "config.toml"), env=env)


def test_a_configuration_is_edited_rejected_corrected_and_effective_without_a_restart(what: Path):
    maths = Path(__file__).parents[2] / "sample_config" / "servers" / "legacy_math.py"
    file = what.parent / "config.toml"
    with app_with(what) as app:
        app.shows("No servers configured.")
        what.write_text("[servers]>[servers]\nserver = 3\n|0")
        app.send("/config\r")
        app.shows("The configuration has errors.", "servers.server:")
        table = f'command = "{sys.executable}"\nargs = ["{maths}"]\ntransport = "lines"'
        what.write_text(f"server = 3>[servers.maths]\n{table}|0")
        app.until(lambda: app.send("\x1b") or "edit again" not in app.text)
        app.send("/config\r")
        app.shows("● maths")
        what.write_text(">|3")
        app.send("/config\r")
        app.shows("exited with code 3")
        what.write_text(">|0")
        app.send("/config\r")
        app.shows("Configuration unchanged.")
        assert file.read_text().startswith("# mine\n")
        app.quits()


MATHS = Path(__file__).parents[2] / "sample_config" / "servers" / "legacy_math.py"
SAVE, REMOVE, RIGHT = "\x13", "\x04", "\x1b[C"
F3 = "\x1bOR"


def test_a_server_is_added_corrected_disabled_enabled_and_removed(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("# my own words\n[servers]\n\n[limits]\nmax_steps = 3  # few\n")

    def servers():
        return tomllib.loads(file.read_text())["servers"]

    with TerminalApp.real("--demo", "--config", str(file)) as app:
        app.shows("No servers configured.")
        app.send(F3)
        app.until(lambda: "a add" in app.lines[-1])
        app.send("a")
        app.shows("ADD SERVER")
        app.send(f"{sys.executable} {MATHS}")
        app.shows("[servers.legacy_math]")
        app.send(SAVE)
        app.shows("✗ legacy_math", 'Set transport = "lines"')
        app.send("e")
        app.shows("EDIT SERVER   “legacy_math”")
        app.send("\t\t")
        app.send(RIGHT + RIGHT)
        app.shows("(•) lines", 'transport = "lines"')
        app.send(SAVE)
        app.shows("● legacy_math", "5 tools")
        processes = app.children()
        app.send("o")
        app.shows("STOPPED  disabled")
        wait_until(lambda: servers()["legacy_math"].get("disabled") is True)
        app.send("o")
        app.shows("● legacy_math", "5 tools")
        app.send(REMOVE)
        app.shows("Remove the server “legacy_math” from the configuration?")
        app.until(lambda: app.send("y") or "Removed the server “legacy_math”." in app.text)
        assert servers() == {}
        assert file.read_text().startswith("# my own words\n") and "# few" in file.read_text()
        app.quits()
        wait_until(lambda: not alive(processes), 5, "every process to be gone")
