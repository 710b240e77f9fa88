"""The session of a test file in pytest: its server, which runs during its items, and the cases on it."""

from dataclasses import dataclass, field, replace

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.run.case_run import CaseRunner, why_skipped, with_late
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.run.plan import PartContext
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.addons.tests.suite.references import with_needed


@dataclass(slots=True)
class SuiteSession:
    """Runs the cases of a suite in any order and selection, all on one process of its server.

    A case that needs a value which an earlier one saves runs that one first, if it has not run yet.
    """

    suite: Suite
    engine: Engine
    instance: ServerInstance
    runner: CaseRunner
    _done: set[str] = field(default_factory=set)
    _ran: dict[int, Outcome] = field(default_factory=dict)  # those that passed, by the number of the case

    @classmethod
    async def started(cls, suite: Suite, engine: Engine) -> "SuiteSession":
        """Return the session of a suite. Raises SuiteError if it names no server that can be used."""
        instance = await engine.instance(suite)
        return cls(suite, engine, instance, CaseRunner(suite, engine.answers))

    async def run(self, case: Case) -> Outcome:
        """Run a case."""
        for one in with_needed(self.suite.cases, [case])[:-1]:
            if one.name not in self._done:
                await self._run(one)
        outcome = await self._run(case)
        if outcome.state.is_bad:
            named = self.suite.server.name if self.suite.server is not None else ""
            repeat = RepeatCommand(server=named).of(
                self.suite, self.instance.spec, case, self.instance.traffic.redact
            )
            outcome = replace(outcome, repeat=repeat)
        return outcome

    async def contract(self) -> Outcome:
        """Compare the definitions of the server with the lock."""
        contract = self.suite.contract
        assert contract is not None
        if not await self.instance.running():
            return Outcome("contract", contract.line, State.ERROR, self.instance.problem)
        from tui.addons.tests.contract.check import check_contract

        return await check_contract(self.suite, self._context)

    async def turn(self, turn: TurnCase) -> Outcome:
        """Run a turn case."""
        if not await self.instance.running():
            return Outcome(turn.title, turn.line, State.ERROR, self.instance.problem, case=turn)
        from tui.addons.tests.turns.run import run_turns

        outcomes = [one async for one in run_turns(self.suite, [turn], self._context)]
        return next((one for one in outcomes if one.state is not State.PASSED), outcomes[0])

    @property
    def _context(self) -> PartContext:
        return PartContext(self.engine.runtime, self.instance.name)

    async def close(self) -> Outcome | None:
        """Stop the server. Return that of a case that passed, but whose response came again later."""
        await self.instance.catch_up()
        traffic = self.instance.traffic
        late = [(self._ran[number], finding) for number, finding in traffic.late if number in self._ran]
        await self.instance.close()
        failed = (with_late(outcome, [finding], traffic.redact) for outcome, finding in late)
        return next((one for one in failed if one.state is State.FAILED), None)

    async def _run(self, case: Case) -> Outcome:
        self._done.add(case.name)
        if not case.fresh or why_skipped(case):
            outcome = await self.runner.run(case, self.instance)
            if outcome.state is State.PASSED and outcome.call:
                self._ran[self.instance.traffic.case] = outcome
            return outcome
        own = self.engine.another(self.instance)
        try:
            return await self.runner.run(case, own)
        finally:
            await own.close()
