"""Runs one case on the server of its suite: checks, sends, loses, judges, saves, and what follows."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.run.answers import CaseAnswers, Script
from tui.addons.tests.run.failure_text import mismatch_line
from tui.addons.tests.run.instance import LAST_WORDS_SECONDS, Exchange, ServerInstance
from tui.addons.tests.run.judge import Judgement, Response, judge
from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, State
from tui.addons.tests.run.plan import RunOptions
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite
from tui.addons.tests.suite.json_path import NotFound, value_at
from tui.addons.tests.suite.references import NotSaved, filled_expectation, has_references, with_saved
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.jsonrpc.reader import json_text
from tui.core.text import clean_line, mapping, quoted_name
from tui.core.traffic import Finding, Severity
from tui.settings.problems import hinted

NOTHING_EXPECTED = "expects nothing yet, record its result with mcptui test --review"
REDACTED = "[redacted:"
_NUMBER = re.compile(r",? (?:by|of|in) #[\d,]+")
"""The number of an entry in a sentence of the linter. The recording has other numbers."""

MAX_TOOLS = 20
MAX_KEPT = 64 * 1024
"""Bytes of a response as expected of which only `isError` is kept, since a run may have thousands."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What came of a case, or of one of its `then`."""

    state: State
    problem: str = ""
    mismatches: Sequence[Mismatch] = ()
    notes: Sequence[str] = ()
    exchange: Exchange | None = None

    @property
    def got(self) -> Any:
        if self.exchange is None:
            return None
        answer = self.exchange.answer
        return answer.result if answer.error is None else answer.error


@dataclass(slots=True)
class CaseRunner:
    """Runs cases of a suite one after the other.

    `era` is what outcomes have. `saved` are the values that the cases have saved so far.
    """

    suite: Suite
    answers: CaseAnswers
    options: RunOptions = field(default_factory=RunOptions)
    era: str = ""
    saved: dict[str, Any] = field(default_factory=dict)

    async def run(self, case: Case, instance: ServerInstance) -> Outcome:
        """Run a case, start its server if necessary, and return what came of it."""
        if why := why_skipped(case, run_empty=self.options.run_empty):
            return self._outcome(case, instance, State.SKIPPED, problem=why)
        if not await instance.running():
            faults = instance.traffic.faults(has_failed=True)
            return self._outcome(case, instance, State.ERROR, problem=instance.problem, faults=faults)
        instance.traffic.begin()
        instance.use_roots(roots_in(case.answers, self.suite.path.parent))
        done = list[_Step]()
        for number, step in enumerate((case, *case.then)):
            found = await self._step(step, instance)
            done.append(_inside(found, number - 1) if number else found)
            if found.state is not State.PASSED:
                break
        first, last = done[0], done[-1]
        sent = first.exchange
        failed_at = last.exchange or sent
        state, problem = last.state, last.problem
        if state is State.PASSED and case.expects_nothing:
            state, problem = State.SKIPPED, NOTHING_EXPECTED
        is_bad = state.is_bad
        if is_bad:
            await asyncio.sleep(LAST_WORDS_SECONDS)
        got = [one.got for one in done]
        if state is State.PASSED and not any(step.save for step in (case, *case.then)):
            got = [_kept(one) for one in done]
        outcome = self._outcome(
            case,
            instance,
            state,
            problem=problem,
            mismatches=last.mismatches,
            notes=[note for one in done for note in one.notes],
            ms=sent.ms if sent is not None and first.got is not None else None,
            got=got[0],
            said=instance.last_words() if is_bad else (),
            call=failed_at.call if failed_at is not None else "",
            then_got=tuple(got[1:]),
            faults=instance.traffic.faults(has_failed=is_bad),
        )
        late = [finding for number, finding in instance.traffic.late if number == instance.traffic.case]
        return with_late(outcome, late, instance.traffic.redact)

    def _outcome(self, case: Case, instance: ServerInstance, state: State, **more: Any) -> Outcome:
        more |= {"server": instance.name, "spoken": instance.era}
        return Outcome(case.name, case.line, state, era=self.era, case=case, **more)

    async def _step(self, case: Case, instance: ServerInstance) -> _Step:
        try:
            case = self._filled(case)
            request, expected = case.request, case.expected
        except NotSaved as error:
            why = f"{error}. The case that saves it did not pass, or was not run."
            return _Step(State.ERROR, why)
        if problem := await _unfit(request, instance, expected):
            return _Step(State.FAILED, problem, [Mismatch("args", why=problem)])
        with self.answers.during(instance.name, case.answers) as script:
            exchange = await instance.send(request, seconds=self.suite.seconds(case), lose=case.lose)
        return await self._judged(case, exchange, script, instance)

    def _filled(self, case: Case) -> Case:
        """Return a case with saved values in its request and its expectation. Raises `NotSaved`."""
        request, expected = case.request, filled_expectation(case.expected, self.saved)
        if expected is case.expected and not has_references(request.name, dict(request.arguments)):
            return case
        return replace(
            case,
            request=replace(
                request,
                name=with_saved(request.name, self.saved),
                arguments=with_saved(dict(request.arguments), self.saved),
            ),
            expected=expected,
        )

    async def _judged(
        self, case: Case, exchange: Exchange, script: Script, instance: ServerInstance
    ) -> _Step:
        answer, kind = exchange.answer, case.request.kind
        if answer.problem:
            state = State.ERROR if answer.late or instance.problem else State.FAILED
            problem = answer.problem.partition("\n")[0]  # its log follows
            problem = problem.replace("tools/call", clean_line(case.request.name, 80), 1)
            return _Step(state, problem, script.mismatches, script.notes, exchange)
        findings = list(exchange.findings)
        if kind is RequestKind.TOOL and answer.error is None:
            findings += await output_findings(case.request.name, answer.result, instance)
        redact = instance.traffic.redact
        findings = [replace(one, sentence=_sentence(one, redact)) for one in findings]
        response = Response(kind, answer.result, answer.error, exchange.ms, findings)
        judgement: Judgement = judge(case.expected, response, strict_time=self.options.strict_time)
        mismatches = [*script.mismatches, *judgement.mismatches]
        if not mismatches:
            mismatches = list(self._save(case.save, response))
        state = State.FAILED if mismatches else State.PASSED
        problem = mismatch_line(mismatches[0]) if mismatches else ""
        return _Step(state, problem, mismatches, [*script.notes, *judgement.notes], exchange)

    def _save(self, paths: Mapping[str, str], response: Response) -> Sequence[Mismatch]:
        if not paths:
            return ()
        value, missing = response.value, list[Mismatch]()
        for name, path in paths.items():
            try:
                if value is ABSENT:
                    raise NotFound("the response has no structured content, and its text is not JSON")
                self.saved[name] = value_at(path, value)
            except NotFound as error:
                missing.append(Mismatch(f"save.{name}", path, ABSENT, str(error)))
        return missing


def with_late(outcome: Outcome, findings: Sequence[Finding], redact: Callable[[str], str]) -> Outcome:
    """Return the outcome of a case, failed if it passed before these findings about its responses came."""
    case = outcome.case
    if outcome.state is not State.PASSED or not isinstance(case, Case):
        return outcome
    accepted = {code for one in (case, *case.then) for code in one.expected.findings}
    found = [
        Mismatch("findings", ABSENT, one.code, _sentence(one, redact))
        for one in findings
        if one.code not in accepted
    ]
    if not found:
        return outcome
    return replace(outcome, state=State.FAILED, problem=mismatch_line(found[0]), mismatches=found)


def _sentence(finding: Finding, redact: Callable[[str], str]) -> str:
    return redact(_NUMBER.sub("", finding.sentence))


def roots_in(answers: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Return the roots that `answers` names, relative to a folder."""
    given = answers.get("roots")
    names = given if isinstance(given, list) else []
    return tuple(os.path.normpath(folder.absolute() / str(name)) for name in names)


def why_skipped(case: Case, *, run_empty: bool = False) -> str:
    """Return why a case is not run, or ""."""
    if case.skip:
        return case.skip
    return NOTHING_EXPECTED if case.expects_nothing and not run_empty else ""


def _kept(step: _Step) -> Any:
    """Return what is kept of a response that was as expected."""
    if step.exchange is None or step.exchange.size <= MAX_KEPT:
        return step.got
    return {name: value for name, value in mapping(step.got).items() if name == "isError"}


async def _unfit(request: Request, instance: ServerInstance, expected: Expectation) -> str:
    """Return why a tool is not called: it is not there, or its arguments do not fit; or "".

    If the case expects an error, it is called in any case.
    """
    if request.kind is not RequestKind.TOOL or expected.error:
        return ""
    tool = await instance.workbench.tool(instance.name, request.name)
    if tool is None:
        known = [tool.name for tool in instance.workbench.tools(instance.name)]
        names = ", ".join(clean_line(name, 60) for name in known[:MAX_TOOLS]) or "none"
        missing = hinted(f"the server has no tool {quoted_name(request.name)}", request.name, known)
        return f"{missing} Its tools: {names}."
    problem = await instance.workbench.check(tool, request.arguments)
    return (
        f"not sent: invalid arguments for {clean_line(tool.name, 80)}: {clean_line(problem, 400)}"
        if problem
        else ""
    )


async def output_findings(name: str, result: Any, instance: ServerInstance) -> Sequence[Finding]:
    """Return what is wrong with the structured content of a tool's result, by its output schema."""
    held = mapping(result)
    structured = held.get("structuredContent")
    if structured is None or is_tool_error(held) or REDACTED in json_text(structured):
        return ()
    tool = await instance.workbench.tool(instance.name, name)
    problem = "" if tool is None else await instance.workbench.output_problem(tool, structured)
    if not problem:
        return ()
    sentence = f"structuredContent does not match outputSchema: {clean_line(problem, 300)}"
    return [Finding(0, "structured-content", Severity.ERROR, sentence)]


def _inside(step: _Step, number: int) -> _Step:
    """Return a step of `then` with its place in its paths."""
    head = f"then[{number}]"
    return replace(
        step,
        problem=f"{head}: {step.problem}" if step.problem else "",
        mismatches=[replace(one, path=f"{head}.{one.path}") for one in step.mismatches],
        notes=[f"{head}: {note}" for note in step.notes],
    )
