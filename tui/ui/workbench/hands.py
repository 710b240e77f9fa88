"""What keys do on the workbench: going from tab to tab and pane to pane, steering the server, searching."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.core.servers import ServerStatus
from tui.core.text import fold
from tui.ui.chat.servers import toggle
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.tabs import BenchTab
from tui.ui.workbench.taking import Taking
from tui.ui.workbench.tool_bench import Bench

if TYPE_CHECKING:
    from tui.ui.widgets.prompt import PromptLine
    from tui.ui.workbench.catalogue import Offers
    from tui.ui.workbench.quiet_tabs import ServerTraffic
    from tui.ui.workbench.server_log import ServerLog

_TABS = tuple(BenchTab)


class Hands(Taking):
    """The doing of the screen's keys; the screen supplies what they act on."""

    tab: BenchTab
    prompt: "PromptLine"
    offers: "Offers"
    log_lines: "ServerLog"
    traffic: "ServerTraffic"
    hand_over: Callable[[str], None]
    show_frames: Callable[[str], None]

    @property
    def status(self) -> ServerStatus | None:
        """How the server is doing."""
        raise NotImplementedError

    def show_tab(self, tab: BenchTab) -> None:
        """Show a tab."""
        raise NotImplementedError

    def look(self) -> None:
        """Show what is new."""
        raise NotImplementedError

    # ---- going about ----

    def action_bench_overview(self) -> None:
        """Go to the overview."""
        self.show_tab(BenchTab.OVERVIEW)

    def action_bench_tools(self) -> None:
        """Go to the tools."""
        self.show_tab(BenchTab.TOOLS)

    def action_bench_resources(self) -> None:
        """Go to the resources."""
        self.show_tab(BenchTab.RESOURCES)

    def action_bench_prompts(self) -> None:
        """Go to the prompts."""
        self.show_tab(BenchTab.PROMPTS)

    def action_bench_log(self) -> None:
        """Go to the log."""
        self.show_tab(BenchTab.LOG)

    def action_bench_traffic(self) -> None:
        """Go to the traffic of the server."""
        self.show_tab(BenchTab.TRAFFIC)

    def action_bench_next_tab(self) -> None:
        """Go to the next tab."""
        self.show_tab(_TABS[(_TABS.index(self.tab) + 1) % len(_TABS)])

    def action_bench_last_tab(self) -> None:
        """Go to the tab before."""
        self.show_tab(_TABS[_TABS.index(self.tab) - 1])

    def action_bench_right(self) -> None:
        """Go to the next tab."""
        self.action_bench_next_tab()

    def action_bench_left(self) -> None:
        """Go to the tab before."""
        self.action_bench_last_tab()

    def action_bench_back(self) -> None:
        """Leave what is nearest: the filter, a call that runs, what is compared, the form, the screen."""
        bench = self.bench
        if bench is None:
            if self.log_lines.sought:
                self.log_lines.search("")
            else:
                self.dismiss(None)
        elif self.focused is bench.filter:
            bench.close_filter()
        elif self.stop_call():
            return
        elif bench.has_class("-whole"):
            bench.remove_class("-whole")
        elif bench.line.what:
            self.show_call(bench)
        elif self.focused is not bench.list:
            self.set_focus(bench.list, scroll_visible=False)
        elif bench.has_class("-filtering"):
            bench.close_filter()
        else:
            self.dismiss(None)

    def action_bench_leave(self) -> None:
        """Leave the workbench."""
        self.dismiss(None)

    def action_bench_open(self) -> None:
        """Go from the list to the form; take the arguments of a call; fold a row of a result."""
        bench = self.bench
        if bench is None:
            if self.tab is BenchTab.TRAFFIC:
                self.action_bench_frames()
        elif self.focused is bench.calls:
            if (call := bench.calls.selected) is not None:
                bench.fill(call.arguments)
                bench.go_to_form()
        elif self.focused is bench.page:
            bench.page.action_choose()
        elif bench.item is not None:
            bench.go_to_form()

    def action_bench_maximise(self) -> None:
        """Give the result the whole screen, or take it back."""
        if (bench := self.bench) is not None:
            bench.toggle_class("-whole")
            if bench.has_class("-whole"):
                self.set_focus(bench.page, scroll_visible=False)

    # ---- the server ----

    def action_bench_toggle(self) -> None:
        """Start or stop the server."""
        if (status := self.status) is not None:
            toggle(self.runtime.host, status)
            self.look()

    def action_bench_start(self) -> None:
        """Start or stop the server."""
        self.action_bench_toggle()

    def action_bench_restart(self) -> None:
        """Stop the server and start it again."""
        self.runtime.host.request_restart(self.server)
        self.look()

    def action_bench_reload(self) -> None:
        """Ask the server again for what it offers."""
        self.offers.reload()
        self.look()

    # ---- filtering and searching ----

    def action_bench_filter(self) -> None:
        """Filter the list; in a result or a log: search."""
        bench = self.bench
        if bench is not None and self.focused is bench.page:
            self.prompt.ask("search in this result", self._seek, cancelled=lambda: bench.page.seek(""))
        elif bench is not None:
            bench.open_filter()
        elif self.tab is BenchTab.LOG:
            self.prompt.ask("search in the log", self.log_lines.search, typed=self.log_lines.search)

    def _seek(self, text: str) -> None:
        if (bench := self.bench) is not None:
            bench.page.seek(text)
            self._step(bench, 1, first=True)

    def action_bench_next(self) -> None:
        """Go to the next find."""
        self._next(1)

    def action_bench_previous(self) -> None:
        """Go to the find before."""
        self._next(-1)

    def _next(self, direction: int) -> None:
        if self.tab is BenchTab.LOG:
            self.log_lines.next_hit(direction)
        elif self.bench is not None and self.bench.page.sought:
            self._step(self.bench, direction)

    def _step(self, bench: Bench, direction: int, *, first: bool = False) -> None:
        page = bench.page
        count, start = page.row_count(), page.cursor - (direction if first else 0)
        for distance in range(1, count + 1):
            index = (start + direction * distance) % count
            if page.sought in fold(text_of(page.row(index))):
                page.move_cursor(index)
                return
        self.notify("It is not in what is unfolded.", timeout=3)
