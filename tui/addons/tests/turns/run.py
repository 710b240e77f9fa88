"""Runs turn cases: each with each of its models, several times, and says what share of the runs passed.

A turn is the loop of mcptui, with the tools of the suite's server only. The user agreed to the run, so the
model may call every tool of that server without being asked, except those that the case says must never be
called: they are denied, and counted.
"""

import asyncio
import math
import shlex
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tui.addons.tests.run.outcome import Mismatch, Outcome, State, TurnCell, TurnRun
from tui.addons.tests.run.plan import PartContext
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.addons.tests.turns import conversations
from tui.addons.tests.turns.case_models import CaseModel, CaseModels, NoModel
from tui.addons.tests.turns.expectation import FinishedTurn, MadeCall, is_forbidden, mismatches_of
from tui.addons.tests.turns.last_cells import LastCells
from tui.core.context.context_meter import ContextMeter
from tui.core.context.instructions import instructions_text
from tui.core.context.tool_selection import ToolSelection
from tui.core.conversation.conversation import SYSTEM, Conversation, Journal, SessionMeta
from tui.core.errors import McptuiError, sentences
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
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnTools
from tui.core.units import plural
from tui.runtime.redaction import EventRedactor
from tui.runtime.runtime import Runtime
from tui.runtime.saved_conversation import SavedConversation
from tui.storage.sessions.store import SessionStore

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


MOST_CALLS = 50
"""Maximum calls of a run to keep."""

CALL_CHARS = 2_000
ANSWER_CHARS = 8_000
"""Maximum characters of an answer to keep."""

MOST_NOTES = 5
NOTE_CHARS = 400
EXPECTS_NOTHING = "expects nothing: add calls, never or answer"
_NO_PRICES = "the cost was not compared: the model has no prices here"


async def run_turns(suite: Suite, turns: Sequence[TurnCase], context: PartContext) -> AsyncIterator[Outcome]:
    """Run turn cases of a suite, and yield an outcome for each case and model, in order.

    The outcomes are kept for the screen of turn cases, and the conversations if the traffic is recorded.
    """
    runtime, cells, at = context.runtime, LastCells(), time.time()
    models = CaseModels(runtime, replay=context.replay_models)
    runner = TurnRunner(runtime, context.server, models, await _sessions(runtime))
    try:
        for case in turns:
            async for outcome in runner.outcomes(case, suite.path):
                cells.put(suite.path, outcome, runtime.traffic.path, at)
                yield outcome
    finally:
        await models.close()
        await asyncio.to_thread(cells.close)


async def _sessions(runtime: Runtime) -> SessionStore | None:
    """Return where conversations are saved, None if the user records nothing."""
    loaded = runtime.configuration.loaded
    if loaded is None or not loaded.settings.traffic.record:
        return None
    await asyncio.to_thread(conversations.make_room)
    return conversations.store(lambda: runtime.redactor)


@dataclass(slots=True)
class TurnRunner:
    """Runs turn cases with the server of a suite, one turn at a time. `sessions` saves the conversations."""

    runtime: Runtime
    server: str
    models: CaseModels
    sessions: SessionStore | None = None

    async def outcomes(self, case: TurnCase, path: Path) -> AsyncIterator[Outcome]:
        """Yield an outcome for each model of a case of the suite at `path`."""
        if why := case.skip or (EXPECTS_NOTHING if case.expects_nothing else ""):
            yield self._without_runs(case, State.SKIPPED, why)
            return
        models = await self.models.of(case)
        for model in models:
            title = case.title if len(models) == 1 else f"{case.title} ({model.name})"
            if isinstance(model, NoModel):
                state = State.SKIPPED if model.is_skipped else State.ERROR
                cell = TurnCell(model.name) if model.name else None
                yield replace(self._without_runs(case, state, model.problem), name=title, cell=cell)
            else:
                yield replace(await self._outcome(case, model, path), name=title)

    def _without_runs(self, case: TurnCase, state: State, problem: str) -> Outcome:
        return Outcome(case.title, case.line, state, problem, server=self.server, case=case)

    async def _outcome(self, case: TurnCase, model: CaseModel, path: Path) -> Outcome:
        notes: list[str] = []
        judged = case
        if problem := _without_prices(case, model):
            if model.runs is None:
                return self._without_runs(case, State.ERROR, problem)
            judged = replace(case, cost=None)
            notes.append(_NO_PRICES)
        cell = await self._cell(judged, model, notes)
        state, problem = verdict(case, cell)
        notes += [note for note in model.notes if note not in notes]
        failed = next((one for one in cell.runs if one.state is State.FAILED), None)
        if state is State.FAILED and failed is not None:
            notes.append(f"The messages of the run that failed first: --filter turn:{failed.turn}")
            said = clean_line(f"failed: {failed.problem} ({case.title})", NOTE_CHARS)
            self.runtime.traffic.mark_turn(failed.turn, said)
        return replace(
            self._without_runs(case, state, problem),
            mismatches=failed.mismatches if failed is not None and state is State.FAILED else (),
            notes=notes[:MOST_NOTES],
            ms=cell.ms,
            repeat=_repeat(case, model, path) if state.is_bad else "",
            cell=cell,
        )

    async def _cell(self, case: TurnCase, model: CaseModel, notes: list[str]) -> TurnCell:
        """Run a case with a model. After an error of the model, the other runs are left out."""
        runs: list[TurnRun] = []
        wanted = case.runs if model.runs is None else min(case.runs, model.runs)
        label = ""
        for at in range(wanted):
            try:
                chat = model.chat(at)
            except McptuiError as error:
                runs.append(TurnRun(State.ERROR, str(error)))
                break
            label = chat.label
            runs.append(await self._run(case, model, chat, notes))
            if runs[-1].state is State.ERROR:
                break
        currency = model.profile.currency if model.profile is not None else "USD"
        return TurnCell(model.name, label, currency, wanted, runs)

    async def _run(self, case: TurnCase, model: CaseModel, chat: ChatModel, notes: list[str]) -> TurnRun:
        number = self.runtime.conversations.next_turn()
        turn = CaseTurn(case, self.runtime, self.server, model, chat, number)
        journal = await self.sessions.begin() if self.sessions is not None else None
        finished = await turn.run(journal)
        notes += [note for note in turn.notes if note not in notes]
        run = TurnRun(
            State.PASSED,
            calls=[str(one)[:CALL_CHARS] for one in finished.calls[:MOST_CALLS]],
            answer=finished.answer[:ANSWER_CHARS],
            steps=finished.steps,
            tokens=finished.tokens,
            cost=finished.cost,
            ms=finished.ms,
            turn=turn.number,
            session=journal.id if journal is not None else "",
        )
        if finished.end in (EndReason.MODEL_ERROR, EndReason.CANCELLED):
            return replace(run, state=State.ERROR, problem=turn.problem or "the turn was cancelled")
        return _judged(case, finished, run)


def _judged(case: TurnCase, finished: FinishedTurn, run: TurnRun) -> TurnRun:
    found = mismatches_of(case, finished)
    if not found:
        return run
    return replace(run, state=State.FAILED, problem=mismatch_words(found[0]), mismatches=found)


def mismatch_words(mismatch: Mismatch) -> str:
    """Return a mismatch of a turn in a few words. Names and arguments are raw."""
    if mismatch.path.startswith("calls"):
        return f"{mismatch.expected}: {mismatch.why}"
    if mismatch.path.startswith("answer"):
        return f'{mismatch.why}: "{mismatch.expected}"'
    if mismatch.path in ("max_steps", "cost"):
        return f"{mismatch.path} is {mismatch.expected}: {mismatch.why or f'it was {mismatch.got}'}"
    return mismatch.why


def verdict(case: TurnCase, cell: TurnCell) -> tuple[State, str]:
    """Return the state of a cell, and why it is not passed.

    Runs that could not be run decide nothing: if they could still change the result, it is an error.
    """
    needed = math.ceil(case.passing * cell.wanted - 1e-9)
    broken = next((one for one in cell.runs if one.state is State.ERROR), None)
    failed = len(cell.judged) - cell.passed
    if cell.passed >= needed and cell.judged:
        return State.PASSED, ""
    if broken is not None and failed <= cell.wanted - needed:
        return State.ERROR, broken.problem
    first = next((one for one in cell.runs if one.state is State.FAILED), None)
    why = first.problem if first is not None else ""
    if cell.wanted == 1:
        return State.FAILED, why
    return State.FAILED, f"{cell.passed} of {plural(cell.wanted, 'run')} passed, {needed} must. {why}"


def _without_prices(case: TurnCase, model: CaseModel) -> str:
    """Return why the cost of a case cannot be compared, or ""."""
    profile = model.profile
    if case.cost is None or profile is None or profile.price_in is not None or profile.price_out is not None:
        return ""
    return f"`cost` cannot be compared: set price_in and price_out in the profile {profile.name}"


def _repeat(case: TurnCase, model: CaseModel, path: Path) -> str:
    """Return the command that runs the case again with this model."""
    return shlex.join(["mcptui", "test", str(path), "-k", case.title, "--model", model.name])
