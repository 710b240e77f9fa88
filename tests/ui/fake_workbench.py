"""A workbench over values that a test sets, and its saved calls."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.core.tasks import Task
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult
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


class FakeWorkbench:
    """`HandWorkbench` over values that a test sets."""

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

    def extension(self, server: str, name: str) -> Mapping[str, Any] | None:
        return None

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


class FakeCalls:
    """`tui.settings.state.stored_calls.StoredCalls` in memory."""

    def __init__(self) -> None:
        self.memory = CallMemory()

    async def load(self) -> None:
        pass

    async def change(self, change: Callable[[CallMemory], CallMemory]) -> None:
        self.memory = change(self.memory)
