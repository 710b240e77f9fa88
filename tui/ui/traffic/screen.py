"""The traffic screen: the traffic of all servers and of the model, its filter, and the open entry."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from tui.core.addons import service
from tui.core.background import Tasks
from tui.core.language.translate import _, localized
from tui.core.traffic import Cause
from tui.traffic.filter.query import Query, parse
from tui.traffic.record.open_recording import Recording
from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import KeyOverrides, act
from tui.ui.keys.footer import Footer, entries_of
from tui.ui.traffic.active_filter import ActiveFilter
from tui.ui.traffic.bars import FilterLine, Headings, TrafficTitle
from tui.ui.traffic.comparison import ComparisonScreen
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_preview import SelectedEntry
from tui.ui.traffic.entry_view import EntryView
from tui.ui.traffic.export import Exporter
from tui.ui.traffic.filter_bar import FilterBar
from tui.ui.traffic.resender import LiveRun, Resender
from tui.ui.widgets.inputs import FINISH_INPUT, PromptLine
from tui.ui.widgets.rows import PREVIEW_FROM, Row

LOOKS_PER_SECOND = 30
FLOOD_REST = 3
"""Updates to skip after one that added more than a page: it is too fast to read, and keys have priority."""

USED = 7
"""Keys of the list, by use, to which those of the app give way in the footer."""

FAULT_LOOKS = 8
"""Updates from one to the next of the faults in the title."""


class TrafficScreen(Screen[Cause | None]):
    """The traffic of one recording; returns the cause of an entry whose turn the user wants to see.

    The screen opens with `filter`; esc at that filter leaves the screen. `live` is None for a recording from
    a file. `place` is the initial filter and entry, by seq; that of `Recording.opens_at` is opened. `then` is
    an action to run at once.
    """

    DEFAULT_CSS = """
    TrafficScreen { background: $surface; layout: vertical; }
    TrafficScreen > Bar { padding: 0 1; background: $panel; }
    TrafficScreen #traffic-heads { background: $surface; padding: 0; }
    TrafficScreen > #footer { background: $surface; padding: 0; }
    TrafficScreen > #rows { height: 1fr; }
    TrafficScreen #listed { width: 64%; min-width: 128; height: 1fr; }
    TrafficScreen .-alone > #listed { width: 1fr; min-width: 0; }
    TrafficScreen EntryList { height: 1fr; background: $surface; }
    TrafficScreen Preview { width: 1fr; height: 1fr; border-left: solid $rule; background: $surface; }
    TrafficScreen .-alone > Preview { display: none; }
    """

    is_whole = False  # keys wait until all widgets are mounted, clicks have no effect
    CONTEXTS = (Context.TRAFFIC, Context.ENTRY, Context.TRAY)

    def __init__(
        self,
        recording: Recording,
        overrides: KeyOverrides,
        filter: str = "",
        *,
        live: LiveRun | None = None,
        place: tuple[str, int] = ("", 0),
        then: str = "",
    ) -> None:
        super().__init__()
        self.recording, self.live = recording, live
        self._place, self._then, self._rest = (place[0] or filter, place[1]), then, 0
        self._opens, self._looks, self._faults = False, 0, ""
        self.list = EntryList(recording)
        self.prompt, self._tasks = PromptLine(), Tasks()
        self.active_filter = active = ActiveFilter(self.list, self.prompt, self.look, filter)
        self.filter_bar = FilterBar(recording.entries, active.apply, self._filter_closed)
        self.filter_line = FilterLine()
        self._title, self._headings = TrafficTitle(wraps=True), Headings(self.list.heading)
        self._rows = Horizontal(Vertical(self._headings, self.list, id="listed"), id="rows", classes="-alone")
        self.entry = EntryView(self.list, self._rows, self.prompt, live)
        self.preview = SelectedEntry(self.list)
        self._overrides, self.opened_with = overrides, ""
        self._keys = Footer(("app.palette", "app.quit", "app.help"))
        self.marked = 0  # the seq of the entry to compare another one with, or 0
        self.resender = Resender(live, self.list, self._tasks, active)
        self.exporter = Exporter(self.list, active, self._tasks)

    def stays(self) -> str:
        """Return why the screen cannot be closed now, or ""."""
        if self.prompt.display or self.filter_bar.display:
            return FINISH_INPUT
        return _("An export is running. Press esc to cancel it first.") if self.exporter.note else ""

    def closes_on(self, event: events.Key) -> bool:
        """Return whether a key opened the screen, so that it closes it, too; text that is typed stays."""
        return event.key == self.opened_with and not self.stays()

    def leave(self, key: str) -> None:
        self.dismiss(None)

    def compose(self) -> ComposeResult:
        self.list.previews.prefetch(self.recording.entries, self.app.size.height)
        yield self._title
        yield self.filter_line
        self._rows.set_class(self.app.size.width < PREVIEW_FROM, "-alone")
        yield self._rows
        yield self._keys

    def on_mount(self) -> None:
        self.set_focus(self.list, scroll_visible=False)  # immediately: the next key may be waiting
        self.active_filter.apply(parse(self._place[0]))
        self._show_keys(Context.TRAFFIC)
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)
        self.call_after_refresh(self._complete)

    async def _complete(self) -> None:
        """Mount the widgets that are not visible at first: they must not delay the first lines."""
        await self.mount(self.filter_bar, after=self.filter_line)
        await self.mount(self.entry, self.prompt, after=self._rows)
        await self._rows.mount(self.preview.pane)
        if self.live is not None and (tray := service("held messages")) is not None:
            await self.mount(tray(self), after=self.prompt)
        self.is_whole = True
        if self._then:
            await self.app.run_action(self._then)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.is_whole and super().check_action(action, parameters)

    async def action_act(self, action_id: str) -> None:
        await act(self, action_id)

    async def on_unmount(self) -> None:
        await self._tasks.cancel()
        self.active_filter.close()
        await self.preview.close()
        await self.list.close()

    def look(self) -> None:
        """Show new data of the recording; cheap if there is none."""
        if not self.recording.live and not len(self.recording.entries):
            self.list.show_empty(self.active_filter.why_empty(self.active_filter.query))
        if self._place[1] and self.list.select(self._place[1]):
            self._opens = self._place[1] == self.recording.opens_at
            self._place = ("", 0)
        if self._opens and self.is_whole:
            self._opens = False
            self.entry.open()
        if self._rest:
            self._rest -= 1
            return
        rows = len(self.list.view)
        self.list.tick()
        if self.recording.live and len(self.list.view) - rows > self.list.page:
            self._rest = FLOOD_REST
        self.active_filter.advance()
        if not (self._rest and self.list.following):  # a flood is too fast to read
            self.list.previews.look()
        self.active_filter.look()
        self.resender.look()
        self.entry.look()
        if self.is_whole:
            self.preview.look()
        marked = self.marked
        if self.live is not None and self.live.runtime.is_ready and not self._looks % FAULT_LOOKS:
            from tui.core.servers import fault_words  # not needed to show a recording

            self._faults = localized(fault_words(self.live.runtime.host.statuses()))
        self._looks += 1
        notes: Row = (
            (f"   {self._faults}" if self._faults else "", "warn"),
            *self.active_filter.order_row(self._overrides.first_of("traffic.setup")),
            (f"   {self.exporter.note}" if self.exporter.note else "", "warn"),
        )
        self._headings.look()
        self._title.update_from(self.recording, self.active_filter.shown, self.list.following, notes)
        if not self.filter_bar.display:
            left, right = self.active_filter.line()
            if marked:
                key = self._overrides.first_of("traffic.compare")
                words = _("Comparing entry {seq}: select the other entry, press {key}.", seq=marked, key=key)
                left = ((words, "accent"), (f"  {_('esc cancel')}   ", "dim"), *left)
            self.filter_line.show(left, right)

    def next_time_format(self) -> None:
        """Show the times in the next format, at once also in the headings."""
        self.list.next_time_format()
        self._headings.refresh()
        self.list.paint_now(self._headings)

    def on_resize(self, event: events.Resize) -> None:
        if self.is_whole:
            self.entry.fit(event.size.width)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        of_entry = self.entry.has_pseudo_class("focus-within")
        self._show_keys(Context.ENTRY if of_entry else getattr(self.focused, "CONTEXT", Context.TRAFFIC))

    def _show_keys(self, context: Context) -> None:
        least = USED if context is Context.TRAFFIC else 0
        self._keys.show(entries_of(of_context(context), self._overrides), least)

    def on_entry_list_moved(self, event: EntryList.Moved) -> None:
        if self.entry.display:
            self.entry.show_entry(self.list.selected)

    def _apply_text(self, filter: str | None) -> None:
        if filter is not None:
            self.active_filter.apply(parse(filter))

    def edit_note(self) -> None:
        annotations, seq = self.recording.annotations, self.list.chosen()
        if not seq:
            return

        def keep(text: str) -> None:
            text = annotations.redact(text.strip())
            annotations.notes.pop(seq, None)
            if text:
                annotations.notes[seq] = text
            annotations.keep_note(seq, None, text)
            self.list.repaint()
            self.active_filter.noted(seq)
            self.entry.reload()

        note, empty = annotations.notes.get(seq, ""), _("leave empty to remove the note")
        asked, about = _("note on entry {seq}", seq=seq), (id(self.recording), seq)
        self.prompt.ask(asked, keep, value=note, about=about, placeholder=empty)

    def edit_filter(self) -> None:
        self.filter_line.show(())
        self.filter_bar.open(self.active_filter.query)

    def _filter_closed(self, query: Query) -> None:
        if query.text != self.active_filter.query.text:
            self.active_filter.apply(query)
        self.set_focus(self.list, scroll_visible=False)
        self.look()

    def back(self) -> None:
        """Cancel or close what is open: export, running search, entry, search, mark, filter, screen."""
        active = self.active_filter
        if self.exporter.cancel() or active.cancel():
            return
        if self.entry.display:
            self.entry.close()
        elif active.search_text:
            active.search("")
        elif self.marked:
            self.marked = 0
        elif active.is_filtered and active.query.text != active.opened_with:
            active.apply(parse(active.opened_with))
        else:
            self.dismiss(None)

    def compare(self) -> None:
        """Mark the selected entry, or compare it with the marked one."""
        seq, marked = self.list.chosen(), self.marked
        if not seq:
            return
        if seq == marked or self.recording.entries.index(marked) < 0:
            self.marked = 0 if seq == marked else seq
            return
        self.marked = 0
        self.app.push_screen(ComparisonScreen(self.list, (marked, seq)))

    def go_to_turn(self) -> None:
        turn = self.list.turn()
        if turn and not self.recording.live:
            words = _("This entry belongs to turn {turn} of the recorded conversation.", turn=turn)
            self.notify(words, timeout=4)
        elif turn:
            self.dismiss(Cause(turn, self.recording.entries.step[self.list.index]))

    def show_statistics(self) -> None:
        from tui.ui.traffic.statistics import StatisticsScreen

        self.app.push_screen(StatisticsScreen(self.recording), self._apply_text)

    def show_waterfall(self) -> None:
        from tui.ui.traffic.waterfall import WaterfallScreen

        if turn := self.list.turn():
            spans = self.live.spans if self.live else None
            self.app.push_screen(WaterfallScreen(turn, self.list, spans), self._apply_text)
