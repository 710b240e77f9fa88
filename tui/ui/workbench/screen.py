"""The workbench: one server used by hand, on tabs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from tui.core.language.translate import N_, _, localized
from tui.core.servers import ServerState, not_configured
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import KeyOverrides, act, bindings_of
from tui.ui.keys.footer import Footer
from tui.ui.results.message_draft import MessageDraft
from tui.ui.widgets.bar import Rule, SplitBar
from tui.ui.widgets.inputs import FINISH_INPUT, PromptLine
from tui.ui.widgets.page import copy_text
from tui.ui.widgets.server_rows import toggle_server, why_only_listed
from tui.ui.workbench.addon_tabs import AddonPane, AddonTabs
from tui.ui.workbench.bars import BENCHES, BenchTab, BenchTabs, keys_of, title_rows
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.bench_requests import BenchOffers, HandCalls, SubscriptionWatch
from tui.ui.workbench.calls import BenchHistory, HandCall
from tui.ui.workbench.extensions import ExtensionSwitches
from tui.ui.workbench.kept_calls import BenchKept
from tui.ui.workbench.overview import Overview
from tui.ui.workbench.result_view import BenchPage
from tui.ui.workbench.server_tabs import ServerLog, ServerTraffic
from tui.ui.workbench.watch_line import watch_line

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

LOOKS_PER_SECOND = 10
_NONE_SELECTED = {
    BenchTab.TOOLS: N_("No tool is selected."),
    BenchTab.RESOURCES: N_("No resource is selected."),
    BenchTab.PROMPTS: N_("No prompt is selected."),
}

TALL = 30
"""Minimum rows for a line below the tabs."""


class ServerScreen(Screen[None]):
    """The workbench of one server. `draft` is the message to the model, `item` the key of the item to select.

    `show_traffic` shows the traffic that matches a filter, of a recording or of this run.
    """

    DEFAULT_CSS = """
    ServerScreen { background: $surface; layout: vertical; }
    ServerScreen > Bar { padding: 0 1; background: $panel; }
    ServerScreen > #bench-tabs { background: $surface; padding: 0; }
    ServerScreen > #footer { background: $surface; padding: 0; }
    ServerScreen > Overview, ServerScreen > ServerLog { height: 1fr; padding: 0 1; background: $surface; }
    ServerScreen Headings { background: $surface; }
    ServerScreen > Rule { padding: 0; background: $surface; }
    ServerScreen.-short > Rule { display: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.WORKBENCH)

    CONTEXTS = (Context.WORKBENCH, Context.BENCH_LIST, Context.BENCH_FORM)
    """The contexts of the help and the palette while this screen is on top."""

    TAKES = frozenset({"servers.toggle", "servers.restart", "servers.log", "traffic.open"})
    """Actions of the app whose keys mean something else here."""

    def __init__(
        self,
        runtime: "Runtime",
        server: str,
        overrides: KeyOverrides,
        book: BenchHistory,
        *,
        draft: MessageDraft,
        show_traffic: Callable[[str, Path | None], None],
        item: str = "",
    ) -> None:
        super().__init__()
        self.server = server
        self.show_filtered, self._item = show_traffic, item
        self.prompt = PromptLine()
        self._title, self._keys = SplitBar(id="bench-title", wraps=True), Footer()
        shared = BenchContext(self, runtime, server, book, overrides, self.prompt, draft)
        self.shared = shared
        self.benches = {tab: Bench(tab, shared) for tab in BenchTab if tab in BENCHES}
        self.kept = BenchKept(runtime, server)
        self.calls = HandCalls(shared, self.kept)
        self.offers = BenchOffers(shared, self.benches, self.look)
        self.subscriptions = SubscriptionWatch(shared, self.benches[BenchTab.RESOURCES], self.calls.call)
        self.overview, self.switches = Overview(shared), ExtensionSwitches(shared)
        self.log_lines = ServerLog(runtime.recording, server, id="bench-log")
        self.traffic = ServerTraffic(runtime.recording, server, id="bench-traffic")
        self._panes: dict[BenchTab, Overview | Bench | ServerLog | ServerTraffic | AddonPane] = {
            BenchTab.OVERVIEW: self.overview,
            **self.benches,
            BenchTab.LOG: self.log_lines,
            BenchTab.TRAFFIC: self.traffic,
        }
        self._addon_tabs = AddonTabs(shared)
        self.tabs, self._watch = BenchTabs(self._panes), watch_line(shared)

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.tabs
        yield self._watch
        yield Rule(id="bench-rule")
        yield from self._panes.values()
        yield self.prompt
        yield self._keys

    async def on_mount(self) -> None:
        await self.shared.runtime.calls.load()
        status = self.shared.status
        has_tools = status is not None and (status.spec.is_own or status.state is ServerState.RUNNING)
        self.show_tab(BenchTab.TOOLS if has_tools else BenchTab.OVERVIEW)
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    async def on_unmount(self) -> None:
        benches = [bench.close for bench in self.benches.values()]
        for close in (*benches, self.offers.close, self.calls.close, self.kept.close):
            await close()

    def look(self) -> None:
        """Show changes; cheap if there are none."""
        if not self.is_attached:
            return
        status = self.shared.status
        self.offers.look(status)
        self._panes = self._addon_tabs.added(self._panes, self.tabs, self.prompt)
        self.subscriptions.look(visible=self.tab is BenchTab.RESOURCES)
        self.calls.look(self.benches.values())
        self._panes[self.tab].look()
        self._go_to_item()
        self._watch.look()
        running = sum(call.took_ms is None for call in self.calls.running)
        self._title.show(*title_rows(self.server, status, running, self.shared.overrides.first_of))
        self.tabs.show(self.offers.notes)
        self._show_keys()

    async def action_act(self, action_id: str) -> None:
        await act(self, action_id)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < TALL, "-short")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        pane, plain = self._panes[self.tab], (self.shared.overrides, Context.BENCH_LIST, self.tab)
        others = keys_of(*plain, is_raw=False)
        self._keys.show(pane.keys() if isinstance(pane, Bench | AddonPane) else others)

    def stays(self) -> str:
        """Return why the screen cannot be closed for another, or "". Forms are stored as drafts."""
        if self.prompt.display:
            return FINISH_INPUT
        why = _("A call is running. Press esc to stop it first.") if self.calls.running else ""
        return why or next((why for one in self.query(AddonPane) if (why := one.stays())), "")

    @property
    def tab(self) -> BenchTab:
        return BenchTab(self.tabs.active)

    @property
    def bench(self) -> Bench | None:
        return self.benches.get(self.tab)

    @property
    def _searched(self) -> ServerLog | BenchPage:
        return self.log_lines if self.bench is None else self.bench.page

    def show_tab(self, tab: str) -> None:
        """Show a tab and give it the focus."""
        self.tabs.select(BenchTab(tab))
        self.look()

    def _go_to_item(self) -> None:
        """Go to the item for which the screen was opened, once its server has listed it."""
        for tab in self.benches if self._item else ():
            if self.benches[tab].list.select(self._item):
                self._item = ""
                if tab is not self.tab:
                    self.show_tab(tab)
                    self.benches[tab].go_to_form()
                return

    def on_tabs_chosen(self, event: BenchTabs.Chosen) -> None:
        self.show_tab(event.tab)

    def step_tab(self, step: int) -> None:
        tabs = list(self._panes)
        self.show_tab(tabs[(tabs.index(self.tab) + step) % len(tabs)])

    def back(self) -> None:
        """Close or cancel the innermost part: filter, running call, comparison, form, screen."""
        if self.bench is None and self.log_lines.search_text:
            self.log_lines.search("")
        elif self.bench is None or not self.bench.back(self.calls.cancel):
            self.dismiss(None)

    def leave(self) -> None:
        self.dismiss(None)

    def toggle(self) -> None:
        if (status := self.shared.configured()) is not None:
            if why := why_only_listed(status.spec, self.shared.overrides.first_of, elsewhere=True):
                self.notify(why, markup=False)
                return
            toggle_server(self.shared.runtime.host, status)
            self.look()

    def restart(self) -> None:
        if self.shared.configured() is not None:
            self.shared.runtime.host.request_restart(self.server)
            self.look()

    def call(self) -> None:
        if self.bench is not None:
            self.calls.call(self.bench)

    def on_bench_called(self, event: Bench.Called) -> None:
        self.call()

    def open(self) -> None:
        (self.show_call_traffic if self.bench is None else self.bench.open_selected)()

    def copy(self) -> None:
        """Copy the value under the cursor; on the log tab, the whole log."""
        if self.bench is None:
            copy_text(self.app, self.log_lines.text, _("the log"))
        else:
            self.bench.page.copy_value("bench.save")

    def show_call_traffic(self) -> None:
        """Show the traffic of the call, or of the tool, or of the server."""
        item = self.bench.item if self.bench is not None else None
        self.show_filtered(*self.shared.traffic_of(item, self._selected_call))

    def filter(self) -> None:
        if self.bench is not None:
            self.bench.filter_or_search()
        else:
            self.prompt.ask(_("search in the log"), self.log_lines.search, typed=self.log_lines.search)

    def find(self, direction: int) -> None:
        self._searched.next_match(direction)

    def why_no_search(self) -> str:
        return "" if self._searched.search_text else _("Nothing is searched for. Press / to search.")

    def why_no_bench(self) -> str:
        if self.bench is not None:
            return ""
        return _("Select a tool, a resource or a prompt first, in the tabs 2, 3 and 4.")

    def why_no_list(self) -> str:
        return "" if self.tab is BenchTab.LOG else self.why_no_bench()

    def why_no_item(self) -> str:
        return "" if self.bench is not None and self.bench.item is not None else self._why_none_selected()

    def why_no_row(self) -> str:
        bench = self.bench
        has_row = bench is not None and bench.list.row_selectable(bench.list.cursor)
        return "" if has_row or self.tab is BenchTab.TRAFFIC else self._why_none_selected()

    def why_no_tool(self) -> str:
        if self.bench is not None and self.tab is not BenchTab.TOOLS:
            return _("Only tools can be turned on and off for the model.")
        return self.why_no_bench() or self.why_no_row()

    def _why_none_selected(self) -> str:
        if self.shared.status is None:
            return self.why_no_bench() or localized(not_configured(self.server))
        return self.why_no_bench() or _(_NONE_SELECTED[self.tab])

    @property
    def _selected_call(self) -> HandCall | None:
        return self.bench.calls.selected if self.bench is not None else None

    def why_no_call(self) -> str:
        return self.why_no_bench() or ("" if self._selected_call is not None else _("Select a call first."))

    def why_no_result(self) -> str:
        call = self._selected_call
        none = "" if call is not None and call.result is not None else _("There is no result yet.")
        return self.why_no_bench() or none

    def why_nothing_to_copy(self) -> str:
        return "" if self.tab is BenchTab.LOG else self.why_no_result()
