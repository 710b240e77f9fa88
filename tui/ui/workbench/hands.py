"""What keys do on the workbench: going about, keeping arguments, comparing, copying, saving, handing over."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from tui.core import units
from tui.core.call_memory import CallMemory, without_secrets
from tui.core.errors import McptuiError
from tui.core.servers import ServerStatus
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.trace.query_nodes import written
from tui.ui.panes.servers import toggle
from tui.ui.screens.picker import Choice, Picker
from tui.ui.traffic import copies
from tui.ui.traffic.tree import Tree
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.bench import Bench
from tui.ui.workbench.calling import Calling
from tui.ui.workbench.calls import as_json, for_conversation
from tui.ui.workbench.form_pane import FormPane
from tui.ui.workbench.items import Item
from tui.ui.workbench.results import Stack
from tui.ui.workbench.tabs import BenchTab

if TYPE_CHECKING:
    from tui.ui.traffic.prompt import PromptLine
    from tui.ui.workbench.offers import Offers
    from tui.ui.workbench.quiet_tabs import ServerLog, ServerTraffic

FORGET = "\x00forget"
_TABS = tuple(BenchTab)


class Hands(Calling):
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
            bench.list.focus(scroll_visible=False)
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
                self._to_form(bench)
        elif self.focused is bench.page:
            bench.page.action_choose()
        elif bench.item is not None:
            self._to_form(bench)

    def _to_form(self, bench: Bench) -> None:
        (bench.raw if bench.is_raw else bench.form).focus(scroll_visible=False)

    def action_bench_maximise(self) -> None:
        """Give the result the whole screen, or take it back."""
        if (bench := self.bench) is not None:
            bench.toggle_class("-whole")
            if bench.has_class("-whole"):
                bench.page.focus(scroll_visible=False)

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
            if page.sought in text_of(page.row(index)).lower():
                page.move_cursor(index)
                return
        self.notify("It is not in what is unfolded.", timeout=3)

    # ---- arguments ----

    def action_bench_raw(self) -> None:
        """Write the arguments as raw JSON, or in the form again."""
        bench = self.bench
        if bench is not None and bench.item is not None and (problem := bench.toggle_raw()):
            bench.line.say(
                (f"! {clean_line(problem, 200)}", "bad"), ("   mend it, and the form comes back", "dim")
            )

    def on_form_pane_wanted(self, event: FormPane.Wanted) -> None:
        """Do what a form cannot do by itself."""
        bench, field = self.bench, event.field
        if event.what == "call":
            self.action_bench_call()
        elif bench is None or field is None:
            return
        elif event.what == "choose":
            choices = [
                Choice(one.label, Content(clean_line(one.label, 80) or '""')) for one in field.spec.choices
            ]

            def chosen(label: str | None) -> None:
                if label is not None:
                    bench.form.set_text(field.path, label)
                    bench.form.action_form_next()

            self.app.push_screen(Picker(clean_line(field.name, 40) or "Value", choices, field.text), chosen)
        else:
            self.prompt.ask("name of the entry", lambda name: self._add(bench, field.path, name))

    def _add(self, bench: Bench, path: tuple[str | int, ...], name: str) -> None:
        bench.form.added(bench.form.form.add(path, name.strip()))

    def promises(self, item: Item) -> bool:
        """Return whether an item has an output schema."""
        return isinstance(item.about, Tool) and self.runtime.workbench.output_schema(item.about) is not None

    def last_arguments(self, item: Item) -> object:
        """Return the arguments with which an item was called last, or None."""
        return self.runtime.calls.memory.last.get(item.call_key(self.server))

    def remember(self, item: Item, arguments: object) -> None:
        """Keep the arguments for the next time."""
        key = item.call_key(self.server)
        self._change(lambda memory: memory.called(key, self._without_secrets(arguments)))

    def _without_secrets(self, arguments: object) -> object:
        hidden = [
            one.path for bench in self.query(Bench) for one in bench.form.form.fields() if one.spec.secret
        ]
        return without_secrets(arguments, hidden=hidden, redact=self.runtime.redactor.redact)

    def _change(self, change: Callable[[CallMemory], CallMemory], said: str = "") -> None:
        async def store() -> None:
            try:
                await self.runtime.calls.change(change)
            except (McptuiError, ValueError) as error:
                self.app.notify(str(error), title="Not remembered", severity="warning")
            else:
                if said:
                    self.app.notify(said, timeout=2)

        self.app.run_worker(store(), name="remember a call")

    def action_bench_keep(self) -> None:
        """Keep the arguments under a name."""
        bench = self.bench
        if bench is None or bench.item is None:
            return
        key = bench.item.call_key(self.server)
        arguments, wrong = bench.arguments()
        if arguments is None:
            bench.line.say((f"! {wrong}", "bad"))
            return
        kept = self._without_secrets(arguments)

        def keep(name: str) -> None:
            name = name.strip()
            self._change(lambda memory: memory.with_saved(key, name, kept), f"kept as {name}")

        self.prompt.ask("keep these arguments as", keep)

    def action_bench_saved(self) -> None:
        """Take arguments that were kept."""
        bench = self.bench
        if bench is None or bench.item is None:
            return
        item, kept = bench.item, self._kept(bench.item)

        def chosen(name: str | None) -> None:
            if name == FORGET:
                self._forget(item)
            elif name is not None and name in kept and bench.item is item:
                bench.fill(kept[name])
                self._to_form(bench)

        choices = [Choice(name, _told(name, value)) for name, value in kept.items()]
        if choices:
            choices.append(Choice(FORGET, Content("forget one of them…").stylize("dim")))
        note = (
            f"Nothing is kept for {item.label} yet: {self._key('bench.keep')} keeps what stands in the form."
        )
        self.app.push_screen(Picker(f"Kept for {item.label}", choices, note=note), chosen)

    def _kept(self, item: Item) -> Mapping[str, object]:
        return self.runtime.calls.memory.saved.get(item.call_key(self.server), {})

    def _forget(self, item: Item) -> None:
        key = item.call_key(self.server)

        def chosen(name: str | None) -> None:
            if name is not None:
                self._change(lambda memory: memory.without_saved(key, name), f"{name} is forgotten")

        choices = [Choice(name, _told(name, value)) for name, value in self._kept(item).items()]
        self.app.push_screen(Picker("Forget", choices), chosen)

    # ---- results ----

    def action_bench_frames(self) -> None:
        """Show the frames of the call, or all of the server."""
        call = self.bench.calls.selected if self.bench is not None else None
        self.show_frames(f"call:{call.id}" if call is not None else f"server:{written(self.server)}")

    def action_bench_hand(self) -> None:
        """Put the result into the message to the model."""
        call = self.bench.calls.selected if self.bench is not None else None
        if call is None or call.result is None:
            self.notify("There is no result to put into the message yet.", timeout=3)
            return
        text = for_conversation(self.server, call)
        self.dismiss(None)
        self.hand_over(text)

    def action_bench_diff(self) -> None:
        """Compare the result with the one before it, or with the marked one."""
        bench = self.bench
        if bench is None or (call := bench.calls.selected) is None:
            return
        before = bench.calls.before
        if bench.line.what:
            self.show_call(bench)
        elif call.result is None or before is None:
            self.notify("There is no other result to compare it with.", timeout=3)
        else:
            self.show_difference(bench, before, call)

    def action_bench_mark(self) -> None:
        """Mark the call, to compare others with it."""
        if self.bench is not None:
            self.bench.calls.mark()

    def action_bench_copy(self) -> None:
        """Copy the value under the cursor; of a log all of it."""
        bench = self.bench
        if self.tab is BenchTab.LOG:
            self._copy(self.log_lines.text, "the log")
        elif bench is not None and bench.page.sheet.count():
            self._copy(bench.page.sheet.value(bench.page.cursor), "the value")

    def action_bench_copy_all(self) -> None:
        """Copy the whole result as JSON."""
        call = self.bench.calls.selected if self.bench is not None else None
        if call is not None and call.result is not None:
            self._copy(json.dumps(as_json(call.result), ensure_ascii=False, indent=2), "the result")

    def _copy(self, text: str, what: str) -> None:
        if len(text) > copies.MOST:
            self.notify(f"This is too much for the clipboard: {self._key('bench.save')} saves it.", timeout=4)
            return
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {what}", timeout=2)

    def action_bench_save(self) -> None:
        """Save what the cursor stands on, if that is an image or a text of its own; else the whole result."""
        bench = self.bench
        call = bench.calls.selected if bench is not None else None
        if bench is None or call is None or call.result is None:
            return
        sheet, at = bench.page.sheet, bench.page.cursor
        found = sheet.binary(at) if isinstance(sheet, Stack) and sheet.count() else None
        if found is None and isinstance(sheet, Stack) and sheet.content(at) is not None:
            found = sheet.value(at).encode("utf-8", "replace"), "json" if isinstance(sheet, Tree) else "txt"
        if found is None:
            whole = json.dumps(as_json(call.result), ensure_ascii=False, indent=2)
            found = whole.encode("utf-8", "replace"), "json"
        data, ending = found
        path = Path.cwd() / f"mcptui-{call.id}.{ending}"
        self.prompt.ask("save as", lambda name: self._save(Path(name).expanduser(), data), value=str(path))

    def _save(self, path: Path, data: bytes) -> None:
        async def save() -> None:
            try:
                await asyncio.to_thread(_write_new, path, data)
            except OSError as error:
                self.app.notify(f"{path} was not saved: {error.strerror}.", severity="error")
            else:
                self.app.notify(f"saved {units.size(len(data))} to {path}", timeout=4)

        self.run_worker(save(), exit_on_error=True)


def _told(name: str, value: object) -> Content:
    said = clean_line(json.dumps(value, ensure_ascii=False, default=str)[:400], 80)
    return Content.assemble(clean_line(name, 60), "  ", (said, "dim"))


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
