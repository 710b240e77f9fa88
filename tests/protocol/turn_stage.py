"""Turn cases on a real runtime, with a real server and a real endpoint over HTTP."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests import programs
from tests.configurations import config_file, model
from tests.endpoint import Endpoint
from tui.addons.tests.run.outcome import Outcome
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.run import TurnRunner
from tui.core.servers import ServerSpec
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

HANGZHOU = "What is the weather in Hangzhou?"
NO_NAMES = "[models]\n"


def weather(*, name: str = "weather") -> ServerSpec:
    return programs.server(name, Path(__file__).with_name("weather_server.py"))


def asks(question: str = HANGZHOU, **expected: Any) -> TurnCase:
    """Return a turn case."""
    return TurnCase(question, 7, **expected)


class TurnStage:
    """A runtime with one server, and a runner of turn cases."""

    def __init__(self, runtime: Runtime, runner: TurnRunner) -> None:
        self.runtime = runtime
        self.runner = runner

    async def run(self, *cases: TurnCase) -> Sequence[Outcome]:
        return [one async for one in self.runner.outcomes(cases, "weather", Path("weather.mcp.toml"))]

    async def one(self, case: TurnCase) -> Outcome:
        (found,) = await self.run(case)
        return found


@asynccontextmanager
async def turns(
    folder: Path, *tables: str, chosen: str = "", spec: ServerSpec | None = None, **more: Any
) -> AsyncIterator[TurnStage]:
    """Start a runtime with these tables of the configuration; `more` is for the runner."""
    config = config_file(folder, *tables)
    options = Options(
        config=config,
        trust_config=True,
        command="test",
        paced=False,
        save=False,
        model=chosen or None,
        project=False,
    )
    runtime = Runtime(options, {})
    try:
        await runtime.ready(start=False, model=False, taps=False, session=False)
        runtime.host.add(spec or weather())
        await runtime.host.start_all([(spec or weather()).name])
        runner = TurnRunner.of(runtime, chosen=chosen, **more)
        yield TurnStage(runtime, runner)
        await runner.close()
    finally:
        await runtime.shutdown()


def recording_of(stage: TurnStage, target: Path) -> Path:
    """Copy the recording of a runtime that has shut down."""
    return Path(shutil.copy(stage.runtime.traffic.path, target))


def profile(endpoint: Endpoint, name: str = "stub", **more: Any) -> str:
    """Return the table of a model of this endpoint."""
    return model(endpoint, name, **more)
