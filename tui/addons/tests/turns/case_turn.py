"""Runs one turn of a turn case: the loop of mcptui, with the tools of the suite's server only.

The user agreed to the run, so the model may call every tool of that server without being asked, except those
that the case says must never be called: they are denied, and counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.case_models import CaseModel
from tui.addons.tests.turns.expectation import FinishedTurn, MadeCall, is_forbidden
from tui.core.context.context_meter import ContextMeter
from tui.core.context.instructions import instructions_text
from tui.core.context.tool_selection import ToolSelection
from tui.core.conversation.conversation import SYSTEM, Conversation, Journal, SessionMeta
from tui.core.errors import sentences
from tui.core.events import (
    EndReason,
    Event,
    Notice,
    ToolCallEnded,
    ToolCallProposed,
    TurnEnded,
    TurnError,
)
from tui.core.permission.approval_policy import Policy, TurnPermission
from tui.core.ports import Answer, ApprovalRequest, ChatModel, Decision, Toolbox, TrustQuestion, Usage
from tui.core.tools import Tool
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnTools
from tui.runtime.redaction import EventRedactor
from tui.runtime.runtime import Runtime
from tui.runtime.saved_conversation import SavedConversation

ALLOWED = "the test file"
DENIED = "the test does not allow this call"


@dataclass(slots=True)
class CaseTurn:
    """One turn, from its question to its answer, with a `chat` of a model and the server of a suite.

    `number` is that of the turn in the recording, `problem` the error that ended it, or "".
    """

    case: TurnCase
    runtime: Runtime
    server: str
    model: CaseModel
    chat: ChatModel
    number: int
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    talk: SavedConversation = field(init=False)
    _costs: list[float | None] = field(default_factory=list)
    _calls: dict[tuple[int, str], MadeCall] = field(default_factory=dict)

    def __post_init__(self) -> None:
        system = self.model.profile.system if self.model.profile is not None else ""
        self.talk = SavedConversation(Conversation(system or SYSTEM))

    async def run(self, journal: Journal | None = None) -> FinishedTurn:
        """Ask the question; return what came of it. `journal` saves the conversation."""
        if journal is not None:
            about = SessionMeta(model=self.chat.label, profile=self.model.name)
            self.talk.begin(journal, self.case.question, about)
            self.talk.recorded_in(self.runtime.traffic.path.name)
        self.talk.talk.say(self.case.question)
        redaction, ended = EventRedactor(self.runtime.redactor), None
        try:
            async for event in Turn(self.talk.talk, self._deps(), self.number).events():
                for shown in redaction.take(event):
                    self._take(shown)
                    ended = shown if isinstance(shown, TurnEnded) else ended
        finally:
            await self.talk.leave()
        return self._finished(ended)

    def _deps(self) -> TurnDeps:
        host, context = self.runtime.host, self.runtime.turn_context
        told = host.instructions()
        used = TurnModel(
            self.chat,
            ContextMeter(window=self.model.window),
            ToolSelection(self.chat.capabilities.max_tools),
            self._bill,
            instructions_text({self.server: told[self.server]} if self.server in told else {}),
        )

        def turned_off() -> Sequence[Tool]:
            return [tool for tool in host.toolbox.turned_off() if tool.server == self.server]

        tools = TurnTools(ServerToolbox(host.toolbox, self.server), None, dict, turned_off)
        approver = CaseApprover(self.case, self.server)
        permission = TurnPermission(approver, Policy(trust=approver), self.runtime.decisions)
        limits = limits_of(self.case, context.limits)
        return TurnDeps(used, tools, permission, limits, context.clock, answers_at_limit=False)

    def _bill(self, usage: Usage) -> float | None:
        cost = self.model.cost_of(usage)
        self._costs.append(cost)
        self.talk.spent(self.chat.label, usage, cost)
        return cost

    def _take(self, event: Event) -> None:
        match event:
            case ToolCallProposed() if event.server in (self.server, ""):
                self._calls[event.step, event.id] = MadeCall(event.tool, event.arguments)
            case ToolCallEnded() if (made := self._calls.get((event.step, event.id))) is not None:
                self._calls[event.step, event.id] = replace(made, why=event.why)
            case TurnError():
                self.problem = sentences(event.message, event.next_step)
            case Notice(message, "warn"):
                self.notes.append(message)

    def _finished(self, ended: TurnEnded | None) -> FinishedTurn:
        calls = tuple(self._calls.values())
        if ended is None:
            return FinishedTurn(calls, end=EndReason.CANCELLED)
        known = [one for one in self._costs if one is not None]
        cost = sum(known) if known and len(known) == len(self._costs) else None
        tokens = ended.usage.prompt + ended.usage.completion
        return FinishedTurn(calls, ended.text, ended.steps, ended.reason, ended.limit, tokens, cost, ended.ms)


def limits_of(case: TurnCase, limits: Limits) -> Limits:
    """Return the limits of a turn: those of the configuration, which a case only makes stricter."""
    steps, cost = case.max_steps or limits.max_steps, limits.turn_cost
    if case.cost is not None:
        most = math.nextafter(case.cost, math.inf)  # a limit ends the turn when it is reached, not exceeded
        cost = most if cost is None else min(cost, most)
    return replace(limits, max_steps=min(steps, limits.max_steps), turn_cost=cost)


@dataclass(frozen=True, slots=True)
class CaseApprover:
    """Allows every call of the suite's server, except of tools that must never be called.

    As a `TrustStore`, it trusts no server, so that each call is asked about.
    """

    case: TurnCase
    server: str

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Answer at once."""
        tool = request.tool
        if tool.server == self.server and is_forbidden(self.case, tool.name):
            return Decision(Answer.NO, DENIED, by_user=False)
        return Decision(Answer.ONCE, ALLOWED, by_user=False)

    async def trust(self, question: TrustQuestion) -> bool | None:
        return False

    def trusts(self, tool: Tool) -> bool:
        return False

    def trusted(self, server: str) -> bool | None:
        return False

    def decide(self, server: str, trusted: bool) -> None:
        """Remember nothing."""


class ServerToolbox:
    """The tools of one server: a suite's model must not see those of other suites."""

    def __init__(self, inner: Toolbox, server: str) -> None:
        self._inner = inner
        self._server = server
        self.check, self.call = inner.check, inner.call

    def tools(self) -> Sequence[Tool]:
        return [tool for tool in self._inner.tools() if tool.server == self._server]
