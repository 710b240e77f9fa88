"""Examines one server step by step, and never calls a tool.

The server is started by the host, as always; what the steps say is read from its status and its traffic.
"""

import asyncio
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tui.addons.doctor.causes import cause_of, served_at
from tui.addons.doctor.local import LocalSteps
from tui.addons.doctor.schemas import schema_step, token_step
from tui.addons.doctor.steps import Checklist, State, Step, cleaned
from tui.addons.doctor.wire import Observed
from tui.commands.headless import step_in_shell
from tui.core.errors import as_sentences
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import message, n_message, together
from tui.core.servers import EraChoice, ServerSpec, ServerState, ServerStatus, Transport
from tui.core.text import capitalized, clean_line, quoted_name
from tui.core.units import and_more, duration
from tui.traffic.explain.crash import says_in_use

if TYPE_CHECKING:
    from tui.addons.doctor.network import Network
    from tui.core.secrets.stored_sign_in import StoredSignIn
    from tui.runtime.runtime import Runtime

LOCAL = ("command", "interpreter", "version", "environment", "folder", "start", "first byte", "stray output")
REMOTE = ("proxy", "name", "tcp", "tls", "token", "session", "stream")
LAST = ("handshake", "lists", "schemas", "tokens", "close")

OTHER_ERA_SECONDS = 5.0
SLOW_MS = 20_000
_HINT = re.compile(r"\b[Ii]t (asks|sends|writes) ")
_IN_TABLE = re.compile(r"Check (?:command|args|cwd) in \[servers\.[^\]]*\]\.")
_NOISE = "not JSON-RPC"
_UNKNOWN = message("run the command in a shell: it may be no MCP server, or lack an argument")
_KEYS = re.compile(r"\bPress [^.]*\.\s*")
"""Advice that names keys of other screens."""


Reword = Callable[[str, Step], Step]
"""Returns a step of a server as it is to be shown."""

Tell = Callable[[Step | str], object]
"""Is called with the name of each step as it begins, and with each finished step."""


class Examination:
    """The examination of one server of a runtime, which has no other listener of the traffic.

    `beside` is the runtime of the app, if the same server may run there.
    """

    def __init__(
        self,
        runtime: "Runtime",
        name: str,
        wire: Observed,
        tell: Tell = lambda told: None,
        reword: Reword = lambda name, step: step,
        beside: "Runtime | None" = None,
    ) -> None:
        self._beside = beside
        self._runtime, self._host, self._name = runtime, runtime.host, name
        self._wire = wire
        self._tell, self._reword = tell, reword
        self._spec: ServerSpec = runtime.host.status(name).spec
        self.found = Checklist(name, runtime.host.status(name).launch or _launch(runtime, self._spec))
        self._network: Network | None = None
        self._stored_sign_in: StoredSignIn | None = None

    async def run(self) -> Checklist:
        """Examine the server up to the first failed step, and stop it."""
        names = (*(REMOTE if self._spec.url else LOCAL), *LAST)
        try:
            await (self._remote() if self._spec.url else self._local())
        finally:
            done = {one.name for one in self.found.steps}
            if self.found.failure is not None:
                self.found.rest = tuple(name for name in names if name not in done)
        return self.found

    def _add(self, *steps: Step) -> bool:
        """Show steps; return whether none of them failed."""
        for one in steps:
            redact = self._runtime.redactor.redact
            fix = _KEYS.sub("", redact(one.fix))
            step = replace(one, seen=redact(one.seen), fix=fix, said=(one.seen, one.fix))
            shown = cleaned(self._reword(self._name, step))
            self.found.steps.append(shown)
            self._tell(shown)
        return all(one.state is not State.FAILED for one in steps)

    async def _allowed(self) -> bool:
        """Ask for the consent that the server needs, and say so if it is not given."""
        if self._runtime.consent.allows(self._spec) or await self._runtime.consent.ask(self._spec):
            return True
        launch, source = clean_line(self.found.launch, 200), clean_line(self._spec.source, 200)
        seen = message(
            "not started: {command} comes from {source} and needs your consent", command=launch, source=source
        )
        fix = message("if you trust it, add --trust-config, or check it alone in a terminal")
        return self._add(Step.failed("consent", seen, fix))

    # ---- local -------------------------------------------------------------------------------------------

    async def _local(self) -> None:
        local = LocalSteps(self._spec)
        self._tell("command")
        if not self._add(local.command()):
            return
        self._tell("interpreter")
        may_run = self._runtime.consent.allows(self._spec)
        if not self._add(await local.interpreter(may_run=may_run)):
            return
        if not self._add(local.version(), local.environment(), local.folder()) or not await self._allowed():
            return
        self._tell("start")
        status = await self._start()
        if status.state is not ServerState.RUNNING:
            self._not_started(status, local.advice)
            return
        wire = self._wire
        first = (wire.first_ns - wire.spawned_ns) / 1e6
        self._add(
            self._started(status),
            Step("first byte", message("after {time}", time=duration(first))),
            _stray(status),
        )
        await self._running(status)

    def _started(self, status: ServerStatus) -> Step:
        seen, took = message("process {pid}", pid=self._wire.pid), status.start_ms or 0.0
        if took > SLOW_MS:
            fix = message("other hosts give up after 30 s: start faster, or raise their limit")
            return replace(Step.warning("start", seen, fix), ms=took)
        return Step("start", seen, ms=took)

    async def _start(self) -> ServerStatus:
        self._host.reconfigure(self._name, restart=False)
        self._wire.waits = self._tell
        await self._host.start(self._name)
        await self._host.changes_answered()
        self._wire.waits = lambda step: None
        return self._host.status(self._name)

    def _not_started(self, status: ServerStatus, advice: str) -> None:
        """Add the steps up to the one at which the start failed."""
        wire = self._wire
        log = self._host.stderr(self._name, own=True)
        if self._beside is not None and says_in_use(log) and (twin := self._twin()) is not None:
            seen = message(
                "no second process, because its port is in use by mcptui's own process {pid} of this server: "
                "no fault",
                pid=twin.pid,
            )
            stop = message("stop the server in mcptui to check its start")
            self._add(Step.warning("start", seen, stop))
            seen = message("{who}, of mcptui's own process {pid}", who=_introduction(twin), pid=twin.pid)
            self._add(Step("handshake", seen))
            self._listed(self._beside, twin)
            return
        said, fix = self._said(status)
        if not wire.spawned_ns:
            self._add(Step.failed("start", said, fix))
            return
        cause, place, better = cause_of(log, self._spec.env, os.environ)
        exited = status.exit_code is not None or bool(status.signal)
        if cause or (place and exited):
            at = together(cause or said, f" {place}" if place else "")
            said = message("{where}: {problem}", where=at, problem=said) if cause else at
        fix = advice if advice and "module" in cause else better or fix
        hint = _HINT.search(status.detail)
        if exited and not wire.answers and not hint:
            usual = message("correct what its last line says") if status.stderr_last else _UNKNOWN
            self._add(Step.failed("start", said, fix or usual))
            return
        self._add(Step("start", message("process {pid}", pid=wire.pid)))
        if not exited and not wire.answers and (url := served_at(log)):
            has_path = "/" in url.partition("//")[2]
            fix = message("give that URL, or have it serve stdio")
            fix = fix if has_path else message("give that URL (usually with /mcp), or have it serve stdio")
            name = "stray output" if wire.first_ns else "first byte"
            self._add(Step.failed(name, message("it serves HTTP on {url}", url=url), fix))
            return
        if hint or (_NOISE in status.detail and not wire.answers):
            fix = fix or message("write only messages to stdout, each on one line, and logs to stderr")
            if hint and hint[1] == "asks":
                fix = message("give it the option that answers the question, such as -y for npx")
            self._add(Step.failed("stray output", said, fix))
        elif not wire.first_ns:
            if not better:
                fix = message("run the command in a shell: it may wait for input. --seconds N waits longer")
            self._add(Step.failed("first byte", message("nothing on stdout: {why}", why=said), fix))
        elif wire.stopped_ns and wire.first_ns > wire.stopped_ns:
            seen = message(
                "stdout is buffered: it wrote nothing before stdin was closed. {why}", why=capitalized(said)
            )
            fix = message(
                "flush stdout after each message, or use python -u. If it only starts slowly, --seconds N "
                "waits longer"
            )
            self._add(Step.failed("first byte", seen, fix))
        else:
            first = duration((wire.first_ns - wire.spawned_ns) / 1e6)
            self._add(Step("first byte", message("after {time}", time=first)))
            fix = fix or message("correct what the server says, or how it is started")
            self._add(_stray(status), Step.failed("handshake", said, fix))

    def _twin(self) -> ServerStatus | None:
        """Return the status of the same server in the app if it runs there."""
        twin = self._beside.host.find(self._name) if self._beside is not None else None
        runs = twin is not None and twin.state is ServerState.RUNNING
        return twin if runs and twin is not None and twin.spec.digest() == self._spec.digest() else None

    def _said(self, status: ServerStatus) -> tuple[str, str]:
        """Return why a server does not run, and what to do in a shell."""
        fix = step_in_shell(status, "")
        if self._runtime.is_unconfigured:
            fix = _IN_TABLE.sub("Check the command line.", fix)
        return status.detail or message("it failed to start"), fix

    # ---- remote ------------------------------------------------------------------------------------------

    async def _remote(self) -> None:
        from tui.addons.doctor import remote
        from tui.addons.doctor.network import Network

        if not await self._allowed():
            return
        await asyncio.to_thread(_load_remote)
        secrets = self._runtime.redactor.add
        self._network = network = Network(self._spec, secrets, self._tell)
        if not self._add(*await network.steps()):
            return
        self._tell("token")
        stored = await self._stored()
        status = await self._start()
        if stored is None:  # some sign-ins need no user, such as that of client credentials
            stored = await self._stored()
        self._stored_sign_in = stored
        login = self._spec.url or "" if self._runtime.is_unconfigured else self._name
        steps = [*remote.sign_in_steps(self._spec, self._wire, status, stored, login)]
        failed_at = next((at for at, one in enumerate(steps) if one.state is State.FAILED), None)
        if status.state is not ServerState.RUNNING and failed_at is not None:
            self._add(*steps[: failed_at + 1])
            return
        if status.state is not ServerState.RUNNING:
            await self._not_connected(status)
            return
        if self._add(*steps, remote.session_step(self._wire, status)):
            self._tell("stream")
            self._add(*await remote.stream_steps(network, self._spec, self._wire, status, stored))
            await self._running(status)

    async def _stored(self) -> "StoredSignIn | None":
        sign_ins = self._host.sign_ins
        if sign_ins is None or self._runtime.is_unconfigured:
            return None
        return await sign_ins.store.find(self._name, re.sub("^ws", "http", self._spec.url or ""))

    async def _not_connected(self, status: ServerStatus) -> None:
        from tui.addons.doctor import remote

        assert self._network is not None
        code = status.reach.status if status.reach is not None else 0
        elsewhere = await self._network.elsewhere() if code in (404, 405, 410) else ""
        name, seen, better = remote.failed_exchange(self._wire, status, self._network.answer)
        if elsewhere and not (self._network.answer is not None and self._network.answer.is_old_sse):
            name, seen, better = (
                "address",
                message("there is an MCP server at {url}", url=elsewhere),
                message("use {url}", url=elsewhere),
            )
        said, fix = self._said(status)
        said = as_sentences([said, capitalized(seen)]) if seen else said
        self._add(
            Step.failed(name or "handshake", said, better or fix or message("correct what the server says"))
        )

    # ---- both --------------------------------------------------------------------------------------------

    async def _running(self, status: ServerStatus) -> None:
        self._tell("handshake")
        self._add(await self._handshake(status))
        self._listed(self._runtime, self._host.status(self._name))
        self._tell("close")
        await self._host.stop(self._name)
        self._add(self._closed())

    def _listed(self, runtime: "Runtime", status: ServerStatus) -> None:
        """Add what the server of a runtime lists."""
        self._add(self._lists(status))
        tools = runtime.workbench.tools(self._name)
        self.found.tools = tuple(tool.name for tool in tools)
        self._add(schema_step(tools, status.quarantined))
        self._add(token_step(runtime.request.definition_tokens_of(self._name)))

    def _lists(self, status: ServerStatus) -> Step:
        kinds = ((status.tools, _tools), (status.resources, _resources), (status.prompts, _prompts))
        if status.listing_problem:
            _, place, _ = cause_of(self._host.stderr(self._name), self._spec.env, os.environ)
            seen = f"{status.listing_problem} {place}".rstrip()
            return Step.failed("lists", seen, message("correct the response to tools/list"))
        if not any(number for number, _made in kinds) and not status.quarantined:
            fix = message("register them before the server starts, and declare the capabilities")
            return Step.failed("lists", message("it lists no tools, no resources and no prompts"), fix)
        seen = _joined([made(number) for number, made in kinds if number is not None])
        if twice := [name for name, count in Counter(self._wire.listed).items() if count > 1]:
            told = and_more([clean_line(name, 60) for name in twice], 3)
            seen = n_message(
                "{seen}. It listed {n} tool, more than one with the name {names}",
                "{seen}. It listed {n} tools, more than one with the name {names}",
                len(self._wire.listed),
                seen=seen,
                names=told,
            )
            fix = message("name each tool once: a model cannot tell them apart")
            return Step.failed("lists", seen, fix)
        if omitted := status.quarantined:
            name, why = omitted[0]
            about = {"n": len(omitted), "name": clean_line(name, 60), "why": clean_line(why, 120)}
            if (more := len(omitted) - 1) > 0:
                seen = message(
                    "{seen}. {n} omitted: {name} ({why}), {more} more", seen=seen, more=more, **about
                )
            else:
                seen = message("{seen}. {n} omitted: {name} ({why})", seen=seen, **about)
        return Step("lists", seen)

    async def _handshake(self, status: ServerStatus) -> Step:
        """Say which eras the server speaks; the one that was not tried is tried over another connection."""
        modern = is_modern(status.protocol)
        seen = _introduction(status)
        if self._spec.transport is Transport.LINES:
            return Step("handshake", message("line dialect"))
        if self._spec.era is not EraChoice.AUTO:
            return Step("handshake", f'{seen} (era = "{self._spec.era.value}")')
        probe = self._wire.of("server/discover")
        if not modern and probe is not None:
            why = probe.problem or (f"HTTP {probe.status}" if probe.status >= 400 else message("no answer"))
            seen = message(
                "{seen}. 2026-07-28: no (server/discover: {why})", seen=seen, why=clean_line(why, 80)
            )
            return Step("handshake", seen)
        if self._stored_sign_in is not None:  # it belongs to this name
            return Step("handshake", seen)
        other = EraChoice.LEGACY if modern else EraChoice.MODERN
        again = await self._other_era(other)
        if again.state is ServerState.RUNNING:
            return Step("handshake", message("{one}, and {other}", one=seen, other=again.protocol))
        if not modern:
            return Step("handshake", message("{seen}. 2026-07-28: no", seen=seen))
        why = clean_line(again.detail, 120)
        fix = message("hosts that speak 2025-11-25 or older cannot use it: support initialize, too")
        seen = message("{seen} only. initialize: {why}", seen=seen, why=why)
        return Step.warning("handshake", seen, fix)

    async def _other_era(self, era: EraChoice) -> ServerStatus:
        name = f"{self._name} ({era.value})"
        spec = replace(self._spec, name=name, era=era, start_seconds=OTHER_ERA_SECONDS, process_of=self._name)
        self._host.add(spec)
        try:
            await self._host.start(name)
            return self._host.status(name)
        finally:
            await self._host.remove(name)

    def _closed(self) -> Step:
        if self._spec.url:
            from tui.addons.doctor.remote import close_step

            return close_step(self._wire)
        detail = self._host.status(self._name).detail
        if "left" in detail:
            return Step.warning("close", detail, message("end child processes when stdin is closed"))
        if self._wire.late:
            said = quoted_name(self._wire.late, 80)
            seen = message("{said} was on stdout, buffered until it ended", said=said)
            fix = message(
                "log to stderr: where stdout is not buffered, such a line comes before the first response"
            )
            return Step.warning("close", seen, fix)
        if self._wire.signals:
            seen = message(
                "did not exit when stdin was closed, {signal} ended it", signal=self._wire.signals[-1]
            )
            return Step.warning("close", seen, message("exit when stdin is closed"))
        return Step("close", message("exited when stdin was closed"))


def _introduction(status: ServerStatus) -> str:
    who = clean_line(f"{status.title} {status.version}".strip(), 60)
    return f"{status.protocol}{f', {who}' if who else ''}"


def _tools(number: int) -> str:
    return n_message("{n} tool", "{n} tools", number)


def _resources(number: int) -> str:
    return n_message("{n} resource", "{n} resources", number)


def _prompts(number: int) -> str:
    return n_message("{n} prompt", "{n} prompts", number)


def _joined(parts: Sequence[str]) -> str:
    """Return up to three parts as one message."""
    match parts:
        case [one, two, three]:
            return message("{one}, {two}, {three}", one=one, two=two, three=three)
        case [one, two]:
            return message("{one}, {two}", one=one, two=two)
    return parts[0] if parts else ""


def _load_remote() -> None:
    from tui.host.server.server_start import remote_transports

    remote_transports()


def _launch(runtime: "Runtime", spec: ServerSpec) -> str:
    return runtime.redactor.redact(spec.shown_url or shlex.join(spec.shown_command))


def _stray(status: ServerStatus) -> Step:
    if status.printed_words:
        fix = message("log to stderr: some hosts end the connection at such a line")
        first = quoted_name(status.printed, 80)
        seen = message("{lines}, first: {line}", lines=status.printed_words, line=first)
        return Step.warning("stray output", seen, fix)
    if status.invalid:
        seen = message("it sent {what}", what=status.invalid)
        return Step.warning("stray output", seen, message("send valid JSON-RPC messages"))
    return Step("stray output", message("none"))


def unusable(name: str, problems: tuple[str, ...]) -> Checklist:
    """Return the checklist of a server whose configuration is invalid."""
    step = Step.failed("configuration", as_sentences(problems), message("correct it (`mcptui config check`)"))
    return Checklist(name, steps=[cleaned(step)], rest=("start", *LAST))


def disabled(name: str) -> Checklist:
    """Return the checklist of a server that is not to be started."""
    step = Step.failed(
        "configuration", message("the server is disabled"), message("remove `disabled = true`")
    )
    return Checklist(name, steps=[step], rest=("start", *LAST))
