"""A folder with a test file and the server that it tests, whose answers a test changes."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.ui.real_stage import RealApp
from tui.addons.tests.run.launch import suite_server
from tui.addons.tests.suite.read import read_suite
from tui.runtime.permission.consent import store_answer
from tui.runtime.permission.subjects import server_subject

SERVER = Path(__file__).with_name("kept_server.py")
CASES = '''
# kept in November
[[call]]
name = "the weather"
tool = "weather"
text = """
Hangzhou: rain, <number> °C.
station 5"""

[[call]]
name = "an order"
tool = "order"
result = '{ "id": "<id>", "state": "open" }'   # other members may follow
within = "10s"
'''
AS_KEPT = {"weather": "Hangzhou: rain, 21 °C.\nstation 5", "order": {"id": "a-1", "state": "open"}}
CHANGED = {"weather": "Hangzhou: rain, 22 °C.\nstation 7", "order": {"id": "a-2", "state": "closed"}}


@dataclass(frozen=True)
class Kept:
    """The folder, which is the current one."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "weather.mcp.toml"

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Let the server return other results."""
        (self.folder / "answers.json").write_text(json.dumps(answers))

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", str(SERVER), str(self.folder / "answers.json")]

    @property
    def config(self) -> str:
        """A configuration with the same server."""
        program, *args = self.command
        return f"[servers.weather]\ncommand = {json.dumps(program)}\nargs = {json.dumps(args)}\n"

    def agree(self) -> None:
        """Store consent for the server of the file, as keeping a call does."""
        subject = server_subject(suite_server(read_suite(self.file), {}).spec)
        assert subject is not None and not store_answer(subject, allowed=True, by="key")


def kept_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, answers: Mapping[str, Any] = AS_KEPT) -> Kept:
    """Make the folder and enter it."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    kept = Kept(Path(os.getcwd()))
    kept.file.write_text(f"[server]\ncommand = {json.dumps(kept.command)}\n{CASES}")
    kept.answer(answers)
    return kept


async def open_tests(app: RealApp, *texts: str) -> None:
    """Open the screen of all cases, and wait until it shows some texts."""
    await app.press("alt+t")
    await app.shows("TESTS", *texts)


async def run_all(app: RealApp, *texts: str) -> None:
    """Run all cases, and wait for the end of the run."""
    runs = app.app.screen.browser.runs
    before = runs.doing
    await app.press("R")
    await until(lambda: runs.doing is not before, what="the run begins")  # a short one has ended by now
    await until(lambda: not runs.is_running, what="the run ends")
    await app.shows(*texts)
