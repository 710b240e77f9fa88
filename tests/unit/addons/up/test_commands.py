"""Commands on a server that is up in a running app: a real server, and real commands."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.terminal.pty_app import ROOT
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

WEATHER = ROOT / "sample_config" / "servers" / "weather.py"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(server("weather", WEATHER) + server("notes", WEATHER.with_name("notes.py")))
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


class Done(NamedTuple):
    code: int
    out: str
    err: str


async def mcptui(*words: str, cwd: Path | None = None, stdin: str = "", **env: str) -> Done:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tui", *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **env},
    )
    out, err = await process.communicate(stdin.encode())
    return Done(process.returncode or 0, out.decode(), err.decode())


async def test_a_call_uses_the_server_that_is_up_and_says_so(runtime: Runtime):
    done = await mcptui("call", "weather", "get_weather", "location=Oslo")
    assert done.code == 0 and "Oslo" in done.out
    assert done.err.startswith("· using weather, up since ") and f"in mcptui (pid {os.getpid()})" in done.err
    assert "starting" not in done.err
