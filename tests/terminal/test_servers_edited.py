"""Servers added, changed, disabled and removed in a real terminal, effective at once."""

import sys
import tomllib
from pathlib import Path

from tests.conftest import wait_until
from tests.terminal.pty_app import TerminalApp, alive

MATHS = Path(__file__).parents[2] / "sample_config" / "servers" / "legacy_math.py"
QUIT, SAVE, REMOVE, RIGHT = "\x11", "\x13", "\x04", "\x1b[C"
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
        app.shows("Add server")
        app.send(f"{sys.executable} {MATHS}")
        app.shows("[servers.legacy_math]")
        app.send(SAVE)
        app.shows("✗ legacy_math", 'Set transport = "lines"')
        app.send("e")
        app.shows("Edit server “legacy_math”")
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
        app.send(QUIT)
        assert app.ended() == 0
        assert b"Traceback" not in app.raw
        wait_until(lambda: not alive(processes), 5, "every process to be gone")
