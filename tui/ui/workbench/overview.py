"""The overview tab: facts about the server, refreshed once a second."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.core import units
from tui.core.background import Tasks
from tui.core.secrets.redact import Redactor
from tui.core.servers import SamplingRule, ServerState, ServerStatus, Transport
from tui.core.tasks import EXTENSION as TASKS
from tui.core.text import clean_line
from tui.core.workbench import ServerIdentity
from tui.ui.forms.form_rows import prose
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, wrap
from tui.ui.widgets.server_rows import STATE_STYLES, Fact, noise_words, reason_words, start_words, token_facts
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.bench_context import BenchContext

if TYPE_CHECKING:
    from tui.core.context.context_parts import DefinitionTokens

FACT_CELLS = 14
MOST_PIDS = 12
MOST_LEFT_OUT = 50
MOST_EXTENSIONS = 20
WIDEST = 110
"""Maximum columns of prose; longer lines are hard to read."""


def state_row(status: ServerStatus, symbols: Symbols) -> Row:
    """Return sign and name of a server's state, and the reason if it is stopped."""
    style = "bad" if status.failed else STATE_STYLES[status.state]
    sign = symbols.running if status.state is ServerState.RUNNING else symbols.stopped
    if status.failed:
        sign = symbols.failed
    elif status.state in (ServerState.STARTING, ServerState.STOPPING):
        sign = symbols.spinner[0]
    why = f"  {reason_words(status)}" if status.state is ServerState.STOPPED else ""
    return ((f"{sign} {status.state}{why}", style),)


def _problem_rows(status: ServerStatus, width: int, redactor: Redactor, start: Row) -> Iterator[Row]:
    if status.state is ServerState.RUNNING:
        return
    if status.state is ServerState.STARTING:
        waiting = status.sign_in.startswith("waiting")
        words = f"It is {status.sign_in}." if waiting else "The server is starting…"
        yield ((f"   {words}", "warn"),)
    elif status.state is ServerState.STOPPING:
        yield (("   It is stopping.", "warn"),)
    else:
        words = clean_line(redactor.redact(status.detail), 600) if status.failed else "It is stopped."
        yield from wrap(((words, "bad" if status.failed else "text"),), width, first=(("   ", ""),))
        if status.unquoted_line:
            last = clean_line(redactor.redact(status.unquoted_line), 400)
            yield from wrap(((last, "dim"),), width, first=(("   log           ", "dim"),))
        yield (("   ", ""), *start)
    yield EMPTY


def _server(status: ServerStatus, identity: ServerIdentity) -> Iterator[Fact]:
    name = clean_line(identity.title or identity.name or status.title, 120)
    version = clean_line(identity.version or status.version, 40)
    if name or version:
        yield "name", f"{name} {version}".strip(), "text"
    protocol = clean_line(identity.protocol or status.protocol, 40)
    if protocol:
        yield "protocol", f"{protocol}{_era(protocol, status.spec.transport)}", "text"
    if status.sign_in:
        yield "sign-in", status.sign_in, "text"
    if status.spec.transport is Transport.LINES:
        yield "dialect", '"hello" lines, non-standard: tools only', "warn"
        yield "", "No resources, prompts, roots, sampling, elicitation, progress or tasks", "dim"


def _era(protocol: str, transport: Transport) -> str:
    """Return the kind of connection of a protocol revision; revisions are dates and compare as text."""
    if transport is Transport.LINES:
        return "   emulated by mcptui"
    if remark := transport.remark:
        return f"   {remark} transport"
    if protocol >= "2026-07-28":
        return "   stateless: no session"
    return "   a session, opened with initialize"


def _connection(status: ServerStatus, redactor: Redactor) -> Iterator[Fact]:
    yield "address", redactor.redact_line(status.spec.shown_url, 1200), "text"
    if names := tuple(status.spec.headers):
        shown = ", ".join(clean_line(name, 60) for name in names[:40])
        yield "headers", f"{shown}   values are not shown", "text"
    if (reach := status.reach) is not None:
        yield "transport", reach.kind, "text"
        if reach.status:
            yield "last status", f"HTTP {reach.status}", "text"
        if reach.answers is not None:
            problem = clean_line(redactor.redact(reach.problem), 400)
            yield "answers", f"no: {problem}" if reach.silent else "yes", "warn" if reach.silent else "text"
    if status.state is not ServerState.STOPPED:
        yield from _times(status)


def _process(
    status: ServerStatus, identity: ServerIdentity, share: float | None, redactor: Redactor
) -> Iterator[Fact]:
    command = identity.command or status.spec.shown_command
    line = status.spec.shown_url or " ".join(clean_line(part, 400) for part in command)
    yield "command", redactor.redact_line(line, 1200), "text"
    if folder := status.spec.starts_in:
        yield "folder", clean_line(folder, 400), "text"
    names = identity.environment or tuple(status.spec.env)
    if names:
        shown = ", ".join(clean_line(name, 60) for name in names[:40])
        yield "environment", f"{shown}   values are not shown", "text"
    if status.state is ServerState.STOPPED:
        return
    pids = identity.pids or ((status.pid,) if status.pid is not None else ())
    if pids:
        more = f" and {len(pids) - MOST_PIDS} more" if len(pids) > MOST_PIDS else ""
        word = "pid" if len(pids) == 1 else "pids"
        yield word, ", ".join(map(str, pids[:MOST_PIDS])) + more, "text"
    if identity.memory is not None:
        yield "memory", units.size(identity.memory), "text"
    if identity.cpu_seconds is not None:
        now = f"{share * 100:.0f} % now, " if share is not None else ""
        yield "CPU time", f"{now}{identity.cpu_seconds:.1f} s in total", "text"
    yield from _times(status)


def _times(status: ServerStatus) -> Iterator[Fact]:
    if status.state is ServerState.RUNNING:
        ago = (time.monotonic_ns() - status.since_ns) / 1e9
        started = time.strftime("%H:%M:%S", units.local_time(time.time() - ago)) if status.since_ns else ""
        yield "running", f"{f'since {started}, ' if started else ''}{units.clock(ago)}", "text"
    if status.start_ms is not None:
        yield "started in", units.duration(status.start_ms), "text"
    if status.restarts:
        yield "restarts", f"{status.restarts}, after it exited unexpectedly", "warn"
    if status.noise:
        yield "stdout" if status.printed_words else "noise", noise_words(status), "warn"


def _offers(
    status: ServerStatus, identity: ServerIdentity, tokens: "DefinitionTokens | None"
) -> Iterator[Fact]:
    if status.state is not ServerState.RUNNING:
        return
    counts = {"tools": status.tools, "resources": status.resources, "prompts": status.prompts}
    capabilities = dict(list(identity.capabilities.items())[:40])
    capabilities.pop("extensions", None)
    for name in dict.fromkeys((*counts, *capabilities)):
        count = counts.get(name)
        words = [units.count(count)] if count is not None and (count or name in capabilities) else []
        if name == "tools" and status.withheld:
            words.append(f"{units.count(status.withheld)} not offered to the model")
        if name in capabilities:
            words += capability_words(capabilities[name])
        if (hint := identity.hints.get(name)) is not None:
            words += filter(None, [hint.words(time.monotonic_ns())])
        if words or name in capabilities:
            yield clean_line(str(name), FACT_CELLS - 2), ", ".join(words) or "yes", "text"
    if tokens is not None:
        yield "tokens", token_facts(tokens), "text"


USED_EXTENSIONS = frozenset({TASKS})
"""Protocol extensions that mcptui supports."""


def _extensions(status: ServerStatus, identity: ServerIdentity) -> Iterator[Fact]:
    said = identity.capabilities.get("extensions")
    if status.state is not ServerState.RUNNING or not isinstance(said, Mapping):
        return
    for name, settings in list(said.items())[:MOST_EXTENSIONS]:
        used = name in USED_EXTENSIONS
        words = f"   {', '.join(capability_words(settings))}" if settings else ""
        shown = f"{clean_line(str(name), 80)}{words}"
        yield "used" if used else "not used", shown, "text" if used else "dim"


def capability_words(value: Any) -> list[str]:
    """Return the members of a capability: set flags by name, others as JSON."""
    if not isinstance(value, Mapping):
        return [clean_line(json.dumps(value, default=str), 80)]
    words = []
    for name, inner in list(value.items())[:20]:
        if inner is True or inner == {}:
            words.append(clean_line(str(name), 60))
        elif inner is not False and inner is not None:
            words.append(f"{clean_line(str(name), 40)} {clean_line(json.dumps(inner, default=str), 60)}")
    return words


def _left_out(status: ServerStatus) -> Iterator[Fact]:
    if status.listing_problem:
        yield "! tools/list", clean_line(status.listing_problem, 300), "warn"
    tools = status.quarantined
    yield from _of_tools(
        [("! a tool", f"{clean_line(name, 64)}: {clean_line(why, 300)}") for name, why in tools]
    )


def _of_tools(rows: Sequence[tuple[str, str]]) -> Iterator[Fact]:
    for name, words in rows[:MOST_LEFT_OUT]:
        yield name, words, "warn"
    if len(rows) > MOST_LEFT_OUT:
        yield "", f"and {len(rows) - MOST_LEFT_OUT} more tools", "warn"


ASK_SECONDS = 1.0


class Overview(LinePane):
    """Shows facts about the server, which it requests once a second; unchanged rows are not painted again."""

    FOLLOWS = False
    BINDINGS = bench_list_bindings()

    def __init__(self, shared: BenchContext) -> None:
        super().__init__(id="bench-overview")
        self._shared = shared
        self._identity = ServerIdentity()
        self._share: float | None = None  # of one processor, between the last two responses
        self._asked = float("-inf")
        self._measured: tuple[float, float, tuple[int, ...]] | None = None
        self._state: ServerState | None = None
        self._tasks = Tasks()
        self._asking: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Show current facts; cheap if nothing changed.

        Request the identity if it is due, and at once when the state has changed, one at a time.
        """
        now, status = time.monotonic(), self._shared.status
        state = status.state if status is not None else None
        is_due = now - self._asked >= ASK_SECONDS or state is not self._state
        if is_due and (self._asking is None or self._asking.done()):
            self._asked, self._state = now, state
            self._asking = self._tasks.start(self._ask(), "identity of a server")
        rows = self._make()
        if rows != self._shown_rows:
            self._shown_rows = rows
            self.rows_changed()

    async def _ask(self) -> None:
        identity = await self._shared.runtime.workbench.identity(self._shared.server)
        now, spent = time.monotonic(), identity.cpu_seconds
        before, self._measured = self._measured, None
        self._identity, self._share = identity, None
        if spent is None:
            return
        self._measured = (now, spent, identity.pids)
        # Only comparable for the same processes: the sum lacks the time of a process that ended.
        if before is not None and before[2] == identity.pids and now > before[0]:
            self._share = max(0.0, (spent - before[1]) / (now - before[0]))

    def _make(self) -> list[Row]:
        status, identity = self._shared.status, self._identity
        if status is None:
            return [((" ", ""), *self._shared.left_row)]
        key, redactor = self._shared.overrides.first_of, self._shared.runtime.redactor
        width = max(30, min(self.columns, WIDEST))
        rows: list[Row] = [EMPTY]
        rows += _problem_rows(status, width, redactor, start_words(status, key, "bench.toggle"))
        is_remote = bool(status.spec.url)
        process = _process(status, identity, self._share, redactor)
        tokens = self._shared.tokens
        hidden = [(f"! {clean_line(name, 40)}", clean_line(what, 300)) for name, what in status.hidden]
        for heading, lines in (
            ("SERVER", _server(status, identity)),
            ("CONNECTION", _connection(status, redactor)) if is_remote else ("PROCESS", process),
            ("PERMISSIONS", permission_facts(status, key)),
            ("OFFERS", _offers(status, identity, tokens)),
            ("EXTENSIONS", _extensions(status, identity)),
            ("OMITTED", _left_out(status)),
            ("HIDDEN TEXT", _of_tools(hidden)),
        ):
            found = [
                row
                for name, value, style in lines
                for row in wrap(((value, style),), width, first=((f"   {name:<{FACT_CELLS}}", "dim"),))
            ]
            if found:
                rows += [((f" {heading}", "dim bold"),), *found, EMPTY]
        if identity.instructions:
            given = "sent to the model" if status.spec.instructions else "not sent to the model"
            change = ((key("bench.instructions"), "text bold"), (" changes that", "dim"))
            rows += [((" INSTRUCTIONS", "dim bold"), (f"  {given}, ", "dim"), *change)]
            rows += prose(identity.instructions, width, "   ")
        return rows

    def rewrap(self) -> None:
        self._shown_rows = self._make()

    async def on_unmount(self) -> None:
        await self._tasks.cancel()


def permission_facts(status: ServerStatus, key_of: Callable[[str], str]) -> Iterator[Fact]:
    """Yield name, value and style of each fact; `key_of` returns the key of an action that changes it."""
    roots_key, rule_key = key_of("bench.roots"), key_of("bench.sampling")
    resources_key, trust_key = key_of("bench.read_resources"), key_of("bench.trust")
    spec = status.spec
    if spec.trusted:
        yield "trust", f"its read-only marks and its results are trusted   {trust_key} changes it", "text"
    else:
        yield "trust", f"not trusted: each of its calls needs approval   {trust_key} changes it", "dim"
    if status.resources is not None:
        words = "the model can read them" if spec.offer_resources else "the model cannot read them"
        yield "resources", f"{words}   {resources_key} changes it", "text" if spec.offer_resources else "dim"
    if spec.send_as_is:
        yield "secrets", "sent to the model as is   send_as_is in the configuration changes it", "warn"
    roots = ", ".join(clean_line(root, 200) for root in spec.roots)
    yield "roots", f"{roots or 'none'}   {roots_key} changes them", "text" if roots else "dim"
    if spec.sampling is SamplingRule.NEVER:
        yield "sampling", f"never   {rule_key} changes it", "dim"
    else:
        limits = f"{spec.sampling_tokens:,} tokens, {spec.sampling_per_minute} requests a minute"
        yield "sampling", f"{spec.sampling}   {limits}   {rule_key} changes it", "text"
