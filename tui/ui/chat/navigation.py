"""Opens the workbench, the traffic, logs and rules."""

import asyncio
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tui.core.background import Tasks
from tui.core.library_imports import importing
from tui.traffic.spans.spans import Spans
from tui.ui.chat.regions import Regions
from tui.ui.chat.result_actions import ResultActions
from tui.ui.chat.traffic_navigation import TrafficNavigator
from tui.ui.keys.action_table import OPENERS, Action, action
from tui.ui.keys.key_overrides import first_key

if TYPE_CHECKING:
    from tui.core.ports import ApprovalRequest
    from tui.runtime.runtime import Runtime
    from tui.ui.traffic.resender import LiveRun
    from tui.ui.workbench.calls import BenchHistory
    from tui.ui.workbench.screen import ServerScreen


AT_ONCE = frozenset(
    f"traffic.{name}"
    for name in (
        *("filter", "filters", "search", "stats", "waterfall", "export", "setup", "time"),
        *(f"sort_{column}" for column in ("time", "server", "kind", "method", "size", "latency")),
    )
)
"""Actions of the traffic screen that work at once, whatever is selected."""


class Navigator:
    """Opens other screens."""

    def __init__(self, runtime: "Runtime", regions: Regions, spans: Spans) -> None:
        self._runtime = runtime
        self._regions = regions
        self._app = regions.screen.app
        self._spans = spans
        self.results = ResultActions(runtime, regions)
        self.traffic = TrafficNavigator(runtime, regions, spans, self._live_run)
        self._expects_server = False
        self._tasks = Tasks()

    @cached_property
    def call_book(self) -> "BenchHistory":
        from tui.ui.workbench.calls import BenchHistory

        return BenchHistory()

    async def open_screen_of(self, found: Action) -> None:
        """Open the screen of an action and run it. If it needs a selection there, name its key instead."""
        if found.id in AT_ONCE:
            self.traffic.open(then=found.method)
            return
        await self._app.run_action(action(OPENERS[found.context]).method)
        self._app.screen.call_after_refresh(self._name_key, found)

    def _name_key(self, found: Action) -> None:
        if found.context in getattr(self._app.screen, "CONTEXTS", ()):
            what = found.help.partition(". ")[0]
            key = first_key(self._regions.overrides.keys_of(found))
            self._app.notify(f"Press {key} to {what[:1].lower()}{what[1:]}.", timeout=6)

    def open_rules(self, request: "ApprovalRequest | None" = None) -> None:
        """Open the rules. The call of an approval is tried at once."""
        from tui.ui.permission.rules import RulesScreen

        symbols, overrides = self._regions.symbols, self._regions.overrides
        self._regions.open_dialog(RulesScreen(self._runtime, overrides, symbols, request), None)

    def open_log(self, server: str = "") -> None:
        """Open the log of a server, by default the selected one."""
        from tui.ui.workbench.log_screen import LogScreen

        if server := server or self._regions.servers.selected or "":
            self._regions.open_dialog(LogScreen(self._runtime.host, server, self._regions.overrides), None)

    def open_form(self, server: str, name: str, arguments: Any, *, prompt: bool = False) -> None:
        from tui.ui.workbench.items import key_of_prompt, key_of_tool

        key = key_of_prompt(name) if prompt else key_of_tool(name)
        below = self._open_workbench()
        if below is not None and (why := below.stays()):
            self._app.notify(why, timeout=4)
        else:
            self._tasks.start(self._open_form(below, server, key, arguments), "open a form")

    async def _open_form(self, below: "ServerScreen | None", server: str, key: str, arguments: Any) -> None:
        """Open a form, in place of the open workbench and of the traffic over it."""
        from tui.ui.workbench.calls import Draft

        while below in self._app.screen_stack:  # its forms are stored as drafts before this one is
            await self._app.screen.dismiss(None)
        self.call_book.drafts[server, key] = Draft(arguments)
        self.open_server(server, key)

    def _open_workbench(self) -> "ServerScreen | None":
        from tui.ui.workbench.screen import ServerScreen

        return next((one for one in self._app.screen_stack if isinstance(one, ServerScreen)), None)

    def expect_server(self) -> None:
        """Import the workbench in a thread, once, because the next key may open it and would have to wait."""

        def load() -> None:
            with importing():
                import_module("tui.ui.workbench.screen")

        if not self._expects_server:
            self._expects_server = True
            self._tasks.start(asyncio.to_thread(load), "import the workbench")

    def open_server(self, server: str = "", item: str = "") -> None:
        """Open the workbench of a server, by default the selected one."""
        from tui.ui.workbench.screen import ServerScreen

        server = server or self._regions.servers.selected or ""
        if not server or not self._runtime.is_ready or self._open_workbench() is not None:
            return
        self._app.push_screen(
            ServerScreen(
                self._runtime,
                server,
                self._regions.overrides,
                self.call_book,
                draft=self.results,
                show_traffic=self._show_traffic,
                item=item,
            )
        )

    def _live_run(self) -> "LiveRun":
        from tui.ui.traffic.resender import LiveRun

        book = self.call_book
        return LiveRun(
            self._runtime, book.next_id, book.confirmed, lambda: self._spans.entries, self.open_form
        )

    def _show_traffic(self, filter: str) -> None:
        if (below := self._open_workbench()) is not None:
            self.traffic.open_over(below, filter)
