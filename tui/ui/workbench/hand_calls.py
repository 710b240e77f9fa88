"""Runs and cancels calls on the workbench: validates arguments, confirms risky ones."""

import asyncio
import time

from textual.widgets import TextArea

from tui.core.permission.rules import Verdict
from tui.core.servers import ServerState
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.ui.dialogs.call_question import call_after, rule_on, shown_arguments
from tui.ui.dialogs.confirm import ConfirmCall
from tui.ui.forms.form_pane import FormPane
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.server_rows import start_words
from tui.ui.widgets.widget_tasks import Tasks
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.calls import HandCall, run
from tui.ui.workbench.items import Item


class HandCalls:
    """Makes the calls of one workbench."""

    def __init__(self, shared: BenchContext) -> None:
        self._shared = shared
        self._tasks: dict[HandCall, asyncio.Task[None]] = {}
        self._running = Tasks()
        self._checks: dict[Bench, asyncio.Task[None]] = {}

    @property
    def running(self) -> list[HandCall]:
        """The calls that are running."""
        return [call for call, task in self._tasks.items() if not task.done()]

    def _key_here(self, action_id: str) -> str:
        """Return the key of an action of the lists, preceded by esc if the focused part takes letters."""
        keys = self._shared.overrides
        typing = isinstance(self._shared.screen.focused, FormPane | TextArea)
        leave = f"{keys.first_of('bench.back')} " if typing else ""
        return f"{leave}{keys.first_of(action_id)}"

    def call(self, bench: Bench) -> None:
        """Call the item of a bench with the arguments in its form, unless they are invalid."""
        item, status = bench.item, self._shared.status
        if item is None:
            return
        if status is None or status.state is not ServerState.RUNNING:
            start = () if status is None else start_words(status, self._key_here, "bench.toggle")
            bench.line.say(("The server is not running. ", "warn"), *start)
            return
        if any(call.item.key == item.key for call in self.running):
            bench.line.say(("The call is still running. ", "warn"), *key_cap("esc", "stops it"))
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
        insists = key_cap(key, "sends anyway") if can_insist else ()
        bench.line.say((f"! {clean_line(problem, 300)}", "bad"), end=insists)

    def _confirm(self, bench: Bench, item: Item, arguments: object) -> None:
        """Call an item, after a question if it may be destructive or a rule denies the model the call."""
        runtime, server, warning = self._shared.runtime, self._shared.server, item.warning
        called = None
        if isinstance(item.about, Tool) and isinstance(arguments, dict):
            called = (server, item.about.name, arguments)
            if rule := rule_on(runtime, *called, Verdict.DENY):
                warning += f" A rule denies the model this call: {clean_line(str(rule), 200)}"
        confirmed = (server, f"{item.key} {warning.strip()}")
        asks = warning and confirmed not in self._shared.book.confirmed
        question = ConfirmCall(warning.strip(), shown_arguments(arguments)) if asks else None

        def begin() -> None:
            self._shared.book.confirmed.add(confirmed)
            self._begin(bench, item, arguments)

        call_after(question, self._shared.screen.app, runtime, called, begin)

    def _begin(self, bench: Bench, item: Item, arguments: object) -> None:
        now = time.monotonic_ns()
        call = self._shared.book.begin(self._shared.server, item, arguments, time.strftime("%H:%M:%S"), now)
        self._shared.remember(item, arguments)
        work = run(
            self._shared.runtime.workbench,
            self._shared.server,
            call,
            self._shared.runtime.limits.call_timeout,
        )
        task = self._tasks[call] = self._running.start(work, call.id)
        task.add_done_callback(lambda task: self._ended(bench, call, task))
        bench.insisted = False
        bench.line.say()
        if bench.item is item:
            bench.show_calls(call)
            bench.result.show()

    def _ended(self, bench: Bench, call: HandCall, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(call, None)
        if not self._shared.screen.is_attached:
            return
        if not task.cancelled() and (error := task.exception()) is not None:
            self._shared.screen.call_later(_raise, error)  # a defect of ours: crash as usual
            return
        bench.calls.rows_changed()
        if bench.calls.selected is call:
            bench.result.show()

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
        """Cancel every call, and wait until each has ended."""
        await self._running.cancel()


def _raise(error: BaseException) -> None:
    raise error
