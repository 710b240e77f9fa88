"""A coding agent that acts, the configuration that allows it, and a user who answers in a running app."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from tests.configurations import server
from tests.conftest import until
from tests.protocol.command import in_this_process
from tests.terminal.pty_app import ROOT
from tests.unit.addons.agent.agent_stage import connected, text_of
from tui.core.context.context_meter import estimate
from tui.core.questions import Action, AgentQuestion, Question, QuestionAnswer, Questioner
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.locations import config_file

WEATHER = server("weather", ROOT / "sample_config" / "servers" / "weather.py")
CALL: dict[str, Any] = {"server": "weather", "tool": "get_weather", "arguments": {"location": "Beijing"}}

YES, NO = QuestionAnswer(Action.ACCEPT), QuestionAnswer(Action.DECLINE)
ALWAYS = QuestionAnswer(Action.ACCEPT, lasts=True)


@dataclass
class Acting:
    """Calls tools of `mcptui agent`. `said` are all answers, of which `tokens` is the size."""

    client: Client
    said: list[str] = field(default_factory=list)

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of a result that is not an error."""
        text, is_error = await self.result(tool, **arguments)
        assert not is_error, text
        return text

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of a result that is an error."""
        text, is_error = await self.result(tool, **arguments)
        assert is_error, text
        return text

    async def result(self, tool: str, /, **arguments: Any) -> tuple[str, bool]:
        result = await self.client.call_tool(tool, arguments)
        self.said.append(text_of(result))
        return self.said[-1], bool(result.is_error)

    @property
    def tokens(self) -> int:
        return sum(map(estimate, self.said))


@asynccontextmanager
async def acting(*options: str, name: str = "claude-code") -> AsyncIterator[Acting]:
    """Start `mcptui agent` in the current folder, for an agent of this name."""
    failure: Exception | None = None
    async with connected(*options, name=name) as client:
        try:
            yield Acting(client)
        except Exception as error:  # as it is, not in the groups of the client's tasks
            failure = error
    if failure is not None:
        raise failure


def configured(*rules: str, servers: str = WEATHER) -> None:
    """Write the user's own configuration."""
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f'"{rule}"' for rule in rules)
    path.write_text(f"{servers}\n[approvals]\nrules = [{listed}]\n")


def decisions() -> list[list[str]]:
    """Return the record of decisions as the user reads it: each as its columns."""
    return [re.split("  +", line) for line in in_this_process(["decisions"]).out.splitlines()[1:]]


class User(Questioner):
    """A user at the app, who answers what agents ask; to None, not at all."""

    def __init__(self, *answers: QuestionAnswer | None) -> None:
        self.asked: list[AgentQuestion] = []
        self.withdrawn = 0
        self._answers = list(answers)

    async def ask(self, question: Question) -> QuestionAnswer:
        if not isinstance(question, AgentQuestion):
            return await super().ask(question)
        self.asked.append(question)
        if (answer := self._answers.pop(0)) is not None:
            return answer
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.withdrawn += 1


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start agents in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
async def app() -> AsyncIterator[Runtime]:
    """A running app, without its screen."""
    configured("deny weather/list_*", "deny mcptui/keep_*")
    runtime = Runtime(Options(), dict(os.environ))
    runtime.questioner = User()
    try:
        await runtime.ready(model=False, taps=False)
        await until(lambda: runtime.door.is_open and runtime.workbench.is_running("weather"))
        yield runtime
    finally:
        await runtime.shutdown()


def user_of(app: Runtime, *answers: QuestionAnswer | None) -> User:
    """Let a user answer what agents ask from now on."""
    app.questioner = User(*answers)
    return app.questioner
