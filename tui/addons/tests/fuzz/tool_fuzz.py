"""The calls of one tool with edges and generated arguments. Those that break it are shrunk."""

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.addons.tests.fuzz.edges import Group
from tui.addons.tests.fuzz.findings import COSTLY, Fault, Found, crash, faults_of
from tui.addons.tests.fuzz.processes import Processes
from tui.addons.tests.fuzz.shrink import causes, complexity, is_round, simpler
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.text import object_in
from tui.core.time_limits import CallTimeout
from tui.core.tools import Tool

Key = tuple[Fault, str, str]
_MISSING = re.compile(r"'(.+)' is a required property")

LEAST_SECONDS = 1.0
"""Seconds after which a call counts as hanging at first. The last try has the whole limit."""

USUAL = 20
"""How many times the slowest response so far a call may take at first."""

SLOW_MS = 100.0
"""Milliseconds after which a call is not worth the same finding again."""

MOST_COSTLY = 6
"""Crashes and hangs after which the rest of a tool's arguments is left out."""

MOST_OF_A_KIND = 8
"""Findings of a kind, for one tool. Others are only counted."""

AFTER = "ended after the response"

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

    def is_in(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether other arguments probably have the same cause."""
        if missing := _MISSING.match(self.problem):
            return missing[1] not in arguments
        return bool(self.arguments) and causes(self.arguments, arguments)


@dataclass(slots=True)
class ToolFuzz:
    """The calls of one tool and their findings.

    Attributes:
        base: valid arguments.
        more: the keys of findings after the first ones of their kind.
        unfinished: why not all arguments were tried, or "".
    """

    tool: Tool
    processes: Processes
    answers: CaseAnswers
    limits: Limits
    base: Mapping[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    more: set[Key] = field(default_factory=set)
    calls: int = 0
    valid: int = 0
    unfinished: str = ""
    _known: dict[str, Sequence[Found]] = field(default_factory=dict)
    _costly: int = 0
    _costly_keys: set[Key] = field(default_factory=set)
    _slowest: float = 0.0
    _is_patient: bool = False
    _lingers: bool = False
    _last: Mapping[str, Any] | None = None  # the arguments of the call before, of the same process

    async def run(self, groups: Iterable[Group]) -> None:
        """Call the tool with the arguments of groups. Of a group that breaks it, the rest is left out."""
        for group in groups:
            for arguments in group:
                if self._is_over():
                    return
                if self._is_known(arguments):
                    continue
                before = self._costly
                try:
                    cause, faults = await self._certain(arguments)
                except RecursionError:  # deeper than this process can write
                    break
                for found in faults:
                    if any(found.is_like(one.found) for one in self.findings):
                        continue
                    if sum(one.found.fault is found.fault for one in self.findings) < MOST_OF_A_KIND:
                        self.findings.append(await self._shrunk(found, cause))
                    else:
                        self.more.add(found.key)
                if self._costly > before:
                    break

    async def _certain(self, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[Found]]:
        """Return the faults of a call, with the arguments that cause them.

        The first call that seems to hang is given the whole time once more. A crash may come of the call
        before, after its response: then each call is watched a little longer from now on.
        """
        before = self._last
        faults = await self.call(arguments)
        if _has(faults, Fault.HANG) and not self._is_patient:
            self._is_patient = True
            faults = await self.call(arguments, self.limits.seconds)
            if not _has(faults, Fault.HANG):
                self._slowest = self.limits.seconds
        elif _has(faults, Fault.CRASH) and before is not None and not self._lingers:
            self._lingers = True
            for suspect in (arguments, before):
                again = await self.call(suspect, self.limits.seconds)
                if _has(again, Fault.CRASH):
                    self._lingers = any(one.said.startswith(AFTER) for one in again)
                    return suspect, again
            self._lingers = False
        return arguments, faults

    def _is_known(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether arguments would only break the tool as others do, at the cost of a process."""
        costly = (one for one in self.findings if one.found.key in self._costly_keys)
        return any(one.is_in(arguments) for one in costly)

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
        if not instance.workbench.is_running(instance.name):
            was_called = self._last is not None
            self._drop()
            if was_called:
                return [crash(f"{AFTER} to the call before", instance)]
            instance = await self.processes.running()
        instance.traffic.begin()
        request = Request(RequestKind.TOOL, self.tool.name, arguments)
        with self.answers.during(instance.name, {}):
            exchange = await instance.send(request, seconds=CallTimeout(limit, 3 * limit, "", ""))
        self.calls += 1
        self.valid += not problem
        if exchange.answer.lost:
            await instance.log_end()
        found = await faults_of(exchange, request, problem, self.limits.bytes, instance)
        if not exchange.answer.problem:
            self._slowest = max(self._slowest, exchange.ms / 1000)
            self._last = arguments
            if self._lingers:
                if not await instance.responds():
                    found = [*found, crash(AFTER, instance)]
        if exchange.answer.problem or _has(found, Fault.CRASH):
            self._drop()
        is_slow = exchange.answer.late or exchange.ms > 1000 * self.limits.seconds
        self._costly += is_slow or any(one.fault in COSTLY for one in found)
        is_late = exchange.ms > SLOW_MS  # some SDKs draw a traceback for half a second
        self._costly_keys |= {one.key for one in found if is_late or one.fault in COSTLY}
        self._known[key] = found
        return found

    def _drop(self) -> None:
        self.processes.drop()
        self._last = None

    async def _shrunk(self, found: Found, arguments: Mapping[str, Any]) -> Finding:
        """Return a finding with the simplest arguments that cause the same, as far as its budget goes."""
        costly, ends = self._costly, time.monotonic() + SHRINK_SECONDS
        best, tries = arguments, 0
        is_valid = not await self._problem(arguments)
        is_single = await self._is_single(found, arguments)
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
                if is_single and not await self._is_single(found, candidate):
                    continue
                tries += 1
                same = [one for one in await self.call(candidate) if one.is_like(found)]
                if same:
                    best, found, improved = candidate, same[0], True
                    break
        self._costly = costly
        return Finding(self.tool.name, found, best, await self._problem(best))

    async def _is_single(self, found: Found, arguments: Mapping[str, Any]) -> bool:
        """Return whether nothing else is wrong with arguments than what a server accepted."""
        name = found.path.partition(".")[0]
        if found.rule == "unknown" and not name:
            known = object_in(self.tool.schema, "properties")
            repaired = {key: value for key, value in arguments.items() if key in known}
        elif name:
            repaired = {key: value for key, value in arguments.items() if key != name}
            repaired |= {name: self.base[name]} if name in self.base else {}
        else:
            return False
        return not await self._problem(repaired)

    async def _problem(self, arguments: Mapping[str, Any]) -> str:
        return await self.processes.workbench.check(self.tool, arguments)

    async def confirm(self) -> None:
        """Call each finding once more in a new process, with the whole time limit.

        A hang that ends by then is none. Of other faults it is said that they need earlier calls.
        """
        kept = list[Finding]()
        for finding in self.findings:
            self._drop()
            again = await self.call(finding.arguments, self.limits.seconds)
            same = [one for one in again if one.is_like(finding.found)]
            finding.repeats, finding.found = bool(same), (*same, finding.found)[0]
            if finding.repeats or finding.found.fault is not Fault.HANG:
                kept.append(finding)
        self._drop()
        self.findings = kept


def _has(faults: Sequence[Found], fault: Fault) -> bool:
    return any(one.fault is fault for one in faults)


def _key(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True)
