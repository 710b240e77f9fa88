"""`mcptui tap` and `mcptui mock` with the command line of the MCP Inspector, a third-party client."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import programs
from tests.real.installed import EVERYTHING, INSPECTOR, TIME, inspector, needs

pytestmark = [*needs(INSPECTOR, EVERYTHING, TIME), pytest.mark.timeout(120)]


def inspect(command: Path, *request: str) -> tuple[int, str]:
    done = subprocess.run(
        inspector(command, *request), capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout


def program(path: Path, *command: str) -> Path:
    """Wrap a command in a script: the inspector would read the options of the command as its own."""
    path.write_text("#!/bin/sh\nexec " + " ".join(f"'{part}'" for part in command) + "\n")
    path.chmod(0o755)
    return path


ECHO = ("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi")


def test_a_run_passes_unchanged_through_the_tap_and_is_replayed_from_the_recording(tmp_path: Path):
    mcptui = programs.command("-m", "tui")
    tapped = program(tmp_path / "tapped", *mcptui, "tap", "--name", "it", "--", str(EVERYTHING))
    code, shown = inspect(tapped, *ECHO)
    assert (code, json.loads(shown)) == (0, {"content": [{"type": "text", "text": "Echo: hi"}]})
    (recording,) = Path(os.environ["XDG_STATE_HOME"]).glob("**/*.mcptrace")
    mocked = program(tmp_path / "mocked", *mcptui, "mock", str(recording))
    assert inspect(mocked, *ECHO) == (code, shown)


def test_a_mock_of_a_modern_recording_answers_a_client_that_uses_a_handshake(tmp_path: Path):
    mcptui = programs.command("-m", "tui")
    request = [*mcptui, "list", "tools", "--", str(TIME)]
    listed = subprocess.run(request, capture_output=True, timeout=60, check=True)
    assert b"get_current_time" in listed.stdout
    (recording,) = Path(os.environ["XDG_STATE_HOME"]).glob("**/*.mcptrace")
    mocked = program(tmp_path / "mocked", *mcptui, "mock", str(recording))
    code, shown = inspect(mocked, "--method", "tools/list")
    names = [tool["name"] for tool in json.loads(shown)["tools"]]
    assert (code, names) == (0, ["get_current_time", "convert_time"])
