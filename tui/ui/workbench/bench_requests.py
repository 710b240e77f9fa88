"""Requests of a workbench: items of its server, subscriptions to resources, and calls by hand."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from textual.widgets import TextArea

from tui.core import units
from tui.core.background import Tasks
from tui.core.errors import McptuiError, without_stop
from tui.core.language.translate import N_, _, localized, n_, sentences
from tui.core.permission.rules import Verdict
from tui.core.servers import ServerState, ServerStatus
from tui.core.tasks import Task
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.workbench import ResourceInfo, ResourceSubscription
from tui.settings.locations import state_dir
from tui.storage.files.foreign_file import in_reading_thread
from tui.ui.dialogs.confirm import call_after, confirm_call
from tui.ui.forms.form_pane import FormPane
from tui.ui.lists.unverified import UNVERIFIED, is_unverified
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.rows import Row
from tui.ui.widgets.server_rows import start_words
from tui.ui.workbench.bars import CHANGED_ITEMS, BenchTab
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.calls import HandCall, recorded_ms, run, uri_of
from tui.ui.workbench.items import Item, item_key, of_prompts, of_resources, of_tasks, of_tools
from tui.ui.workbench.kept_calls import BenchKept, Result

_ASKED_FOR = (BenchTab.RESOURCES, BenchTab.PROMPTS)
"""Tabs whose items are requested from the server. The host already has its tools."""


_STATES = {
    ServerState.STARTING: N_("The server is starting…"),
    ServerState.STOPPING: N_("The server is stopping…"),
    ServerState.RUNNING: N_("The server is running…"),
}

_NONE = {
    BenchTab.TOOLS: N_("This server has no tools."),
    BenchTab.RESOURCES: N_("This server has no resources."),
    BenchTab.PROMPTS: N_("This server has no prompts."),
}


class BenchOffers:
    """Fills the benches with the items of the server; `changed` is called after a response."""

    def __init__(
        self, shared: BenchContext, benches: Mapping[BenchTab, Bench], changed: Callable[[], None]
    ) -> None:
        self._shared = shared
        self._benches = benches
        self._changed = changed
        self._running = Tasks()
        self._tasks: dict[BenchTab, asyncio.Task[None]] = {}
        self._asked: dict[BenchTab, int] = {}  # the revision that was requested since the server started
        self._seen: tuple[object, ...] = ()
        self._life: tuple[ServerState | None, int] = None, 0  # state, and since when
        self._left: dict[str, Item] = {}
        self._noted: dict[BenchTab, str] = {}

    @property
    def notes(self) -> Mapping[str, str]:
        """Counts of each tab, and of what the user has not seen yet, as text."""
        news = {tab: len(one.news) for tab, one in self._benches.items()}
        return {
            tab: _(CHANGED_ITEMS, items=items, n=news[tab]) if news[tab] else items
            for tab, items in self._noted.items()
        }

    def look(self, status: ServerStatus | None) -> None:
        """Show changes; request items that the host does not have."""
        runtime, state = self._shared.runtime, status.state if status is not None else None
        life = state, status.since_ns if status is not None else 0
        seen = (runtime.host.revision, self._shared.tokens, runtime.request.offers)
        if (life, seen) != (self._life, self._seen):
            if life != self._life:
                self._asked.clear()
            self._life, self._seen = life, seen
            if status is not None and state is ServerState.RUNNING:
                self._tools(status)
            else:
                self._show_nothing(status)
        if status is None or state is not ServerState.RUNNING:
            return
        for tab in _ASKED_FOR:
            if self._stale(tab, status):
                self._asked[tab] = getattr(status, f"{tab}_revision")
                if (before := self._tasks.get(tab)) is not None:
                    before.cancel()
                self._tasks[tab] = self._running.start(self._listed(tab), f"list the {tab}")

    def reload(self) -> None:
        """Request everything again, and say so; if the server does not run, say that."""
        status, say = self._shared.configured(), self._shared.screen.notify
        if status is not None and status.state is ServerState.RUNNING:
            say(_("Reloading the lists of the server."), timeout=2)
            self._shared.runtime.workbench.relist(self._shared.server)
            self._asked.clear()
            self._seen = ()
        elif status is not None:
            say(_("The server is not running, so it has no lists."), timeout=4)

    # ---- tools, from the host ----

    def _tools(self, status: ServerStatus) -> None:
        marks = self._shared.runtime.request.tool_marks() if self._shared.runtime.is_ready else {}
        server, workbench, book = self._shared.server, self._shared.runtime.workbench, self._shared.book
        tools = of_tools(workbench.tools(server), marks, status.spec.off, self._shared.tokens)
        # Also those background tasks whose results were fetched on this screen.
        now = {item.key: item for item in of_tasks(workbench.tasks(server))}
        known = (self._left | now).items()
        self._left = {key: one for key, one in known if key in now or book.of(server, key)}
        self._put(BenchTab.TOOLS, [*tools, *self._left.values()], status.listing_problem)
        for tab in _ASKED_FOR:
            if self._stale(tab, status) and not self._benches[tab].list.counts[1]:
                self._benches[tab].show((), (((_("loading…"), "dim"),),))

    def _show_nothing(self, status: ServerStatus | None) -> None:
        row: Row = self._shared.left_row
        if status is not None and status.state is ServerState.STOPPED:
            start = start_words(status, self._shared.overrides.first_of)
            why = without_stop(clean_line(localized(status.detail), 300)) if status.failed else ""
            said = _("The server is stopped: {why}.", why=why) if why else _("The server is stopped.")
            row = ((sentences(f"{said} "), "text"), *start)
        elif status is not None:
            row = ((_(_STATES[status.state]), "warn"),)
        for bench in self._benches.values():
            if not bench.list.counts[1]:  # the last list and the results stay readable
                bench.show((), (row,))

    def _stale(self, tab: BenchTab, status: ServerStatus) -> bool:
        """Return whether the server has restarted, or a tab's items have changed, since the last request."""
        return bool(self._asked.get(tab) != getattr(status, f"{tab}_revision"))

    async def _listed(self, tab: BenchTab) -> None:
        items: Sequence[Item]
        if tab is BenchTab.RESOURCES:
            bench = self._shared.runtime.workbench
            resources, problem = await bench.resources(self._shared.server)
            marks = {one.uri: _(UNVERIFIED) for one in resources if is_unverified(bench, one)}
            items = of_resources(resources, marks)
        else:
            prompts, problem = await self._shared.runtime.workbench.prompts(self._shared.server)
            items = of_prompts(prompts)
        if self._life[0] is not ServerState.RUNNING:
            return  # the server has exited: keep the last list
        self._put(tab, items, problem)
        self._changed()

    def _put(self, tab: BenchTab, items: Sequence[Item], problem: str) -> None:
        bench, words, noted = self._benches[tab], clean_line(localized(problem), 400), self._noted.get(tab)
        offered = [item for item in items if not isinstance(item.about, Task)]
        if not problem:  # an item missing from a failed response may still exist
            status = self._shared.status
            start = self._life[1] if status is not None and status.spec.is_own else 0
            self._shared.book.listed(self._shared.server, tab, offered, start)
        if items or not problem or not bench.list.counts[1]:  # a failed request does not clear the list
            empty: Row = ((f"! {words}", "bad"),) if problem else ((_(_NONE[tab]), "dim"),)
            bench.show(items, (empty,))
            self._noted[tab] = _counted(offered, len(items) - len(offered))
        if problem and bench.list.counts[1]:
            self._noted[tab] = f"{self._noted[tab].removesuffix(FAILED)}{FAILED}"
            if tab in _ASKED_FOR or self._noted[tab] != noted:  # the tools come again with every change
                bench.line.say((f"! {words}", "warn"))

    async def close(self) -> None:
        await self._running.cancel()


FAILED = " !"
"""Suffix of a tab's text: the last request failed, so its list is older."""


def _counted(items: Sequence[Item], tasks: int) -> str:
    """Return the number of items: "7", "5, 1 task". Templates are not counted, as elsewhere."""
    templates = sum(isinstance(item.about, ResourceInfo) and item.about.template for item in items)
    listed = units.count(len(items) - templates)
    if templates and templates == len(items):
        listed = n_("{n} template", "{n} templates", templates)
    return n_("{items}, {n} task", "{items}, {n} tasks", tasks, items=listed) if tasks else listed


PACE_SECONDS = 1.0
"""Minimum seconds between two reads of a resource that keeps changing."""


class SubscriptionWatch:
    """Shows the subscriptions of one server on the resources tab. `read` reads the resource of the bench.

    `seen` are the displayed updates, by URI, which outlive the workbench.
    """

    def __init__(self, shared: BenchContext, bench: Bench, read: Callable[[Bench], None]) -> None:
        self._shared = shared
        self._bench = bench
        self._read = read
        self._seen = shared.book.updates[shared.server]
        self._known: Mapping[str, ResourceSubscription] = {}
        self._stale: set[str] = set()
        self._read_at = float("-inf")

    def look(self, *, visible: bool) -> None:
        """Mark resources that have changed; read the resource on screen again if `visible`."""
        known = self._shared.runtime.workbench.subscriptions(self._shared.server)
        if known != self._known:
            self._take(dict(known))
        item = self._bench.item
        about = item.about if item is not None else None
        if visible and self._stale and isinstance(about, ResourceInfo):
            uri, newest = uri_of(about, self._bench.arguments()[0]), self._bench.calls.newest
            is_read = newest is not None and newest.took_ms is None
            if uri in self._stale and not is_read and time.monotonic() - self._read_at >= PACE_SECONDS:
                self._stale.discard(uri)
                self._read_at = time.monotonic()
                self._read(self._bench)

    def _key(self, uri: str) -> str:
        """Return the key of the item from which a resource was subscribed to: its own, or its template's."""
        return self._shared.book.subscribed_on[self._shared.server].get(uri, item_key("resource", uri))

    def _take(self, known: Mapping[str, ResourceSubscription]) -> None:
        before, self._known = self._known, known
        for uri, one in known.items():
            if one.updates > self._seen.get(uri, 0):
                self._bench.news[self._key(uri)] = "changed"
                self._stale.add(uri)
            self._seen[uri] = one.updates
            if one.problem and one != before.get(uri):
                self._bench.line.say(
                    (_("! Not subscribed. {why}", why=clean_line(localized(one.problem), 300)), "warn")
                )
        for uri in self._seen.keys() - known.keys():
            del self._seen[uri]
        self._stale &= known.keys()
        subscribed = {uri for uri, one in known.items() if not one.problem}
        self._bench.list.note(dict.fromkeys(map(self._key, subscribed), "subscribed"))


class HandCalls:
    """Makes the calls of one workbench."""

    def __init__(self, shared: BenchContext, kept: BenchKept) -> None:
        self._shared = shared
        self._kept = kept
        self._tasks: dict[HandCall, asyncio.Task[None]] = {}
        self._running = Tasks()
        self._checks: dict[Bench, asyncio.Task[None]] = {}
        self._has_looked = False

    @property
    def running(self) -> list[HandCall]:
        return list(self._tasks)

    def call(self, bench: Bench) -> None:
        """Call the item of a bench with the arguments in its form, unless they are invalid."""
        item, status, first = bench.item, self._shared.status, self._shared.overrides.first_of
        if item is None:
            return
        if status is None or status.state is not ServerState.RUNNING:
            # The key is one of the lists: where letters are typed, it follows esc.
            is_typing = isinstance(self._shared.screen.focused, FormPane | TextArea)
            leave = f"{first('bench.back')} " if is_typing else ""
            start: Row = ()
            if status is not None:
                start = start_words(status, lambda one: f"{leave}{first(one)}")
            bench.line.say((sentences(f"{_('The server is not running.')} "), "warn"), *start)
            return
        if any(call.item.key == item.key for call in self.running):
            running = sentences(f"{_('The call is still running.')} ")
            bench.line.say((running, "warn"), *key_cap("esc", _("stops it")))
            return
        arguments, problem = bench.arguments()
        if problem and (not bench.insisted or arguments is None):
            self._show_problem(bench, problem, can_insist=arguments is not None)
            if not bench.is_raw:
                bench.form.go_to_problem()
        elif isinstance(item.about, Tool) and not bench.insisted and isinstance(arguments, dict):
            if (task := self._checks.get(bench)) is None or task.done():
                checking = self._check(bench, item, item.about, arguments)
                self._checks[bench] = self._running.start(checking, "check arguments")
        else:
            self._confirm(bench, item, arguments)

    def repeat(self, bench: Bench) -> None:
        """Make the last call of the item of a bench again, unless it needs an answer of the user."""
        item, newest = bench.item, bench.calls.newest
        if item is not None and newest is not None and newest not in self.running:
            self._confirm(bench, item, newest.arguments, asks=False)

    async def _check(self, bench: Bench, item: Item, tool: Tool, arguments: dict[str, object]) -> None:
        problem = await self._shared.runtime.workbench.check(tool, arguments)
        if bench.item is not item:
            return
        if problem:
            self._show_problem(bench, problem, can_insist=True)
        else:
            self._confirm(bench, item, arguments)

    def _show_problem(self, bench: Bench, problem: str, *, can_insist: bool) -> None:
        bench.insisted = can_insist
        key = self._shared.overrides.first_of("bench.call")
        insists = key_cap(key, _("sends anyway")) if can_insist else ()
        bench.line.say((f"! {clean_line(localized(problem), 300)}", "bad"), end=insists)

    def _confirm(self, bench: Bench, item: Item, arguments: object, *, asks: bool = True) -> None:
        """Call an item, after a question if it may be destructive or a rule denies the model the call.

        Without `asks`, what needs a question is not called.
        """
        runtime, server, warning = self._shared.runtime, self._shared.server, item.warning
        called = None
        if isinstance(item.about, Tool) and isinstance(arguments, dict):
            called = (server, item.about.name, arguments)
            rule = runtime.turn_context.policy.rules.deciding(*called)
            if rule is not None and rule.action is Verdict.DENY:
                shown = clean_line(str(rule), 200)
                warning = sentences(warning, _("A rule denies the model this call: {rule}", rule=shown))
        confirmed = (server, f"{item.key} {warning.strip()}")
        is_open = warning and confirmed not in self._shared.book.confirmed
        if is_open and not asks:
            return
        question = confirm_call(warning.strip(), arguments) if is_open else None

        def begin() -> None:
            self._shared.book.confirmed.add(confirmed)
            self._begin(bench, item, arguments)

        call_after(question, self._shared.screen.app, runtime, called, begin)

    def _begin(self, bench: Bench, item: Item, arguments: object) -> None:
        at, now = units.time_of_day(time.time_ns())[:8], time.monotonic_ns()
        call = self._shared.book.begin(self._shared.server, item, arguments, at, now)
        work = self._shared.remember(item, arguments)
        self._shared.screen.app.run_worker(work, name="remember a call")

        def ended(_task: object) -> None:
            self._tasks.pop(call)
            if self._shared.screen.is_attached:
                bench.calls.rows_changed()
                if bench.calls.selected is call:
                    bench.result.show()
                if call.result is not None:
                    self._running.start(self._judge(bench, call, call.result), "compare with kept calls")

        self._tasks[call] = self._running.start(self._run(call), call.id)
        self._tasks[call].add_done_callback(ended)  # also if it is cancelled before it begins
        bench.insisted = False
        bench.line.say()
        if bench.item is item:
            bench.show_calls(call)
            bench.result.show()

    async def _run(self, call: HandCall) -> None:
        """Make a call. It took as long as the traffic says."""
        runtime = self._shared.runtime
        await run(runtime.workbench, self._shared.server, call, runtime.turn_context.limits.call_timeout)
        with suppress(McptuiError):
            await asyncio.to_thread(lambda: runtime.recording.open_reader().close())  # all is recorded
        if (ms := recorded_ms(runtime.recording.entries, call.id)) is not None:
            call.took_ms = ms

    async def _judge(self, bench: Bench, call: HandCall, result: Result) -> None:
        """Say whether the result is that of a kept call."""
        key = call.item.call_key(self._shared.server)
        before, call.kept = call.kept, await self._kept.verdict(key, call.arguments, result)
        if call.kept != before:
            bench.line.refresh()

    async def _add_past(self, benches: Collection[Bench]) -> None:
        """Add the calls of earlier runs, once a run."""
        from tui.storage.recordings.past_calls import past_calls  # not needed for the first frame

        book, server = self._shared.book, self._shared.server
        folder, now = state_dir() / "recordings", self._shared.runtime.traffic.path
        book.past[server] = await in_reading_thread(past_calls, folder, server, now)
        for bench in benches:
            bench.show_calls(bench.calls.selected)

    def look(self, benches: Collection[Bench]) -> None:
        """Show what is kept, and compare the selected results again if that has changed."""
        if not self._has_looked:
            self._has_looked = True
            if self._shared.server not in self._shared.book.past:
                self._running.start(self._add_past(benches), "read calls of earlier runs")
        if not self._kept.look(benches):
            return
        for bench in benches:
            if (call := bench.calls.selected) is not None and call.result is not None:
                self._running.start(self._judge(bench, call, call.result), "compare with kept calls")

    def cancel(self, bench: Bench) -> bool:
        """Cancel the selected call of a bench, otherwise the newest; return whether one was running."""
        key = bench.item.key if bench.item is not None else ""
        running = [call for call in self.running if call.item.key == key]
        if not running:
            return False
        call = bench.calls.selected if bench.calls.selected in running else running[-1]
        self._tasks[call].cancel()
        bench_of = self._shared.runtime.workbench
        if (task := bench_of.task_of(self._shared.server, call.id)) is not None:
            self._shared.choose(bench_of.cancel_task(task))  # otherwise the task would keep running
        return True

    async def close(self) -> None:
        await self._running.cancel()
