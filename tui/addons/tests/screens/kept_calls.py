"""The service "kept calls" for the workbench: badges of its items, and verdicts on calls made by hand."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.addons.tests.keep.target import is_server_of as is_named_in
from tui.addons.tests.review.catalog import Catalog, Listed, ListedFile
from tui.addons.tests.review.compared import compared, sections
from tui.addons.tests.review.last_runs import LastRuns
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.run.outcome import State
from tui.addons.tests.suite.case import Case, RequestKind, Suite
from tui.addons.tests.suite.references import NotSaved, filled_expectation
from tui.core.background import Tasks
from tui.core.comparison.placeholders import same
from tui.core.servers import ServerSpec
from tui.core.tools import TextContent, ToolResult
from tui.core.workbench import CallKey, CallKind, PromptResult
from tui.runtime.copies.origin import Origin
from tui.ui.workbench.kept_calls import Badge, KeptVerdict

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

LOOK_SECONDS = 1.0
"""Seconds between two looks at the files."""

_KINDS = {
    RequestKind.TOOL: CallKind.TOOL,
    RequestKind.READ: CallKind.RESOURCE,
    RequestKind.PROMPT: CallKind.PROMPT,
}


class ServerKeptCalls:
    """The kept calls of one server: those of the suites that start it, or name it."""

    def __init__(self, runtime: "Runtime", server: str) -> None:
        self._host = runtime.host
        self._server = server
        self._runs, self._catalog, self._tasks = LastRuns(), Catalog(), Tasks()
        self._cases: Sequence[Listed] = ()
        self._reading: asyncio.Task[None] | None = None
        self._looked_at = float("-inf")
        self._is_read = False
        self.badges: Mapping[CallKey, Badge] = {}
        self.revision = 0

    def look(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS or (self._reading is not None and not self._reading.done()):
            return
        self._looked_at = now
        if not self._is_read or self._runs.is_stale or self._catalog.is_stale:
            self._is_read = True
            self._reading = self._tasks.start(self._read(), "read kept calls")

    async def _read(self) -> None:
        status = self._host.find(self._server)
        if status is not None:
            self._cases = await asyncio.to_thread(self._found, status.spec)
            self.revision += 1
        if (badges := badges_of(self._server, self._cases)) != self.badges:
            self.badges = badges

    def _found(self, spec: ServerSpec) -> Sequence[Listed]:
        """Return the cases of the server. Blocks."""
        kept = [path for path, file in self._runs.read().items() if file.kept]
        files = self._catalog.files(Path(), kept)
        return [one for file in files for one in self._of(file, spec)]

    def _of(self, file: ListedFile, spec: ServerSpec) -> Iterator[Listed]:
        if file.suite is not None and is_server_of(file.suite, spec):
            yield from file.cases(self._runs.of(file.path))

    async def verdict(
        self, key: CallKey, arguments: Any, result: ToolResult | PromptResult
    ) -> KeptVerdict | None:
        cases = [one for one in self._cases if _is_call(one, key, arguments)]
        return await asyncio.to_thread(verdict_on, cases, key, arguments, result) if cases else None

    async def close(self) -> None:
        await self._tasks.cancel()
        await asyncio.to_thread(self._runs.close)


def kept_calls(runtime: "Runtime", server: str) -> ServerKeptCalls:
    """Return the kept calls of a server, for its workbench."""
    return ServerKeptCalls(runtime, server)


def is_server_of(suite: Suite, spec: ServerSpec) -> bool:
    """Return whether a suite is about a configured server: it names it, or has its command or URL."""
    origin = Origin.of_spec(spec, os.getcwd(), configured=True)
    return is_named_in(suite.server, origin, suite.path.absolute().parent)


def badges_of(server: str, cases: Sequence[Listed]) -> dict[CallKey, Badge]:
    """Return the badges of what is called by cases that expect something."""
    found: dict[CallKey, list[State | None]] = {}
    for one in cases:
        if not isinstance(one.what, Case) or one.what.expects_nothing:
            continue
        if (kind := _KINDS.get(one.what.request.kind)) is not None:
            state = one.last.state if one.last is not None else None
            found.setdefault(CallKey(server, kind, one.what.request.name), []).append(state)
    return {key: _badge(states) for key, states in found.items()}


def _badge(states: Sequence[State | None]) -> Badge:
    """Return the badge of cases that ended so: failed if one failed, passed if all passed."""
    if failed := sum(state in (State.FAILED, State.ERROR) for state in states):
        return Badge(len(states), False, failed)
    return Badge(len(states), True if State.PASSED in states and None not in states else None)


def _is_call(one: Listed, key: CallKey, arguments: Any) -> bool:
    if not isinstance(one.what, Case) or one.what.expected.is_empty:
        return False
    request = one.what.request
    given = arguments if isinstance(arguments, dict) and key.kind is not CallKind.RESOURCE else {}
    is_same = (_KINDS.get(request.kind), request.name) == (key.kind, key.name)
    return is_same and same(dict(request.arguments), given)


def verdict_on(
    cases: Sequence[Listed], key: CallKey, arguments: Any, result: ToolResult | PromptResult
) -> KeptVerdict | None:
    """Compare a result with those of kept calls that are equal; of several, one that it is as counts."""
    found: KeptVerdict | None = None
    for one in cases:
        if not _is_call(one, key, arguments):
            continue
        case = one.what
        if not isinstance(case, Case) or (response := _response(case.request.kind, result)) is None:
            continue
        try:
            expected = filled_expectation(case.expected, {})
        except NotSaved:  # it depends on the calls before it
            continue
        if not judge(expected, response).mismatches:
            return KeptVerdict(case.name, is_same=True)
        if found is None:
            lines = compared(sections(expected, response))
            found = KeptVerdict(case.name, is_same=False, pairs=[line.pair for line in lines])
    return found


def _response(kind: RequestKind, result: ToolResult | PromptResult) -> Response | None:
    """Return the response that a result came from, None if there was none."""
    if result.raw is not None:
        return Response(kind, result.raw)
    if isinstance(result, PromptResult):
        return Response(kind, error={"message": result.problem})
    text = "\n".join(one.text for one in result.content if isinstance(one, TextContent))
    return Response(kind, error={"message": text})
