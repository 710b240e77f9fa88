"""Runs turn cases: each with each of its models, several times, and says what share of the runs passed."""

import asyncio
import math
import shlex
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tui.addons.tests.run.outcome import Mismatch, Outcome, State, TurnCell, TurnRun
from tui.addons.tests.run.plan import PartContext
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.addons.tests.turns import conversations
from tui.addons.tests.turns.case_models import CaseModel, CaseModels, NoModel
from tui.addons.tests.turns.case_turn import CaseTurn
from tui.addons.tests.turns.expectation import FinishedTurn, mismatches_of
from tui.addons.tests.turns.last_cells import LastCells
from tui.core.errors import McptuiError
from tui.core.events import EndReason
from tui.core.ports import ChatModel
from tui.core.text import clean_line
from tui.core.units import plural
from tui.runtime.runtime import Runtime
from tui.storage.sessions.store import SessionStore

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
