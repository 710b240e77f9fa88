"""One server of a suite while its cases run: starting it, and again after it died, and its requests."""

import asyncio
import os
import re
import shlex
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tui.addons.tests.run.findings import ServerTraffic
from tui.addons.tests.suite.case import LISTS, Lose, Request, RequestKind, as_sent
from tui.commands.headless import step_in_shell
from tui.core.errors import dotted, sentences
from tui.core.jsonrpc.protocol import is_modern
from tui.core.ports import hand_call
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.core.text import clean, clean_line, list_in, mapping, without_styling
from tui.core.time_limits import CallTimeout
from tui.core.traffic import Finding
from tui.core.workbench import RawAnswer
from tui.traffic.explain.crash import last_words

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

BY_COMMAND = "command mcptui test"
MOST_STARTS = 6
"""Maximum starts of a server in one suite, without those that a case asks for."""

MOST_PAGES = 200
PING_SECONDS = 2.0
WAITS = 6
LAST_WORDS_SECONDS = 0.02
"""How long a failed case waits for what its server has just written to stderr, and the last one for messages
after its response.
"""

SIGN_IN_STEP = (
    'Add it to your configuration (mcptui add), sign in (mcptui login NAME), and write server = "NAME".'
)
IN_FILE = "[server] of the test file"
SET_HEADER = f'Write headers = {{ Authorization = "Bearer ${{TOKEN}}" }} in {IN_FILE}.'
_SET_HEADER = re.compile(r"Set a header in \[servers\.[^\]]*\.headers\], .*|Set an Authorization header .*")
_TIMED_OUT = re.compile(r"\bwithin [\d.]+ s\b", re.ASCII)
_SECTION = re.compile(r"\[servers\.(?:[\w-]+|\"[^\"]*\")([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request with what came back.

    `call` is the id of its messages in the recording. `size` is that of the last response in bytes.
    """

    answer: RawAnswer
    call: str
    ms: float
    findings: tuple[Finding, ...] = ()
    size: int = 0


class ServerInstance:
    """A server in the host, of which at most one process runs at any time.

    Attributes:
        problem: why it could not be started, as sentences, or "". Then it is not tried again.
        era: the protocol era that it speaks, "modern" or "legacy", or "" if it never ran.
        records: whether each call of a tool is recorded as a decision of the user.
    """

    def __init__(
        self,
        runtime: "Runtime",
        spec: ServerSpec,
        traffic: ServerTraffic,
        *,
        configured: str = "",
        where: str = "",
        is_present: bool = False,
    ) -> None:
        """Take a server that is not in the host yet, unless it `is_present`.

        `configured` is its name in the configuration, "" for the server of a file, which has no sign-in.
        `where` are file and line that name it, which its problem begins with; "" if it is of the command
        line.
        """
        self._where = where
        self.configured = configured
        self.name = spec.name
        self.spec = spec
        self.traffic = traffic
        self.problem = self.era = ""
        self.records = True
        self.workbench = runtime.workbench
        self._runtime = runtime
        self._calls = f"hand-{uuid.uuid4().hex[:12]}"
        self._starts = self._sent = 0
        self._is_stuck = False
        if not is_present:
            runtime.host.add(spec)

    async def running(self) -> bool:
        """Start the server if it does not run or hangs, and return whether it runs."""
        host = self._runtime.host
        is_running = self.workbench.is_running(self.name)
        if is_running and not self._is_stuck:
            return True
        if self.problem:
            return False
        if self._starts >= MOST_STARTS:
            ended = clean_line(host.status(self.name).detail, 300)
            self.problem = sentences(f"not run: the server ended or hung {self._starts} times", ended)
            return False
        self._starts += 1
        known = len(self.traffic.start_faults)
        await (host.restart if is_running else host.start)(self.name)
        self._is_stuck = False
        status = host.status(self.name)
        if status.protocol:
            self.era = "modern" if is_modern(status.protocol) else "legacy"
        if status.state is ServerState.RUNNING:
            return True
        detail = status.detail or "it failed to start"
        detail = f"{self._where}: {detail}" if self._where else detail
        step = self._hit_by(known) or self._step(status) or self._next_step(status)
        self.problem = sentences(detail, step)
        if line := status.unquoted_line:
            self.problem += f" Its log: {clean_line(line, 300)}"
        return False

    def _hit_by(self, known: int) -> str:
        """Return the fault that was injected into a start, which follows `known` others, or ""."""
        found = list(self.traffic.start_faults)[known:]
        if not found:
            return ""
        method, fault = (clean_line(word, 80) for word in found[-1])
        return f"A fault hit its start: {fault} in {method or 'a message'}."

    def _step(self, status: ServerStatus) -> str:
        """Return what to do after a failed start, where this server is configured."""
        if self.configured:
            name = dotted(("servers", self.configured))
            status = replace(status, name=self.configured)
            return _SECTION.sub(lambda found: f"[{name}{found[1]}]", step_in_shell(status, ""))
        if status.reason is StopReason.NEEDS_SIGN_IN:
            return SIGN_IN_STEP
        step = _SET_HEADER.sub(SET_HEADER, step_in_shell(status, ""))
        return _SECTION.sub(IN_FILE, step).replace("its configuration", IN_FILE)

    def _next_step(self, status: ServerStatus) -> str:
        """Return what to do after a failed start whose cause is not known."""
        if self.configured:
            return f"To print its log: mcptui list {clean_line(shlex.quote(self.configured), 80)} --verbose"
        if _TIMED_OUT.search(status.detail):
            return f"If it needs longer, set a longer `timeout` in {IN_FILE}." if self._where else ""
        if not self._where:
            return "To print its log: mcptui list --verbose -- COMMAND"
        key = "url" if self.spec.url else "command"
        return f"Check {key} in {IN_FILE}. To print its log: mcptui list --verbose -- COMMAND"

    async def reconnect(self) -> bool:
        """End the connection, and the process of a local server, and start it again."""
        self._starts -= 1
        self._is_stuck = True
        return await self.running()

    async def catch_up(self) -> None:
        """Lint what the server has just sent after its last response."""
        await asyncio.sleep(LAST_WORDS_SECONDS)
        self.traffic.findings("")

    async def responds(self) -> bool:
        """Return whether the server survives its last response: it answers another request."""
        await self._ask("ping", {}, f"{self._calls}-ping", PING_SECONDS)
        for _ in range(WAITS):
            await self.catch_up()
            if not self.workbench.is_running(self.name):
                await self.log_end()
                return False
        return True

    async def log_end(self) -> None:
        """Wait a moment for what a server that has ended wrote to stderr."""
        for _ in range(WAITS):
            await self.catch_up()
            if self.traffic.words:
                break

    def last_words(self) -> tuple[str, ...]:
        """Return what the server crashed with, or its last lines of stderr, clean and redacted."""
        words = last_words([clean(without_styling(line)) for line in self.traffic.words])
        here = f"at {os.getcwd()}{os.sep}"
        words = [f"at {line.removeprefix(here)}" if line.startswith(here) else line for line in words]
        return tuple(map(self.traffic.redact, words))

    def use_roots(self, roots: tuple[str, ...]) -> None:
        """Report these folders as roots from now on."""
        if self.spec.roots != roots:
            self.spec = replace(self.spec, roots=roots)
            self._runtime.host.adopt(self.spec)

    async def send(
        self, request: Request, *, seconds: float | CallTimeout | None = None, lose: Lose | None = None
    ) -> Exchange:
        """Send a request, answer what the server asks, and wait for the response.

        `seconds` is the most to wait, None for the limit of the configuration. `lose`: this is lost, and the
        request sent again. The connection is lost after the answer, so that the server has always handled the
        request.
        """
        if lose is not None:
            first = await self._send(request, seconds)
            if problem := first.answer.problem:
                answer = replace(first.answer, problem=f"before its {lose} was lost: {problem}")
                return replace(first, answer=answer)
            if lose is Lose.CONNECTION and not await self.reconnect():
                problem = f"after the connection was lost: {self.problem}"
                return replace(first, answer=RawAnswer(problem=problem))
        return await self._send(request, seconds)

    async def _send(self, request: Request, seconds: float | CallTimeout | None) -> Exchange:
        timeout = seconds or self._runtime.turn_context.limits.call_timeout
        self._sent += 1
        call = f"{self._calls}-{self._sent}"
        began = time.perf_counter()
        if request.kind is RequestKind.LIST:
            answer = await self._list(request.name, call, timeout)
        else:
            answer = await self._ask(*as_sent(request), call, timeout)
        ms = (time.perf_counter() - began) * 1000
        found, wire_ms = self.traffic.findings(call)
        self._is_stuck = answer.late
        size = self.traffic.answered if wire_ms is not None else 0
        return Exchange(answer, call, ms if wire_ms is None else wire_ms, tuple(found), size)

    async def _ask(
        self, method: str, params: Mapping[str, Any], call: str, timeout: CallTimeout | float
    ) -> RawAnswer:
        if method == "tools/call" and self.records:  # the workbench records the other ones
            self.record(str(params["name"]), params["arguments"])
        return await self.workbench.request(
            self.name, method, params, call=call, seconds=timeout, whole=False
        )

    def record(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Record a call as a decision of the user."""
        self._runtime.decisions.add(hand_call(self.name, tool, arguments, by=BY_COMMAND))

    async def _list(self, kind: str, call: str, timeout: CallTimeout | float) -> RawAnswer:
        """Return the list with the items of all pages."""
        method, member = LISTS[kind].method, LISTS[kind].member
        items, result = list[Any](), dict[str, Any]()
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            answer = await self._ask(method, {} if cursor is None else {"cursor": cursor}, call, timeout)
            page = mapping(answer.result)
            if answer.problem or answer.error is not None or not isinstance(page.get(member), list):
                return answer
            result = result or dict(page)
            items += list_in(page, member)
            following = page.get("nextCursor")
            if not isinstance(following, str) or following == cursor:
                break
            cursor = following
        result.pop("nextCursor", None)
        return RawAnswer(result={**result, member: items})

    async def close(self) -> None:
        """Stop the server, and forget it."""
        await self._runtime.host.remove(self.name)
