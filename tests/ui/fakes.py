"""A runtime for the screens: the real turn loop over a scripted model, scripted tools and a fake host."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.ui.fake_chats import FakeChats
from tests.ui.traffic_stage import Recorded
from tui.core.context.context_parts import ContextPart
from tui.core.context.definition_tokens import DefinitionTokens
from tui.core.conversation.conversation import CallRequest, Conversation
from tui.core.errors import UsageError
from tui.core.example_questions import Example
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
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.core.tasks import Task
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult
from tui.core.turn.approval_policy import Policy
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps
from tui.core.workbench import (
    CallMemory,
    Completions,
    PromptInfo,
    PromptResult,
    RawAnswer,
    ResourceInfo,
    ResourceSubscription,
    ServerIdentity,
)
from tui.runtime.model_changes import ModelValues, ProviderChoice
from tui.runtime.server_changes import Draft, ServerValues
from tui.settings.state.project_file import ProjectFile

Script = Callable[[ModelRequest], AsyncIterator[ModelPart]]


def says(*texts: str) -> list[ModelPart]:
    """Return a reply that is only text."""
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


class FakeHost:
    """Servers that start and stop at once when requested."""

    def __init__(self, *statuses: ServerStatus) -> None:
        self.revision = 1
        self.on_change: Callable[[str], None] = lambda name: None
        self.asked: list[tuple[str, str]] = []
        self.logs: dict[str, tuple[str, ...]] = {}
        self._statuses = {status.name: status for status in statuses}

    def statuses(self) -> tuple[ServerStatus, ...]:
        return tuple(self._statuses.values())

    def status(self, name: str) -> ServerStatus:
        return self._statuses[name]

    def stderr(self, name: str) -> tuple[str, ...]:
        return self.logs.get(name, ())

    def put(self, status: ServerStatus) -> None:
        self._statuses[status.name] = status
        self.revision += 1
        self.on_change(status.name)

    def review_changes(self, name: str, tool: str | None = None) -> None:
        self.asked.append(("review", name if tool is None else f"{name}/{tool}"))

    def request_start(self, name: str) -> None:
        self.asked.append(("start", name))
        self.put(replace(self._statuses[name], state=ServerState.RUNNING, pid=4711, tools=2))

    def request_stop(self, name: str) -> None:
        self.asked.append(("stop", name))
        self.put(replace(self._statuses[name], state=ServerState.STOPPED, reason=StopReason.REQUESTED))

    async def sign_in(self, name: str) -> str:
        self.asked.append(("sign in", name))
        self.put(replace(self._statuses[name], sign_in="signed in until 14:30"))
        return "in the keychain"

    async def sign_out(self, name: str) -> int:
        self.asked.append(("sign out", name))
        self.put(replace(self._statuses[name], sign_in="not signed in"))
        return 1

    def request_restart(self, name: str) -> None:
        self.asked.append(("restart", name))
        self.put(replace(self._statuses[name], state=ServerState.RUNNING))


def running(name: str, tools: int = 2) -> ServerStatus:
    """Return the status of a running server."""
    return ServerStatus(name, ServerSpec(name, "python"), ServerState.RUNNING, tools=tools, pid=4000)


def crashed(name: str) -> ServerStatus:
    """Return the status of a server that exited by itself."""
    return ServerStatus(
        name,
        ServerSpec(name, "python"),
        ServerState.STOPPED,
        StopReason.EXITED,
        detail="exited with code 1 after 12 s",
        next_step="Press l for its log, r to retry.",
        exit_code=1,
        stderr_last="RuntimeError: asked to crash",
    )


DELETE = Tool("notes", "delete_note", destructive=True, trusted=True, digest="d1")
WEATHER = Tool("weather", "get_weather", read_only=True, trusted=True, digest="w1")


class FakeWorkbench:
    """`tui.core.workbench.Workbench` over values that a test sets."""

    def __init__(self) -> None:
        self.offered: dict[str, list[Tool]] = {}
        self.schemas: dict[str, Mapping[str, Any]] = {}
        self.listed: Sequence[ResourceInfo] = ()
        self.known_prompts: Sequence[PromptInfo] = ()
        self.problem = ""
        self.wrong = ""
        self.who = ServerIdentity()
        self.answers: dict[str, ToolResult | Callable[[Mapping[str, Any]], ToolResult]] = {}
        self.said = PromptResult()
        self.values: dict[str, Sequence[str]] = {}
        self.subscribed: dict[str, ResourceSubscription] = {}
        self.completed: list[tuple[str, str, Mapping[str, str]]] = []
        self.called: list[tuple[str, Any, str]] = []
        self.gate: asyncio.Event | None = None
        self.progress: list[tuple[float, float | None, str]] = []
        self.cancelled = 0
        self.relisted: list[str] = []
        self.left: list[Task] = []

    async def identity(self, server: str) -> ServerIdentity:
        return self.who

    def tools(self, server: str) -> Sequence[Tool]:
        return self.offered.get(server, [])

    def relist(self, server: str) -> None:
        self.relisted.append(server)

    def output_schema(self, tool: Tool) -> Mapping[str, Any] | None:
        return self.schemas.get(tool.name)

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return self.wrong

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        return self.listed, self.problem

    async def prompts(self, server: str) -> tuple[Sequence[PromptInfo], str]:
        return self.known_prompts, self.problem

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], *, call: str, seconds: float, progress: ProgressSink
    ) -> ToolResult:
        self.called.append((tool.name, arguments, call))
        for step in self.progress:
            progress(*step)
        await self._wait()
        answer = self.answers.get(tool.name, ToolResult((TextContent(f"{tool.name} did it"),)))
        return answer(arguments) if callable(answer) else answer

    def tasks(self, server: str) -> Sequence[Task]:
        return self.left

    def task_of(self, server: str, call: str) -> Task | None:
        return next((task for task in self.left if task.call == call), None)

    async def fetch_task(self, task: Task, *, call: str, progress: ProgressSink) -> ToolResult:
        self.called.append((task.id, None, call))
        self.left = [replace(task, call=call)]
        for step in self.progress:
            progress(*step)
        await self._wait()
        self.left = []
        return ToolResult((TextContent("fetched"),))

    async def cancel_task(self, task: Task) -> str:
        self.called.append((f"cancel {task.id}", None, task.call))
        self.left = []
        return ""

    async def read_resource(self, server: str, uri: str, *, call: str, seconds: float) -> ToolResult:
        self.called.append((uri, None, call))
        await self._wait()
        answer = self.answers.get(uri, ToolResult((TextContent(f"this is {uri}"),)))
        return answer({}) if callable(answer) else answer

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str], *, call: str, seconds: float
    ) -> PromptResult:
        self.called.append((name, arguments, call))
        await self._wait()
        return self.said

    def subscriptions(self, server: str) -> Mapping[str, ResourceSubscription]:
        return self.subscribed

    def subscribe(self, server: str, uri: str) -> str:
        if not self.problem:
            self.subscribed[uri] = ResourceSubscription()
        return self.problem

    def unsubscribe(self, server: str, uri: str) -> None:
        self.subscribed.pop(uri, None)

    async def complete(
        self, about: ResourceInfo | PromptInfo, argument: str, value: str, others: Mapping[str, str]
    ) -> Completions:
        self.completed.append((argument, value, others))
        return Completions(tuple(one for one in self.values.get(argument, ()) if one.startswith(value)))

    async def request(
        self, server: str, method: str, params: Mapping[str, Any] | None, *, call: str, seconds: float
    ) -> RawAnswer:
        self.called.append((method, params, call))
        return RawAnswer()

    async def _wait(self) -> None:
        if self.gate is None:
            return
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


class FakeChoices:
    """`tui.runtime.server_choices.ServerChoices` that changes only the fake host."""

    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self.problem = ""

    async def toggle_tool(self, server: str, tool: str) -> str:
        status = self._host.status(server)
        off = tuple(name for name in status.spec.off if name != tool)
        if off == status.spec.off:
            off = (*off, tool)
        return self._put(server, off=off)

    async def toggle_all(self, server: str) -> str:
        return self._put(server, off=() if self._host.status(server).spec.off else ("*",))

    async def toggle_instructions(self, server: str) -> str:
        return self._put(server, instructions=not self._host.status(server).spec.instructions)

    async def toggle_resources(self, server: str) -> str:
        return self._put(server, offer_resources=not self._host.status(server).spec.offer_resources)

    async def set_log_level(self, server: str, level: str) -> str:
        return self._put(server, log_level=level)

    def _put(self, server: str, **fields: Any) -> str:
        status = self._host.status(server)
        self._host.put(replace(status, spec=replace(status.spec, **fields)))
        return self.problem


class FakeTrust:
    """`tui.runtime.servers.server_trust.ServerTrust` that changes only the fake host."""

    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self.problem = ""

    async def toggle(self, server: str) -> str:
        status = self._host.status(server)
        trusted = status.spec.trusted is not True
        self._host.put(replace(status, spec=replace(status.spec, trusted=trusted)))
        return self.problem


class FakeChanges:
    """`tui.runtime.server_changes.ServerChanges` that writes down what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.problem = ""

    def values(self, name: str) -> ServerValues:
        if self.problem:
            raise UsageError(self.problem)
        return ServerValues("python3 weather.py", "TOKEN=***", "stdio")

    def draft(self, name: str, typed: ServerValues, *, changes: str = "") -> Draft:
        if not typed.line.startswith(("python3", "https://")):
            raise UsageError("there is no such command on PATH.")
        notes = ("the environment variable TOKEN is not set",) if "TOKEN" in typed.values else ()
        name = name or "weather"
        return Draft(name, {}, f'[servers.{name}]\nline = "{typed.line}"\n# {typed.transport}\n', notes)

    async def add(self, draft: Draft) -> None:
        await self._do("add", draft.toml)

    async def change(self, draft: Draft) -> None:
        await self._do("change", draft.toml)

    async def toggle(self, name: str) -> None:
        await self._do("toggle", name)

    async def remove(self, name: str) -> None:
        await self._do("remove", name)

    async def _do(self, what: str, name: str) -> None:
        if self.problem:
            raise UsageError(self.problem)
        self.done.append((what, name))


class FakeModelChanges:
    """`tui.runtime.model_changes.ModelChanges` that writes down what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ModelValues]] = []
        self.problem = ""

    def providers(self) -> Sequence[ProviderChoice]:
        key_page = "https://keys.example"
        return [
            ProviderChoice("big", "Big", "https://big.example/v1", "BIG_KEY", True, "big-1", key_page),
            ProviderChoice("", "Other endpoint"),
        ]

    def is_set(self, variable: str) -> bool:
        return variable == "BIG_KEY"

    def free_name(self, wanted: str) -> str:
        return wanted or "model"

    def table(self, values: ModelValues) -> dict[str, Any]:
        if not values.model:
            raise UsageError("no model selected")
        return {}

    async def offered(self, values: ModelValues) -> Sequence[str]:
        return ("small-1", "big-1") if values.base_url else ()

    async def try_out(self, values: ModelValues) -> None:
        self.done.append(("try", values))
        if self.problem:
            raise UsageError(self.problem)

    async def add(self, values: ModelValues) -> None:
        self.done.append(("add", values))


class FakeCalls:
    """`tui.settings.state.stored_calls.StoredCalls` in memory."""

    def __init__(self) -> None:
        self.memory = CallMemory()

    async def load(self) -> None:
        pass

    async def change(self, change: Callable[[CallMemory], CallMemory]) -> None:
        self.memory = change(self.memory)


class FakeRequestContext:
    """The project instructions and the tokens that a test sets."""

    def __init__(self) -> None:
        self.project = ProjectFile(Path("/nowhere/answers.json"))
        self.project_words = self.project_tokens = ""
        self.measured = False
        self.tokens: dict[str, DefinitionTokens] = {}
        self.shown_parts: list[ContextPart] = []

    def definition_tokens(self) -> Mapping[str, DefinitionTokens]:
        return self.tokens

    latest_definition_tokens = definition_tokens

    def parts(self) -> Sequence[ContextPart]:
        return self.shown_parts


class FakeRuntime:
    """`tui.runtime.runtime.Runtime` without configuration, processes or network.

    `ready()` waits for `gate`, if there is one.
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
        self.unsaved = self.unrecorded = ""
        self.decided: list[DecisionRecord] = []
        self.decisions = SimpleNamespace(problem="", add=self.decided.append)
        self.turn_context = SimpleNamespace(policy=Policy(), toolbox=self.toolbox)
        self.conversation = Conversation()
        self.is_ready = False
        self.redactor = Redactor()
        self.frames = 214
        self.recorded = Recorded()
        self.recording = self.recorded.recording()
        self.workbench = FakeWorkbench()
        for tool in tools:
            self.workbench.offered.setdefault(tool.server, []).append(tool)
        self.calls = FakeCalls()
        self.server_choices = FakeChoices(self.host)
        self.server_changes = FakeChanges()
        self.trust = FakeTrust(self.host)
        self.model_changes = FakeModelChanges()
        self.conversations = FakeChats(self.conversation, self.continue_turn)
        self.snippets: dict[str, str] = {}
        self.request = FakeRequestContext()
        self.revision = 1
        self.saved_themes: list[str] = []
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
            self.model, self.toolbox, approver, self.turn_context.policy, self.limits, MonotonicClock()
        )
        self.turns += 1
        return Turn(self.conversation, deps, self.turns)

    def examples(self) -> Sequence[Example]:
        return (
            Example("What's the weather in Hangzhou?", "weather › get_weather"),
            Example("Add a note: buy milk", "notes › add_note"),
            Example("Which notes mention milk?", "notes › search_notes"),
        )

    def save_theme(self, name: str) -> None:
        self.saved_themes.append(name)

    async def shutdown(self) -> None:
        self.shut_down += 1
