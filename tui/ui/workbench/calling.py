"""The making of calls on the workbench: checked, confirmed, run, stopped, and their results shown."""

import asyncio
import json
import time
from typing import TYPE_CHECKING

from tui.core.servers import ServerState
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.ui.dialogs.confirm_call import ConfirmCall
from tui.ui.keys.actions import action, first_key
from tui.ui.widgets.page import Lines, Sheet
from tui.ui.workbench import results
from tui.ui.workbench.calls import HandCall, run
from tui.ui.workbench.history import CallList
from tui.ui.workbench.items import Item
from tui.ui.workbench.tool_bench import Bench

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.runtime.runtime import Runtime
    from tui.ui.keys.key_overrides import KeyOverrides
    from tui.ui.widgets.symbols import Symbols
    from tui.ui.workbench.calls import CallBook

    Base = Screen[None]
else:
    Base = object

AT_ONCE = 64 * 1024
"""Results up to about this size are laid out at once, larger ones in a thread."""


class Calling(Base):
    """Makes calls; the screen supplies what with."""

    runtime: "Runtime"
    server: str
    overrides: "KeyOverrides"
    book: "CallBook"
    signs: "Symbols"
    _hand_tasks: "dict[HandCall, asyncio.Task[None]]"
    _sheet_tasks: "dict[Bench, asyncio.Task[None]]"
    _check_tasks: "dict[Bench, asyncio.Task[None]]"

    @property
    def bench(self) -> Bench | None:
        """The bench of the tab that is shown, if it is one."""
        raise NotImplementedError

    @property
    def state(self) -> ServerState:
        """The state of the server."""
        raise NotImplementedError

    @property
    def running(self) -> list[HandCall]:
        """The calls that run."""
        return [call for call, task in self._hand_tasks.items() if not task.done()]

    # ---- making a call ----

    def action_bench_call(self) -> None:
        """Call the item with what stands in its form; what is wrong is said first."""
        bench = self.bench
        if bench is None or bench.item is None:
            return
        item = bench.item
        if self.state is not ServerState.RUNNING:
            bench.line.say(
                ("The server does not run. ", "warn"),
                (self._key("bench.start"), "accent"),
                (" starts it.", "dim"),
            )
            return
        if any(call.item.key == item.key for call in self.running):
            bench.line.say(("It still runs. ", "warn"), ("esc", "accent"), (" stops it.", "dim"))
            return
        arguments, wrong = bench.arguments()
        if wrong and (not bench.insisted or arguments is None):
            self._say_wrong(bench, wrong, can_insist=arguments is not None)
            if not bench.is_raw:
                bench.form.go_to_problem()
            return
        if isinstance(item.about, Tool) and not bench.insisted and isinstance(arguments, dict):
            if (task := self._check_tasks.get(bench)) is None or task.done():
                checking = self._check(bench, item, item.about, arguments)
                self._check_tasks[bench] = asyncio.create_task(checking, name="check arguments")
            return
        self._confirm(bench, item, arguments)

    async def _check(self, bench: Bench, item: Item, tool: Tool, arguments: dict[str, object]) -> None:
        problem = await self.runtime.workbench.check(tool, arguments)
        if bench.item is not item:
            return
        if problem:
            self._say_wrong(bench, problem, can_insist=True)
        else:
            self._confirm(bench, item, arguments)

    def _say_wrong(self, bench: Bench, wrong: str, *, can_insist: bool) -> None:
        bench.insisted = can_insist
        words: list[tuple[str, str]] = [(f"! {clean_line(wrong, 300)}", "bad")]
        if can_insist:
            words += [("   ", ""), (self._key("bench.call"), "accent"), (" again sends it as it is", "dim")]
        bench.line.say(*words)

    def _confirm(self, bench: Bench, item: Item, arguments: object) -> None:
        if not item.warning or (self.server, item.key) in self.book.confirmed:
            self._begin(bench, item, arguments)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.book.confirmed.add((self.server, item.key))
                self._begin(bench, item, arguments)

        asked = clean_line(json.dumps(arguments, ensure_ascii=False, default=str), 600)
        self.app.push_screen(ConfirmCall(item.warning, asked), answered)

    def _begin(self, bench: Bench, item: Item, arguments: object) -> None:
        now = time.monotonic_ns()
        call = self.book.begin(self.server, item, arguments, time.strftime("%H:%M:%S"), now)
        self.remember(item, arguments)
        running = run(self.runtime.workbench, self.server, call, self._seconds(), self._noted)
        task = asyncio.create_task(running, name=call.id)
        self._hand_tasks[call] = task
        task.add_done_callback(lambda task: self._ended(bench, call, task))
        bench.insisted = False
        bench.line.say()
        if bench.item is item:
            bench.show_calls(call)
            self.show_call(bench)

    def remember(self, item: Item, arguments: object) -> None:
        """Keep the arguments for the next time."""
        raise NotImplementedError

    def _seconds(self) -> float:
        for status in self.runtime.host.statuses():
            if status.name == self.server and status.spec.tool_seconds is not None:
                return status.spec.tool_seconds
        return self.runtime.limits.tool_seconds

    def _noted(self) -> None:
        """Progress is shown at the next look of the screen."""

    def _ended(self, bench: Bench, call: HandCall, task: "asyncio.Task[None]") -> None:
        self._hand_tasks.pop(call, None)
        if not self.is_attached:
            return
        if not task.cancelled() and (error := task.exception()) is not None:
            self.call_later(_raise, error)  # a defect of ours: the screen is told as of any other
            return
        bench.calls.rows_changed()
        if bench.calls.selected is call:
            self.show_call(bench)

    def stop_call(self) -> bool:
        """Stop the call that is shown, else the newest of the bench; return whether there was one."""
        bench = self.bench
        if bench is None:
            return False
        key = bench.item.key if bench.item is not None else ""
        mine = [call for call in self.running if call.item.key == key]
        if not mine:
            return False
        call = bench.calls.selected if bench.calls.selected in mine else mine[-1]
        self._hand_tasks[call].cancel()
        return True

    async def stop_all(self) -> None:
        """Stop every call, and wait until each is stopped."""
        tasks = {*self._hand_tasks.values(), *self._sheet_tasks.values(), *self._check_tasks.values()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # ---- showing what came of it ----

    def look_at_calls(self) -> None:
        """Let a call that runs count up."""
        bench = self.bench
        if bench is not None and (call := bench.calls.selected) is not None and call.took_ms is None:
            bench.line.refresh()

    def on_call_list_moved(self, event: CallList.Moved) -> None:
        """Read the result of the call under the cursor."""
        event.stop()
        if self.bench is not None:
            self.bench.line.say()
            self.show_call(self.bench)

    def on_bench_chosen(self, event: Bench.Chosen) -> None:
        """Read the last result of an item."""
        self.show_call(event.bench)

    def show_call(self, bench: Bench) -> None:
        """Show the result of the call under the cursor."""
        call = bench.calls.selected
        bench.line.what = ""
        bench.line.show(call)
        if call is None or call.took_ms is None:
            self._put(bench, Lines(()))
        elif call.size <= AT_ONCE:
            self._put(bench, results.sheet_of(call, self.signs))
        else:
            self._later(bench, call, None)

    def show_difference(self, bench: Bench, before: HandCall, after: HandCall) -> None:
        """Show what two results differ in."""
        bench.line.what = "compared"
        bench.line.show(after)
        self._later(bench, after, before)

    def _later(self, bench: Bench, call: HandCall, before: HandCall | None) -> None:
        async def make() -> None:
            if before is not None:
                sheet: Sheet = await asyncio.to_thread(results.difference, before, call)
            else:
                sheet = await asyncio.to_thread(results.sheet_of, call, self.signs)
            if bench.calls.selected is call:
                self._put(bench, sheet)

        self._put(bench, Lines([(("reading…", "warn"),)]))
        if (task := self._sheet_tasks.get(bench)) is not None:
            task.cancel()
        self._sheet_tasks[bench] = asyncio.create_task(make(), name="lay out a result")

    def _put(self, bench: Bench, sheet: Sheet) -> None:
        bench.page.sought = ""
        bench.page.show(sheet)

    def _key(self, action_id: str) -> str:
        return first_key(self.overrides.keys_of(action(action_id)))


def _raise(error: BaseException) -> None:
    raise error
