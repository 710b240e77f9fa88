"""The overview tab: facts about the server, refreshed once a second."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from tui.core.addons import service
from tui.core.background import Tasks
from tui.core.language.translate import N_, _, c_, localized
from tui.core.servers import SamplingRule, ServerState, ServerStatus
from tui.core.text import clean_line, padded
from tui.core.workbench import ServerIdentity
from tui.ui.forms.form_rows import prose
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, filled, wrap
from tui.ui.widgets.server_facts import FACT_CELLS, Fact, fact_rows, server_facts
from tui.ui.widgets.server_rows import start_words
from tui.ui.workbench.bench_context import BenchContext

CHANGES = N_("{key} changes it")

_MOVING = {ServerState.STARTING: N_("It is starting."), ServerState.STOPPING: N_("It is stopping.")}

WIDEST = 110
"""Maximum columns of prose; longer lines are hard to read."""


def _problem_rows(status: ServerStatus, width: int, start: Row) -> Iterator[Row]:
    if status.state is ServerState.RUNNING:
        return
    if status.state is not ServerState.STOPPED:
        waiting = status.sign_in.startswith("waiting")
        said = _("It is {state}.", state=localized(status.sign_in)) if waiting else _(_MOVING[status.state])
        yield ((f"   {said}", "warn"),)
    else:
        words = clean_line(localized(status.detail), 600) if status.failed else _("It is stopped.")
        yield from wrap(((words, "bad" if status.failed else "text"),), width, first=(("   ", ""),))
        if status.unquoted_line:
            last = clean_line(status.unquoted_line, 400)
            yield from wrap(((last, "dim"),), width, first=((f"   {padded(_('log'), FACT_CELLS)}", "dim"),))
        yield (("   ", ""), *start)
    yield EMPTY


ASK_SECONDS = 1.0


class CardFacts(Protocol):
    """What an add-on knows about the card of a server."""

    def of(self, status: ServerStatus, identity: ServerIdentity) -> Iterator[Fact]:
        """Yield name, value and style of each fact."""


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
        self._acting: tuple[object, Sequence[Fact]] = None, ()
        self._tasks = Tasks()
        self._card: CardFacts | None = None
        self._asking: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Show current facts. Request the identity if it is due, or if the state has changed."""
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
        now, spent, before = time.monotonic(), identity.cpu_seconds, self._measured
        self._identity, self._share = identity, None
        self._measured = (now, spent, identity.pids) if spent is not None else None
        # Only comparable for the same processes: the sum lacks the time of a process that ended.
        if spent is not None and before and before[2] == identity.pids and now > before[0]:
            self._share = max(0.0, (spent - before[1]) / (now - before[0]))

    def _make(self) -> list[Row]:
        status, identity = self._shared.status, self._identity
        if status is None:
            return wrap(self._shared.left_row, self.columns, first=((" ", ""),))
        key = self._shared.overrides.first_of
        width = max(30, min(self.columns, WIDEST))
        rows: list[Row] = [EMPTY]
        rows += _problem_rows(status, width, start_words(status, key))
        sections = server_facts(status, identity, self._shared.tokens, self._share)
        sections.insert(2, (_("PERMISSIONS"), permission_facts(status, key)))
        sections.insert(4, (_("ACTS AS"), iter(self._acting_facts(status))))
        door = self._shared.runtime.door
        if door is not None and (words := door.attached_words().get(status.name)):
            attached = localized(words).removeprefix(_("attached: {who}", who=""))
            sections.insert(2, (_("COMMANDS"), iter([(_("attached"), attached, "text")])))
        if status.spec.card:
            sections.insert(2, (_("SERVER CARD"), self._card_facts(status)))
        for heading, facts in sections:
            if found := fact_rows(facts, width, "   "):
                switch = _("{key} turns one on or off", key=key("bench.extension"))
                after = f"   {switch}" if heading == _("EXTENSIONS") else ""
                rows += [((f" {heading}", "dim bold"), (after, "dim")), *found, EMPTY]
        if identity.instructions:
            given = _("not sent to the model, {key} changes that")
            if status.spec.instructions:
                given = _("sent to the model, {key} changes that")
            said = filled(given, "dim", key=(key("bench.instructions"), "text bold"))
            rows += [((f" {_('INSTRUCTIONS')}", "dim bold"), ("  ", ""), *said)]
            rows += prose(identity.instructions, width, "   ")
        return rows

    def _acting_facts(self, status: ServerStatus) -> Sequence[Fact]:
        """Return how mcptui introduces itself as another host, and what that host makes of the tools."""
        runtime, host = self._shared.runtime, status.spec.act_as
        if (state := (host, runtime.host.revision)) != self._acting[0]:
            find = service("acting facts") if host else None
            tools = runtime.workbench.tools(self._shared.server)
            self._acting = state, [] if find is None else find(host, self._shared.server, tools)
        return self._acting[1]

    def _card_facts(self, status: ServerStatus) -> Iterator[Fact]:
        if self._card is None and (made := service("card facts")) is not None:
            self._card = made(self._tasks.start)
        return iter(()) if self._card is None else self._card.of(status, self._identity)

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
        said, style = _("its read-only marks and its results are trusted"), "text"
    else:
        said, style = _("not trusted: each of its calls needs approval"), "dim"
    yield _("trust"), f"{said}   {_(CHANGES, key=trust_key)}", style
    if status.resources is not None:
        words = _("the model can read them") if spec.offer_resources else _("the model cannot read them")
        style = "text" if spec.offer_resources else "dim"
        yield _("resources"), f"{words}   {_(CHANGES, key=resources_key)}", style
    if spec.send_as_is:
        change = _("{setting} in the configuration changes it", setting="send_as_is")
        yield _("secrets"), f"{_('sent to the model as is')}   {change}", "warn"
    roots = ", ".join(clean_line(root, 200) for root in spec.roots)
    old = _("deprecated")
    change = _("{key} changes them", key=roots_key)
    yield _("roots"), f"{roots or _('none')}   {old}   {change}", "text" if roots else "dim"
    change = _(CHANGES, key=rule_key)
    if spec.sampling is SamplingRule.NEVER:
        yield _("sampling"), f"{c_('rule', 'never')}   {old}   {change}", "dim"
    else:
        limits = _(
            "{tokens} tokens, {requests} requests a minute",
            tokens=f"{spec.sampling_tokens:,}",
            requests=spec.sampling_per_minute,
        )
        yield _("sampling"), f"{_(spec.sampling.value)}   {limits}   {old}   {change}", "text"
