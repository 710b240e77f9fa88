"""Runs turn cases: each with each of its models, several times, and says what share of the runs passed."""

import asyncio
import itertools
import math
import shlex
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tui.addons.tests.run.outcome import Mismatch, Outcome, State, TurnCell, TurnRun
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.case_models import CaseModel, CaseModels, NoModel
from tui.addons.tests.turns.case_turn import AskedModel, CaseTurn, TurnServer
from tui.addons.tests.turns.expectation import FinishedTurn, mismatches_of
from tui.core.errors import McptuiError
from tui.core.events import EndReason
from tui.core.units import plural
from tui.runtime.runtime import Runtime
from tui.storage.sessions.store import SessionStore

MOST_CALLS = 50
"""Maximum calls of a run to keep."""

ANSWER_CHARS = 8_000
"""Maximum characters of an answer to keep."""

MOST_NOTES = 5
_NO_PRICES = "the cost was not compared: the model has no prices here"


@dataclass(slots=True)
class TurnRunner:
    """Runs the turn cases of all suites of one run, one turn at a time. Close it at the end.

    `sessions` saves the conversations, if it is given.
    """

    runtime: Runtime
    models: CaseModels
    sessions: SessionStore | None = None
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(
        cls,
        runtime: Runtime,
        *,
        chosen: str = "",
        replay: Path | None = None,
        sessions: SessionStore | None = None,
    ) -> "TurnRunner":
        """Return a runner. `chosen` is the model that the command line names, "demo" for the demo, or "".

        `replay` is a recording whose models reply in place of their endpoints.
        """
        return cls(runtime, CaseModels(runtime, chosen=chosen, replay=replay), sessions)

    async def close(self) -> None:
        """Close the connections to models. Bounded in time."""
        await self.models.close()

    async def outcomes(
        self, cases: Sequence[TurnCase], server: str, path: Path | None = None
    ) -> AsyncIterator[Outcome]:
        """Yield an outcome for each case and model; `server` is the suite's, which runs.

        Raises StorageError if the recording to replay cannot be read.
        """
        for case in cases:
            if case.skip:
                yield _outcome(case, server, State.SKIPPED, case.skip)
                continue
            models = await self.models.of(case)
            for model in models:
                title = case.title if len(models) == 1 else f"{case.title} ({model.name})"
                found = await self._outcome(case, model, server, path)
                yield replace(found, name=title)

    async def _outcome(
        self, case: TurnCase, model: CaseModel | NoModel, server: str, path: Path | None
    ) -> Outcome:
        if isinstance(model, NoModel):
            state = State.SKIPPED if model.is_skipped else State.ERROR
            return _outcome(case, server, state, model.problem)
        if (problem := _uncountable(case, model)) and model.runs is None:
            return _outcome(case, server, State.ERROR, problem)
        if problem:
            case, notes = replace(case, cost=None), [_NO_PRICES]
        else:
            notes = []
        cell = await self._cell(case, model, server, notes)
        state, problem = verdict(case, cell)
        notes += [note for note in model.notes if note not in notes]
        failed = next((one for one in cell.runs if one.state is State.FAILED), None)
        return replace(
            _outcome(case, server, state, problem),
            mismatches=failed.mismatches if failed is not None and state is State.FAILED else (),
            notes=notes[:MOST_NOTES],
            ms=cell.ms,
            repeat=_repeat(case, model, path) if state in (State.FAILED, State.ERROR) else "",
            cell=cell,
        )

    async def _cell(self, case: TurnCase, model: CaseModel, server: str, notes: list[str]) -> TurnCell:
        """Run a case with a model. After an error of the model, the other runs are left out."""
        runs: list[TurnRun] = []
        wanted = case.runs if model.runs is None else min(case.runs, model.runs)
        label = ""
        for at in range(wanted):
            async with self._turn:
                try:
                    asked = AskedModel(model.chat(at), model.profile, model.window)
                except McptuiError as error:
                    runs.append(TurnRun(State.ERROR, str(error)))
                    break
                label = asked.chat.label
                runs.append(await self._run(case, asked, server, notes))
            if runs[-1].state is State.ERROR:
                break
        currency = model.profile.currency if model.profile is not None else "USD"
        return TurnCell(model.name, label, currency, wanted, runs)

    async def _run(self, case: TurnCase, model: AskedModel, server: str, notes: list[str]) -> TurnRun:
        turn = CaseTurn(case, TurnServer(self.runtime, server), model, next(self._numbers))
        journal = await self.sessions.begin() if self.sessions is not None else None
        finished = await turn.run(journal)
        notes += [note for note in turn.notes if note not in notes]
        run = TurnRun(
            State.PASSED,
            calls=[str(one) for one in finished.calls[:MOST_CALLS]],
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


def _uncountable(case: TurnCase, model: CaseModel) -> str:
    """Return why the cost of a case cannot be compared, or ""."""
    profile = model.profile
    if case.cost is None or profile is None or profile.price_in is not None or profile.price_out is not None:
        return ""
    return f"`cost` cannot be compared: set price_in and price_out in the profile {profile.name}"


def _outcome(case: TurnCase, server: str, state: State, problem: str) -> Outcome:
    return Outcome(case.title, case.line, state, problem, server=server, case=case)


def _repeat(case: TurnCase, model: CaseModel, path: Path | None) -> str:
    """Return the command that runs the case again with this model."""
    file = [str(path)] if path is not None else []
    return shlex.join(["mcptui", "test", *file, "-k", case.title, "--model", model.name])
