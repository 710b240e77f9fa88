"""The reading of one entry: as a tree, beside its partner, as bytes, in time, explained, judged."""

import asyncio

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message

from tui.core import units
from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.traffic.record.entry_columns import Recording
from tui.ui.traffic import raw, sheets
from tui.ui.traffic.loading import HEAD, Loaded, Loader
from tui.ui.traffic.previews import ReaderThread
from tui.ui.traffic.raw import Raw
from tui.ui.traffic.tabs import Heading, Tab, Tabs
from tui.ui.widgets.page import Lines, Page, Sheet
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols

SIDE_BY_SIDE = 100
"""From so many columns on a pair stands side by side; below, one over the other."""

MOST_A_SECOND = 8
"""Entries read a second while the newest is followed."""


class Detail(Vertical):
    """Reads entries.

    Args:
        recording: whose entries.
        reader: the thread that reads bodies.
        signs: what the terminal can show.
    """

    DEFAULT_CSS = """
    Detail { height: 1fr; }
    Detail Bar { background: $panel; padding: 0 1; }
    Detail Horizontal { height: 1fr; }
    Detail Vertical { width: 1fr; height: 1fr; }
    Detail Page { height: 1fr; background: $surface; padding: 0 0 0 1; }
    Detail #second { display: none; border-left: solid $rule; }
    Detail.-pair #second { display: block; }
    Detail.-over Horizontal { layout: vertical; }
    Detail.-over #second { border-left: none; }
    """

    class Shown(Message):
        """Another entry is shown."""

    def __init__(self, recording: Recording, reader: ReaderThread, signs: Symbols) -> None:
        super().__init__(id="detail")
        self._recording = recording
        self._loader = Loader(recording.frames, reader, signs)
        self._signs = signs
        self._tabs = Tabs()
        self._headings = (Heading(), Heading())
        self.pages = (Page(id="page-first"), Page(id="page-second"))
        self.loaded: Loaded | None = None
        self._wanted = 0
        self._reading: asyncio.Task[None] | None = None
        self._asked: set[asyncio.Task[None]] = set()

    def compose(self) -> ComposeResult:
        """Build tabs, headings and pages."""
        yield self._tabs
        with Horizontal():
            with Vertical(id="first"):
                yield self._headings[0]
                yield self.pages[0]
            with Vertical(id="second"):
                yield self._headings[1]
                yield self.pages[1]

    async def on_unmount(self) -> None:
        """Stop reading."""
        tasks = {task for task in (self._reading, *self._asked) if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # ---- what the screen uses ----

    @property
    def tab(self) -> Tab:
        """The view of the moment."""
        return self._tabs.active

    def read(self, seq: int) -> None:
        """Show an entry as soon as it is read; one that is not read by then is left out."""
        self._wanted = seq
        if seq and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read(), name="read an entry")

    def refresh_entry(self) -> None:
        """Read the entry again: its partner may be there by now, or findings."""
        if self.loaded is not None:
            self.read(self.loaded.entry.seq)

    def show_tab(self, tab: Tab) -> None:
        """Show another view."""
        self._tabs.active = tab
        self._tabs.refresh()
        self._fill()

    def wide_enough(self, width: int) -> None:
        """Put a pair side by side if it fits; then that is the view to begin with."""
        self.set_class(width < SIDE_BY_SIDE, "-over")
        if self.loaded is None:
            self._tabs.active = Tab.TREE if width < SIDE_BY_SIDE else Tab.PAIR

    @property
    def page(self) -> Page:
        """The page that has the focus, else the first."""
        return next((page for page in self.pages if page.has_focus), self.pages[0])

    @property
    def read_in_page(self) -> Loaded | None:
        """What stands in the page that has the focus."""
        if self.tab is Tab.PAIR and self.page is self.pages[1] and self.loaded is not None:
            return self._pair(self.loaded)[1]
        return self._pair(self.loaded)[0] if self.tab is Tab.PAIR and self.loaded else self.loaded

    # ---- reading ----

    async def _read(self) -> None:
        shown = -1
        while shown != self._wanted:
            shown = self._wanted
            self._say(busy=True)
            try:
                loaded = await self._loader.load(shown)
            except McptuiError as error:
                self._show_problem(str(error))
                continue
            if loaded is None:
                self._show_problem("This entry was dropped: the recording has reached its limit.")
                continue
            same = self.loaded is not None and self.loaded.entry.seq == loaded.entry.seq
            self.loaded = loaded
            self._say(busy=False)
            if not (same and self.tab is Tab.TREE):
                self._fill()
            self.post_message(self.Shown())
            await asyncio.sleep(1 / MOST_A_SECOND)

    def _show_problem(self, sentence: str) -> None:
        self.loaded = None
        self.remove_class("-pair")
        self._headings[0].parts = ((), ())
        self.pages[0].show(Lines([((clean_line(sentence, 400), "warn"),)]))
        self._say(busy=False)

    def _say(self, *, busy: bool) -> None:
        tabs = self._tabs
        loaded = self.loaded
        tabs.notes = {}
        if loaded is not None and (count := sum(len(one.findings) for one in self._both(loaded))):
            tabs.notes[Tab.FINDINGS] = str(count)
        working = busy or any(page.busy for page in self.pages)
        tabs.right = (("reading…", "warn"),) if working else self._place()
        tabs.refresh()

    def _place(self) -> Row:
        loaded = self.loaded
        if loaded is None:
            return ()
        note = self._recording.notes.get(loaded.entry.seq, "")
        row: Row = ((f"{self._signs.note} {clean_line(note, 60)}  ", "accent"),) if note else ()
        return (*row, (f"entry {loaded.entry.seq}", "dim"))

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        """Show the view whose name was clicked."""
        event.stop()
        self.show_tab(event.tab)

    def on_page_busy(self, event: Page.Busy) -> None:
        """Say that something large is looked through."""
        event.stop()
        self._say(busy=False)

    # ---- what stands in the pages ----

    def _both(self, loaded: Loaded) -> tuple[Loaded, ...]:
        return (loaded, loaded.partner) if loaded.partner is not None else (loaded,)

    def _pair(self, loaded: Loaded) -> tuple[Loaded, Loaded | None]:
        """Return the earlier one and the later one."""
        partner = loaded.partner
        if partner is None or loaded.entry.seq < partner.entry.seq:
            return loaded, partner
        return partner, loaded

    def _fill(self) -> None:
        loaded = self.loaded
        if loaded is None:
            return
        first, second = self._pair(loaded) if self.tab is Tab.PAIR else (loaded, None)
        self.set_class(second is not None, "-pair")
        self._put(0, first, self._sheet(first, 0))
        if second is not None:
            self._put(1, second, self._sheet(second, 1))
        elif self.pages[1].has_focus:
            self.pages[0].focus(scroll_visible=False)

    def _put(self, place: int, loaded: Loaded, sheet: Sheet) -> None:
        self._headings[place].parts = sheets.heading(loaded, self._signs)
        self._headings[place].refresh()
        self.pages[place].show(sheet)

    def _sheet(self, loaded: Loaded, place: int) -> Sheet:
        match self.tab:
            case Tab.TREE | Tab.PAIR:
                return loaded.tree if loaded.tree.is_json else self._raw(loaded, place)
            case Tab.RAW:
                return self._raw(loaded, place)
            case Tab.TIMING:
                return sheets.timing(self._recording.frames, loaded, self._signs)
            case Tab.EXPLAIN:
                return sheets.explanation(loaded, self._recording.revision(loaded.entry.source))
            case Tab.FINDINGS:
                return sheets.findings(loaded, self._signs)

    def _raw(self, loaded: Loaded, place: int) -> Raw:
        entry = loaded.entry
        cut = ""
        if entry.sha256:
            cut = f"{units.size(entry.size - loaded.stored)} more travelled and were not kept"

        def want(start: int) -> None:
            task = asyncio.create_task(self._page(entry.seq, start, sheet, place), name="read a page")
            self._asked.add(task)
            task.add_done_callback(self._asked.discard)

        sheet = Raw(loaded.stored, entry.redactions, want, cut)
        if loaded.stored <= HEAD:
            for start in range(0, loaded.stored, raw.PAGE):
                sheet.put(start, loaded.body[start : start + raw.PAGE])
        return sheet

    async def _page(self, seq: int, start: int, sheet: Raw, place: int) -> None:
        sheet.put(start, await self._loader.body(seq, start, raw.PAGE))
        if self.pages[place].sheet is sheet:
            self.pages[place].rows_changed()
