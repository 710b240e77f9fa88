"""The app with a configuration that somebody else wrote, in a terminal."""

import json
import sys
from pathlib import Path

from tests.terminal.pty_app import TerminalApp, home_in


def test_a_planted_server_is_shown_and_runs_only_after_a_yes_which_is_kept(tmp_path: Path):
    planted, home = tmp_path / "EXECUTED", tmp_path / "home"
    home.mkdir()
    code = f"open({str(planted)!r}, 'w')"
    config = tmp_path / "mcp.json"
    config.write_text(
        json.dumps({"mcpServers": {"planted": {"command": sys.executable, "args": ["-c", code]}}})
    )
    argv = [sys.executable, "-m", "tui", "--demo", "--config", str(config)]

    with TerminalApp(argv, env=home_in(home)) as app:
        app.shows("planted comes from the file")
        assert "An argument is itself a program." in app.text and not planted.exists()
        app.until(lambda: "planted comes from" not in app.text or app.send(b"\x18"))  # ctrl+x
        app.shows("needs consent")
        assert not planted.exists()

    with TerminalApp(argv, env=home_in(home)) as app:
        app.shows("planted comes from the file")
        app.until(lambda: planted.exists() or app.send(b"\x13"))  # ctrl+s
    planted.unlink()

    with TerminalApp(argv, env=home_in(home)) as app:
        app.until(planted.exists)
        assert "planted comes from" not in app.text
