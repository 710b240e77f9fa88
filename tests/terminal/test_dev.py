"""`mcptui dev` as the author of a server uses it: saves, some of them broken, and no key."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.changing_server import tool, write_server
from tests.terminal.pty_app import TerminalApp, alive, home_in

KEPT = """\
[server]
command = {command}

[[call]]
name = "Oslo"
tool = "get_weather"
args = {{ city = "Oslo" }}
text = "sunny"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    path = folder / "server.py"
    write_server(path)
    command = json.dumps([sys.executable, path.name])
    (folder / "changing.mcp.toml").write_text(KEPT.format(command=command))
    return path


def pid_of(app: TerminalApp) -> str:
    found = re.search(r"pid (\d+)", app.text)
    return found[1] if found else ""


def test_each_save_is_told_and_nothing_is_left(path: Path, tmp_path: Path):
    command = ("dev", "--era", "legacy", "--", sys.executable, path.name)
    with TerminalApp.real(*command, env=home_in(tmp_path / "home"), cwd=path.parent, columns=130) as app:
        app.shows("WORKBENCH", "RUNNING", "watching **/*.py", "1 kept", seconds=40)
        processes = app.children()
        first = pid_of(app)
        write_server(path, [tool("get_weather", "city"), tool("get_alerts")])
        app.shows("restarted in", "get_alerts: new", "1 kept: 1 passed", "D changes")
        second = pid_of(app)
        assert second != first
        write_server(path, extra="def broken(:")
        app.shows("server.py:4", "SyntaxError", "the old process still runs")
        assert pid_of(app) == second
        write_server(path, [tool("get_weather", "city", "day")], result="rainy")
        app.shows("get_alerts: removed", "get_weather: breaking", "1 kept: 1 differs")
        processes += app.children()
        app.send("D")
        app.shows("CHANGED AT THE LAST RESTART", "new required argument")
        app.send("\x1b")
        app.until(lambda: "CHANGED AT THE LAST" not in app.text)
        app.send("\x11")  # ctrl+q
        assert app.process.wait(20) == 0
        assert alive(processes) == []
