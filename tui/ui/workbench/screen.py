"""The workbench: one server worked with by hand, on tabs."""

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line
from tui.core.units import clock, plural
from tui.ui.keys.actions import Context, action, first_key
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.prompt import PromptLine
from tui.ui.widgets.rows import Row
from tui.ui.widgets.rules import Rule
from tui.ui.widgets.symbols import symbols_for
from tui.ui.workbench.bars import BenchKeys, BenchTitle
from tui.ui.workbench.calls import CallBook
from tui.ui.workbench.catalogue import Offers
from tui.ui.workbench.hands import Hands
from tui.ui.workbench.overview import Seen, overview_rows, state_row
from tui.ui.workbench.quiet_tabs import Overview, ServerTraffic
from tui.ui.workbench.server_log import ServerLog
from tui.ui.workbench.tabs import BenchTab, BenchTabs
from tui.ui.workbench.tool_bench import Bench
from tui.ui.workbench.watching import Watch

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

LOOKS_PER_SECOND = 10
TALL = 30
"""Below so many rows there is no line under the tabs."""


class ServerScreen(Hands, Screen[None]):
    """The workbench of one server.

    Args:
        runtime: what is behind the screens.
        server: whose workbench.
        overrides: the person's own keys.
        book: the calls made by hand in this run of the program.
        hand_over: takes text that is to be put into the message to the model.
        show_frames: shows the traffic that a filter lets through.
        item: key of the item to begin with, or "".
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
    """What the help and the palette are about while this screen is on top."""

    TAKES = frozenset({"servers_toggle", "servers_restart", "servers_log", "traffic_open"})
    """Actions of the app whose keys mean something of this screen's own here."""

    def __init__(
        self,
        runtime: "Runtime",
        server: str,
        overrides: KeyOverrides,
        book: CallBook,
        *,
        hand_over: Callable[[str], None],
        show_frames: Callable[[str], None],
        item: str = "",
    ) -> None:
        super().__init__()
        self.runtime = runtime
        self.server = server
        self.overrides = overrides
        self.book = book
        self.hand_over = hand_over
        self.show_frames = show_frames
        self._item = item
        self.symbols = symbols_for(os.environ)
        self.signs = self.symbols
        self._hand_tasks, self._sheet_tasks, self._check_tasks = {}, {}, {}
        self.tab = BenchTab.OVERVIEW
        self.tabs = BenchTabs()
        self.rule = Rule(id="bench-rule")
        self.prompt = PromptLine()
        self.watching = Watch(runtime.workbench, server)
        self._title = BenchTitle()
        self._keys = BenchKeys(overrides)
        self.benches = {
            tab: Bench(
                server,
                book,
                overrides,
                self.signs,
                last=self.last_arguments,
                promises=self.promises,
                id=f"bench-{tab}",
            )
            for tab in (BenchTab.TOOLS, BenchTab.RESOURCES, BenchTab.PROMPTS)
        }
        self.offers = Offers(runtime.workbench, server, self.benches, self._marks, self.look)
        self.overview = Overview(self._overview_rows, id="bench-overview")
        self.log_lines = ServerLog(runtime.recording, server, id="bench-log")
        self.traffic = ServerTraffic(runtime.recording, server, self.signs, id="bench-traffic")

    def compose(self) -> ComposeResult:
        """Build the lines and the tabs."""
        yield self._title
        yield self.tabs
        yield self.rule
        yield self.overview
        yield from self.benches.values()
        yield self.log_lines
        yield self.traffic
        yield self.prompt
        yield self._keys

    async def on_mount(self) -> None:
        """Read what is remembered, and begin to look."""
        await self.runtime.calls.load()
        for bench in self.benches.values():
            bench.form.call_key(lambda: first_key(self.overrides.keys_of(action("bench.call"))))
        self.show_tab(BenchTab.OVERVIEW if self.state is not ServerState.RUNNING else BenchTab.TOOLS)
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    async def on_unmount(self) -> None:
        """Stop what runs, and remember what stands in the forms."""
        for bench in self.benches.values():
            bench.leave_form()
        await self.watching.close()
        await self.offers.close()
        await self.stop_all()

    # ---- the server ----

    @property
    def status(self) -> ServerStatus | None:
        """How the server is doing; None if there is no such server any more."""
        return next((one for one in self.runtime.host.statuses() if one.name == self.server), None)

    @property
    def state(self) -> ServerState:
        """The state of the server."""
        status = self.status
        return status.state if status is not None else ServerState.STOPPED

    # ---- tabs ----

    @property
    def bench(self) -> Bench | None:
        """The bench of the tab that is shown, if it is one."""
        return self.benches.get(self.tab)

    def show_tab(self, tab: BenchTab) -> None:
        """Show a tab and give it the focus."""
        self.tab = tab
        panes = {
            BenchTab.OVERVIEW: self.overview,
            BenchTab.LOG: self.log_lines,
            BenchTab.TRAFFIC: self.traffic,
            **self.benches,
        }
        for name, pane in panes.items():
            pane.display = name is tab
        focus = {BenchTab.OVERVIEW: self.overview, BenchTab.LOG: self.log_lines}.get(tab, self.traffic.list)
        self.set_focus(self.benches[tab].list if tab in self.benches else focus, scroll_visible=False)
        self.look()

    def on_bench_tabs_chosen(self, event: BenchTabs.Chosen) -> None:
        """Go to the tab whose name was clicked."""
        self.show_tab(event.tab)

    # ---- looking ----

    def _marks(self) -> Mapping[tuple[str, str], str]:
        return self.runtime.conversations.tool_marks() if self.runtime.is_ready else {}

    def look(self) -> None:
        """Show what is new; cheap if nothing is."""
        if not self.is_attached:
            return
        status = self.status
        self.offers.look(status, self.runtime.host.revision, self._start_key)
        match self.tab:
            case BenchTab.OVERVIEW:
                self.watching.look(status)
                self.overview.look()
            case BenchTab.LOG:
                self.log_lines.look()
            case BenchTab.TRAFFIC:
                self.traffic.look()
        self._go_to_item()
        self.look_at_calls()
        self._title.show(*self._title_rows(status))
        self.tabs.show(self.tab, self.offers.notes, ())

    def _go_to_item(self) -> None:
        """Go to the item that the screen was opened for, once its server has listed it."""
        for tab in (BenchTab.TOOLS, BenchTab.PROMPTS) if self._item else ():
            if self.benches[tab].list.select(self._item):
                self._item = ""
                if tab is not self.tab:
                    self.show_tab(tab)
                    self.benches[tab].go_to_form()
                return

    def on_resize(self, event: events.Resize) -> None:
        """Give every row to what is worked with where there are few."""
        self.set_class(event.size.height < TALL, "-short")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of what has the focus."""
        bench = self.bench
        if bench is not None and self.focused is bench.raw:
            self._keys.of(None)
        elif bench is not None and self.focused is bench.form:
            self._keys.of(Context.BENCH_FORM)
        else:
            self._keys.of(Context.BENCH_LIST, on_bench=bench is not None)

    @property
    def _start_key(self) -> str:
        return first_key(self.overrides.keys_of(action("bench.toggle")))

    def _title_rows(self, status: ServerStatus | None) -> tuple[Row, Row]:
        left: Row = (("WORKBENCH  ", "dim bold"), (clean_line(self.server, 60), "accent bold"), ("   ", ""))
        if status is None:
            return (*left, ("is not configured any more", "bad")), ()
        left = (*left, *state_row(status, self.symbols))
        running = sum(call.took_ms is None for call in self.running)
        right: Row = ((f"{plural(running, 'call')} running   ", "warn"),) if running else ()
        if status.state is ServerState.STOPPED:
            right = (
                (first_key(self.overrides.keys_of(action("bench.start"))), "accent"),
                (" starts it", "dim"),
            )
        if status.state is ServerState.RUNNING:
            since = clock((time.monotonic_ns() - status.since_ns) / 1e9)
            pid = f"pid {status.pid}   " if status.pid is not None else ""
            right = (*right, (f"{pid}{since}", "dim"))
        return left, right

    def _overview_rows(self, width: int) -> list[Row]:
        status = self.status
        if status is None:
            return [((" This server is not in the configuration any more.", "bad"),)]
        watching = self.watching
        started = watching.started(status)
        seen = Seen(status, watching.identity, watching.share, time.monotonic_ns(), started)
        return overview_rows(seen, width, self.symbols, self.runtime.redactor, self._start_key)
