"""`mcptui traffic` in CI: findings for code scanning, and expectations, on the recording of `mcptui call`."""

import json
import sys
from pathlib import Path

import pytest

from tests.protocol.command import mcptui

SERVER = Path(__file__).with_name("weather_server.py")
CALL = ("call", "get_weather", "location=NYC", "--", sys.executable, str(SERVER))


async def test_a_recording_is_judged_and_reported_for_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(SERVER.parent)
    called = await mcptui(*CALL)
    assert called.code == 0, called.err
    held = await mcptui("traffic", "--expect-tool", "get_*", "--max-latency", "30s", "--no-errors")
    assert (held.code, held.out.split(" for ")[0]) == (0, "3 expectations held")
    missing = await mcptui("traffic", "--expect-tool", "get_wether")
    assert (missing.code, missing.out.count("\n")) == (1, 1)
    assert "Did you mean “get_weather”?" in missing.out
    log = tmp_path / "findings.sarif"
    linted = await mcptui("traffic", "--lint", "--report", f"sarif={log}")
    assert linted.code == 0, linted.out
    (run,) = json.loads(log.read_text())["runs"]
    assert len(run["tool"]["driver"]["rules"]) > 20
    failed = await mcptui("traffic", "--lint", "--report", "sarif=/dev/full")
    assert failed.code == 2
    assert failed.err.splitlines()[-1].startswith("mcptui: /dev/full: cannot write the file (")
