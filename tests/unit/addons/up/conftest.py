"""A running app without a screen, with two servers that are up."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.terminal.pty_app import ROOT
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

SAMPLES = ROOT / "sample_config" / "servers"


@pytest.fixture(autouse=True)
def quick_commands(quick_python: None) -> None:
    """Start commands as forks."""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(server("weather", SAMPLES / "weather.py") + server("notes", SAMPLES / "notes.py"))
    monkeypatch.setenv("MCPTUI_CONFIG", str(file))
    return file


@pytest.fixture
async def runtime(config: Path) -> AsyncIterator[Runtime]:
    made = Runtime(Options(trust_config=True), dict(os.environ))
    try:
        await made.ready(model=False, taps=False)
        await until(lambda: made.door.is_open and all(map(made.workbench.is_running, ("weather", "notes"))))
        yield made
    finally:
        await made.shutdown()
