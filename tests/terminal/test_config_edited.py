"""The configuration edited in a real terminal with a real editor program, effective on saving."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp, home_in

EDITOR = """
import os, sys
path, text = sys.argv[-1], open(sys.argv[-1]).read()
replacing, code = open(os.environ["WHAT"]).read().split("|")
old, new = replacing.split(">")
if old:
    open(path, "w").write(text.replace(old, new))
sys.exit(int(code))
"""
QUIT = "\x11"


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
        app.send(QUIT)
        assert app.ended() == 0
        assert app.faults_of_the_terminal() == []
