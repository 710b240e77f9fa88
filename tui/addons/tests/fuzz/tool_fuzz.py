"""The calls of one tool with edges and generated arguments. Those that break it are shrunk."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.addons.tests.fuzz.edges import Group
from tui.addons.tests.fuzz.findings import COSTLY, Fault, Found, faults_of
from tui.addons.tests.fuzz.processes import Processes
from tui.addons.tests.fuzz.shrink import causes, complexity, is_round, simpler
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.time_limits import CallTimeout
from tui.core.tools import Tool

Key = tuple[Fault, str]

LEAST_SECONDS = 1.0
"""Seconds after which a call counts as hanging at first. The last try has the whole limit."""

USUAL = 20
"""How many times the slowest response so far a call may take at first."""

SLOW_MS = 100.0
"""Milliseconds after which a call is not worth the same finding again."""

MOST_COSTLY = 6
"""Crashes and hangs after which the rest of a tool's arguments is left out."""

SHRINK_TRIES, SHRINK_SECONDS = 400, 8.0
"""Maximum tries and seconds to shrink one finding."""


@dataclass(slots=True)
class Limits:
    """Bounds of a run.

    Attributes:
        seconds: without a response or progress after which a call hangs.
        bytes: of a response.
        ends: when the run ends, by the monotonic clock.
    """

    seconds: float
    bytes: int
    ends: float

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.ends


@dataclass(slots=True)
class Finding:
    """A fault of a tool with the smallest arguments that cause it.

    Attributes:
        problem: why the arguments are invalid, or "".
        repeats: whether it happens with this call alone, in a new process.
    """

    tool: str
    found: Found
    arguments: Mapping[str, Any]
    problem: str = ""
    repeats: bool = True


@dataclass(slots=True)
class ToolFuzz:
    """The calls of one tool and their findings. `unfinished` says why not all arguments were tried, or ""."""

    tool: Tool
    processes: Processes
    answers: CaseAnswers
    limits: Limits
    findings: list[Finding] = field(default_factory=list)
    calls: int = 0
    valid: int = 0
    unfinished: str = ""
    _known: dict[str, Sequence[Found]] = field(default_factory=dict)
    _costly: int = 0
    _costly_keys: set[Key] = field(default_factory=set)
    _slowest: float = 0.0
    _is_patient: bool = False

    async def run(self, groups: Iterable[Group]) -> None:
        """Call the tool with the arguments of groups. Of a group that breaks it, the rest is left out."""
        for group in groups:
            for arguments in group:
                if self._is_over():
                    return
                if self._is_known(arguments):
                    continue
                before = self._costly
                for found in await self._certain(arguments):
                    if found.key not in {one.found.key for one in self.findings}:
                        self.findings.append(await self._shrunk(found, arguments))
                if self._costly > before:
                    break

    async def _certain(self, arguments: Mapping[str, Any]) -> Sequence[Found]:
        """Return the faults of a call. The first that seems to hang is given the whole time once more."""
        faults = await self.call(arguments)
        if self._is_patient or all(one.fault is not Fault.HANG for one in faults):
            return faults
        self._is_patient = True
        faults = await self.call(arguments, self.limits.seconds)
        if all(one.fault is not Fault.HANG for one in faults):
            self._slowest = self.limits.seconds
        return faults

    def _is_known(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether arguments would only break the tool as others do, at the cost of a process."""
        return any(
            one.found.key in self._costly_keys and one.arguments and causes(one.arguments, arguments)
            for one in self.findings
        )

    def _is_over(self) -> bool:
        if self.limits.is_over:
            self.unfinished = "the time is up"
        elif self._costly >= MOST_COSTLY:
            self.unfinished = f"{self._costly} calls failed or took long"
        return bool(self.unfinished)

    async def call(self, arguments: Mapping[str, Any], seconds: float | None = None) -> Sequence[Found]:
        """Return the faults of a call, from memory if it was made before. `seconds` is its time limit."""
        key = _key(arguments)
        if key in self._known and seconds is None:
            return self._known[key]
        instance = await self.processes.running()
        if instance.problem:
            self.unfinished = instance.problem
            return ()
        problem = await self._problem(arguments)
        limit = seconds or min(self.limits.seconds, max(LEAST_SECONDS, USUAL * self._slowest))
        instance.traffic.begin()
        request = Request(RequestKind.TOOL, self.tool.name, arguments)
        with self.answers.during(instance.name, {}):
            exchange = await instance.send(request, seconds=CallTimeout(limit, 3 * limit, "", ""))
        self.calls += 1
        self.valid += not problem
        if exchange.answer.lost:
            await instance.catch_up()
        found = await faults_of(exchange, request, problem, self.limits.bytes, instance)
        if exchange.answer.problem:
            self.processes.drop()
        else:
            self._slowest = max(self._slowest, exchange.ms / 1000)
        is_slow = exchange.answer.late or exchange.ms > 1000 * self.limits.seconds
        self._costly += is_slow or any(one.fault in COSTLY for one in found)
        is_late = exchange.ms > SLOW_MS  # some SDKs draw a traceback for half a second
        self._costly_keys |= {one.key for one in found if is_late or one.fault in COSTLY}
        self._known[key] = found
        return found

    async def _shrunk(self, found: Found, arguments: Mapping[str, Any]) -> Finding:
        """Return a finding with the simplest arguments that cause the same, as far as its budget goes."""
        costly, ends = self._costly, time.monotonic() + SHRINK_SECONDS
        best, tries = arguments, 0
        is_valid = not await self._problem(arguments)
        improved = True
        while improved:
            improved = False
            for candidate in simpler(best):
                if tries >= SHRINK_TRIES or time.monotonic() > ends or self.limits.is_over:
                    break
                is_simpler = complexity(candidate) < complexity(best)
                if found.fault is Fault.LARGE_ANSWER:  # its exact limit is ours
                    is_simpler = is_simpler and is_round(candidate)
                if not is_simpler or is_valid is bool(await self._problem(candidate)):
                    continue
                tries += 1
                same = [one for one in await self.call(candidate) if one.key == found.key]
                if same:
                    best, found, improved = candidate, same[0], True
                    break
        self._costly = costly
        return Finding(self.tool.name, found, best, await self._problem(best))

    async def _problem(self, arguments: Mapping[str, Any]) -> str:
        return await self.processes.workbench.check(self.tool, arguments)

    async def confirm(self) -> None:
        """Call each finding once more in a new process, with the whole time limit.

        A hang that ends by then is none. Of other faults it is said that they need earlier calls.
        """
        kept = list[Finding]()
        for finding in self.findings:
            self.processes.drop()
            again = await self.call(finding.arguments, self.limits.seconds)
            same = [one for one in again if one.key == finding.found.key]
            finding.repeats, finding.found = bool(same), (*same, finding.found)[0]
            if finding.repeats or finding.found.fault is not Fault.HANG:
                kept.append(finding)
        self.findings = kept


def _key(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True)
