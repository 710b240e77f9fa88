"""A runtime for the screens: the real turn loop over a scripted model, scripted tools and a fake host."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.ui.fake_changes import FakeChanges, FakeConfiguration, FakeModelChanges, FakeTrust
from tests.ui.fake_chats import FakeChats
from tests.ui.fake_host import FakeHost, crashed, running
from tests.ui.fake_workbench import FakeCalls, FakeWorkbench
from tests.ui.traffic_stage import Recorded
from tests.unit.core.stand_ins import policy_of
from tui.core.addons import service
from tui.core.context.context_parts import ContextPart, DefinitionTokens
from tui.core.conversation.conversation import CallRequest, Conversation
from tui.core.permission.approval_policy import TurnPermission
from tui.core.ports import (
    Approver,
    DecisionRecord,
    ModelPart,
    ModelRequest,
    MonotonicClock,
    ReplyPart,
    TextPart,
    Usage,
)
from tui.core.secrets.redact import Redactor
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnTools
from tui.runtime.example_questions import Example
from tui.runtime.options import Options
from tui.runtime.permission.approvals import Approvals
from tui.settings.state.project_file import ProjectFile

Script = Callable[[ModelRequest], AsyncIterator[ModelPart]]


def says(*texts: str) -> list[ModelPart]:
    """Return a reply of text only."""
    return [*(TextPart(text) for text in texts), ReplyPart(usage=Usage(100, 20))]


def calls(name: str, arguments: str = "{}", call_id: str = "call-1") -> list[ModelPart]:
    """Return a reply that calls one tool."""
    return [ReplyPart(calls=(CallRequest(call_id, name, arguments),), finish="tool_calls")]


class ScriptedModel:
    """Gives one reply after the other, and waits for each event in a reply."""

    def __init__(self, *replies: Sequence[ModelPart | asyncio.Event]) -> None:
        self.label = "demo model, offline"
        self.notice = "demo model: rule-based, not a language model"
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else says("That is all.")
        for part in reply:
            if isinstance(part, asyncio.Event):
                await part.wait()
            else:
                yield part


@dataclass
class FakeToolbox:
    """Tools with fixed results."""

    offered: tuple[Tool, ...] = ()
    answers: dict[str, ToolResult] = field(default_factory=dict)
    called: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def tools(self) -> Sequence[Tool]:
        return self.offered

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return ""

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        self.called.append((tool.name, arguments))
        return self.answers.get(tool.name, ToolResult((TextContent(f"{tool.name} did it"),)))


DELETE = Tool("notes", "delete_note", destructive=True, trusted=True, digest="d1")
WEATHER = Tool("weather", "get_weather", read_only=True, trusted=True, digest="w1")


class FakeRequestContext:
    """The project instructions and the tokens that a test sets."""

    def __init__(self) -> None:
        self.project = ProjectFile(Path("/nowhere/answers.json"))
        self.project_words = self.project_tokens = ""
        self.measured = False
        self.offers = 0
        self.marks: dict[tuple[str, str], str] = {}
        self.tokens: dict[str, DefinitionTokens] = {}
        self.shown_parts: list[ContextPart] = []

    def definition_tokens(self) -> Mapping[str, DefinitionTokens]:
        return self.tokens

    latest_definition_tokens = definition_tokens

    def tool_marks(self) -> Mapping[tuple[str, str], str]:
        return self.marks


class FakeRuntime:
    """`tui.runtime.runtime.Runtime` without configuration, processes or network.

    `ready()` waits for `gate`, if set.
    """

    def __init__(
        self,
        *replies: Sequence[ModelPart | asyncio.Event],
        host: FakeHost | None = None,
        tools: tuple[Tool, ...] = (WEATHER, DELETE),
        limits: Limits | None = None,
        gate: asyncio.Event | None = None,
        theme: str = "harbor",
        keys: Mapping[str, str] | None = None,
        problems: Sequence[str] = (),
    ) -> None:
        self.model = ScriptedModel(*replies)
        self.toolbox = FakeToolbox(tools)
        self.host = host or FakeHost(running("weather"), running("notes", 4), crashed("slow"))
        self.limits = limits or Limits()
        self.theme_name = theme
        self.keys: Mapping[str, str] = keys or {}
        self.problems = problems
        self.warnings: frozenset[str] = frozenset()
        self.unsaved = self.unrecorded = self.failed_thread = ""
        self.traffic = SimpleNamespace(unsent="", path=Path())
        self.decided: list[DecisionRecord] = []
        self.decisions = SimpleNamespace(problem="", add=self.decided.append)
        self.turn_context = SimpleNamespace(limits=self.limits, policy=policy_of(), toolbox=self.toolbox)
        self.conversation = Conversation()
        self.is_ready = self.is_unconfigured = False
        self.options, self.watches, self.skill_loader = Options(), None, None
        self.door = None
        self.redactor = Redactor()
        self.recorded = Recorded()
        self.recording = self.recorded.recording()
        self.workbench = FakeWorkbench()
        for tool in tools:
            self.workbench.offered.setdefault(tool.server, []).append(tool)
        tray = service("breakpoints")
        self.breakpoints = tray and tray(lambda: self.limits.call_timeout, Path("/nonexistent"))
        self.calls = FakeCalls()
        self.configuration = FakeConfiguration(self.host)
        self.approvals: Any = Approvals(self.configuration, self.turn_context.policy, trust=True)
        self.server_changes = FakeChanges(self.configuration, self.host)
        self.trust = FakeTrust(self.host)
        self.model_changes = FakeModelChanges()
        self.conversations = FakeChats(self.conversation, self.continue_turn)
        self.snippets: dict[str, str] = {}
        self.request = FakeRequestContext()
        self.conversations.context_parts = lambda: self.request.shown_parts
        self.revision = 1
        self.shut_down = self.turns = 0
        self._gate = gate

    @property
    def model_label(self) -> str:
        return self.model.label

    @property
    def model_notice(self) -> str:
        return self.model.notice

    async def ready(self) -> None:
        if self._gate is not None:
            await self._gate.wait()
        self.is_ready = True

    def continue_turn(self, approver: Approver) -> Turn:
        deps = TurnDeps(
            TurnModel(self.model),
            TurnTools(self.toolbox),
            TurnPermission(approver, self.turn_context.policy),
            self.limits,
            MonotonicClock(),
        )
        self.turns += 1
        return Turn(self.conversation, deps, self.turns)

    def examples(self) -> Sequence[Example]:
        return (
            Example("What's the weather in Hangzhou?", "weather › get_weather"),
            Example("Add a note: buy milk", "notes › add_note"),
            Example("Which notes mention milk?", "notes › search_notes"),
        )

    async def shutdown(self) -> None:
        self.shut_down += 1
