"""Fakes for the ports of the loop: a toolbox of functions, a scripted approver, a manual clock."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from tui.core.context.built_in_tools import ResultStore
from tui.core.conversation.conversation import CallRequest, Conversation
from tui.core.events import Event, TurnEnded
from tui.core.permission.approval_policy import Mode, Policy, TurnPermission
from tui.core.ports import Answer, ApprovalRequest, ChatModel, Decision, TrustQuestion, TrustStore, Undecided
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnTools

E = TypeVar("E")
Handler = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


def text(value: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult((TextContent(value),), is_error=is_error)


async def echo(arguments: Mapping[str, Any]) -> ToolResult:
    return text(f"echo {arguments.get('text', '')}")


async def hang(arguments: Mapping[str, Any]) -> ToolResult:
    await asyncio.get_running_loop().create_future()
    return text("never")


class FunctionToolbox:
    """A toolbox whose tools are coroutine functions of one server `srv`."""

    def __init__(self, read_only: bool = True, **handlers: Handler) -> None:
        self._handlers = handlers or {"echo": echo}
        self.offered = [
            Tool("srv", name, read_only=read_only, trusted=True, digest=name) for name in self._handlers
        ]
        self.called: list[tuple[str, Mapping[str, Any], float]] = []
        self.wrong = ""
        self.running = 0
        self.most_at_once = 0

    def tools(self) -> Sequence[Tool]:
        return self.offered

    def turned_off(self) -> Sequence[Tool]:
        return ()

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return self.wrong

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        self.called.append((tool.name, arguments, seconds))
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            progress(1, 2, "half")
            return await self._handlers[tool.name](arguments)
        finally:
            self.running -= 1


class ScriptedApprover:
    """Answers from its script; without one it waits forever."""

    def __init__(self, *decisions: Decision, trusts: bool | None = None) -> None:
        self._decisions = list(decisions)
        self._trusts = trusts
        self.asked: list[ApprovalRequest] = []
        self.asked_trust: list[TrustQuestion] = []

    async def trust(self, question: TrustQuestion) -> bool | None:
        self.asked_trust.append(question)
        return self._trusts

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        if not self._decisions:
            await asyncio.get_running_loop().create_future()
        return self._decisions.pop(0)


class HandClock:
    """A clock that is advanced by hand."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns

    async def sleep(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)


YES = Decision(Answer.ONCE)


def call(number: int | str = 1, name: str = "srv__echo", arguments: str = '{"text": "hi"}') -> CallRequest:
    return CallRequest(f"c{number}", name, arguments)


def turn_of(
    model: ChatModel,
    toolbox: FunctionToolbox | None = None,
    *,
    approver: ScriptedApprover | None = None,
    limits: Limits | None = None,
    clock: HandClock | None = None,
    mode: Mode = Mode.ASK,
    talk: Conversation | None = None,
    policy: Policy | None = None,
    **more: Any,
) -> tuple[Turn, Conversation]:
    """Return a turn on a conversation in which the person just said "go"; `more` is for its dependencies."""
    talk = talk or Conversation()
    talk.say("go")
    of_tools = {name: more.pop(name) for name in ("resources", "absent", "turned_off") if name in more}
    result_store, decisions = more.pop("result_store", None), more.pop("decisions", None) or Undecided()
    deps = TurnDeps(
        TurnModel(model, **more),
        TurnTools(toolbox or FunctionToolbox(), **of_tools),
        TurnPermission(approver or ScriptedApprover(), policy or policy_of(mode=mode), decisions),
        limits or Limits(),
        clock or HandClock(),
        ResultStore() if result_store is None else result_store,
    )
    return Turn(talk, deps), talk


async def run(turn: Turn) -> list[Event]:
    return [event async for event in turn.events()]


async def played(*args: Any, **more: Any) -> tuple[list[Event], Conversation]:
    """Run a turn that `turn_of` makes."""
    turn, talk = turn_of(*args, **more)
    return await run(turn), talk


def ended(events: Sequence[Event]) -> TurnEnded:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last


def of_type(events: Sequence[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


class NotedJournal:
    """Records entries in order. Those added before `settled` returned are `on_disk`."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.on_disk: list[tuple[Any, ...]] = []
        self.id, self.problem = "session", ""

    def message(self, index: int, message: Any) -> None:
        self.told.append(("message", index, message))

    def draft(self, text: str, reasoning: str) -> None:
        self.told.append(("draft", text, reasoning))

    def intent(self, intent: Any) -> None:
        self.told.append(("intent", intent))

    def decision(self, call_id: str, answer: str, reason: str) -> None:
        self.told.append(("decision", call_id, answer, reason))

    def result(self, name: str, text: str) -> None:
        self.told.append(("result", name, text))

    def usage(self, model: str, usage: Any, cost: float | None) -> None:
        self.told.append(("usage", model, usage, cost))

    def remark(self, remark: Any) -> None:
        self.told.append(("remark", remark))

    def describe(self, meta: Any) -> None:
        self.told.append(("describe", meta))

    async def settled(self) -> None:
        told = list(self.told)
        await asyncio.sleep(0)
        self.on_disk = told

    async def close(self) -> None:
        await self.settled()


class HintedTrust(TrustStore):
    """Without questions: the tools say whether their server is trusted."""

    def trusts(self, tool: Tool) -> bool:
        return tool.trusted

    def trusted(self, server: str) -> bool:
        return True


def policy_of(*args: Any, **more: Any) -> Policy:
    """Return a policy; without `trust`, tools say whether their server is trusted."""
    return Policy(*args, **{"trust": HintedTrust(), **more})
