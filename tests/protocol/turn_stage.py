"""Turn cases on a real runtime, with a real server and a real endpoint over HTTP."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests import programs
from tests.configurations import config_file
from tui.addons.tests.run.outcome import Outcome
from tui.addons.tests.run.plan import PartContext
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.addons.tests.turns.recorded_endpoint import read_turns
from tui.addons.tests.turns.run import run_turns
from tui.core.servers import ServerSpec
from tui.core.traffic import Captured
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

HANGZHOU = "What is the weather in Hangzhou?"
SERVER = "kept"
WEATHER = programs.server(SERVER, Path(__file__).with_name("weather_server.py"))


def asks(question: str = HANGZHOU, **expected: Any) -> TurnCase:
    """Return a turn case, which expects few steps."""
    return TurnCase(question, 7, **{"max_steps": 9, **expected})


class TurnStage:
    """A runtime with one server. `called` is the number of tool calls that were sent to it."""

    def __init__(self, runtime: Runtime, server: str, replay: Path | None) -> None:
        self.runtime = runtime
        self.called = 0
        runtime.traffic.listener = self._see
        self._context = PartContext(runtime, server, None if replay is None else read_turns(replay))

    def _see(self, captured: Captured) -> None:
        self.called += captured.source == SERVER and b'"tools/call"' in captured.raw

    async def run(self, *cases: TurnCase) -> Sequence[Outcome]:
        suite = Suite(Path("weather.mcp.toml"), turns=cases)
        return [one async for one in run_turns(suite, cases, self._context)]

    async def one(self, case: TurnCase) -> Outcome:
        (found,) = await self.run(case)
        return found


@asynccontextmanager
async def turns(
    folder: Path, *tables: str, spec: ServerSpec = WEATHER, replay: Path | None = None, **options: Any
) -> AsyncIterator[TurnStage]:
    """Start a runtime with these tables of the configuration. `replay` is a recording of models."""
    config = config_file(folder, *tables)
    runtime = Runtime(
        Options(config=config, trust_config=True, command="test", paced=False, save=False, **options), {}
    )
    try:
        await runtime.ready(start=False, model=False, taps=False, session=False)
        runtime.host.add(spec)
        await runtime.host.start_all([spec.name])
        yield TurnStage(runtime, spec.name, replay)
    finally:
        await runtime.shutdown()


def kept_recording(stage: TurnStage, target: Path) -> Path:
    """Copy the recording of a runtime that has shut down."""
    return Path(shutil.copy(stage.runtime.traffic.path, target))
