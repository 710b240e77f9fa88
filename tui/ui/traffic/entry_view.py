"""The open entry: as a tree, next to its partner, as bytes, on a time line, explained, with findings."""

import asyncio
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui.core import units
from tui.core.background import Tasks
from tui.core.jsonrpc.reader import indented
from tui.core.language.translate import N_, _
from tui.core.text import clean_line
from tui.core.traffic import BODY_LOST_TEXT, Kind, Outcome
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.traffic import sheets
from tui.ui.traffic.bars import EntryTab, Tabs
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_loader import MOST, LoadedEntry, found_or_why, in_time, load
from tui.ui.traffic.resender import LiveRun
from tui.ui.traffic.sheets import RawSheet
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.files import ask_to_save
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.page import MOST_COPIED, Lines, Page, Sheet, copy_text
from tui.ui.widgets.rows import PREVIEW_FROM, Row
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.tree import Tree

SIDE_BY_SIDE = 100
"""Minimum columns for showing a pair side by side; otherwise, one is above the other."""

MOST_A_SECOND = 8
"""Maximum entries loaded per second while the newest is followed."""

SHORT = 20
"""If there are fewer rows, an open entry covers the list."""

FAILED = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST})
_TABS = tuple(EntryTab)


class EntryView(Vertical):
    """Shows entries below the list, and owns their search and clipboard; the list is in the row `around`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Context.ENTRY),
        # Those of the list, where no key of the entry means something else.
        *(one for one in bindings_of(Context.TRAFFIC) if getattr(one, "id", "") != "traffic.follow"),
    ]

    DEFAULT_CSS = """
    EntryView { height: 1fr; }
    EntryView Bar { background: $panel; padding: 0 1; }
    EntryView Horizontal { height: 1fr; }
    EntryView Vertical { width: 1fr; height: 1fr; }
    EntryView Page { height: 1fr; background: $surface; padding: 0 0 0 1; }
    EntryView #second { display: none; border-left: solid $rule; }
    EntryView.-pair #second { display: block; }
    EntryView.-over Horizontal { layout: vertical; }
    EntryView.-over #second { border-left: none; }
    """

    def __init__(
        self, list: EntryList, around: Widget, prompt: PromptLine, live: LiveRun | None = None
    ) -> None:
        super().__init__()
        self._live = live
        self._list, self._around = list, around
        self._recording, self._prompt = list.recording, prompt
        self.display = self._maximized = self._focus_was_hidden = False
        self._tabs = Tabs(EntryTab, id="tabs")
        self._headings = (SplitBar(), SplitBar())
        self.pages = (Page(), Page())
        self.loaded: LoadedEntry | None = None
        self._wanted = 0
        self._loading: asyncio.Task[None] | None = None
        self._tasks = Tasks()

    def compose(self) -> ComposeResult:
        yield self._tabs
        with Horizontal():
            for name, heading, page in zip(("first", "second"), self._headings, self.pages, strict=True):
                with Vertical(id=name):
                    yield heading
                    yield page

    def on_mount(self) -> None:
        self.fit(self.app.size.width)

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

    @property
    def tab(self) -> EntryTab:
        return EntryTab(self._tabs.active)

    def show_entry(self, seq: int) -> None:
        """Show an entry once it is loaded, unless another one has been requested by then."""
        self._wanted = seq
        if seq and (self._loading is None or self._loading.done()):
            self._loading = self._tasks.start(self._load(), "load an entry")

    def reload(self) -> None:
        """Load the entry again: its partner, findings or note may be new."""
        if self.loaded is not None:
            self.show_entry(self.loaded.entry.seq)

    def look(self) -> None:
        loaded, entries = self.loaded, self._recording.entries
        if self.display and loaded is not None and loaded.partner is None:
            index = entries.index(loaded.entry.seq)
            if index >= 0 and entries.partner(index) >= 0:
                self.reload()

    def show_tab(self, tab: str) -> None:
        self._tabs.active = tab
        self._tabs.refresh()
        self._fill()

    def fit(self, width: int) -> None:
        self.set_class(width < SIDE_BY_SIDE, "-over")
        if self.loaded is None:
            self._tabs.active = self._default_tab()
        self._share_room()

    def _default_tab(self) -> EntryTab:
        return EntryTab.TREE if self.app.size.width < SIDE_BY_SIDE else EntryTab.PAIR

    # ---- the place of the open entry ----

    def open(self) -> None:
        """Open the selected entry, or unfold it: its findings if it failed and they say why."""
        if not self._list.chosen() or not self.is_attached or self._list.unfold():
            return
        entries, index = self._list.entries, self._list.index
        both = [index, *([at] if (at := entries.partner(index)) >= 0 else ())] if index >= 0 else []
        findings = any(entries.severity[at] for at in both) and entries.outcome[index] in FAILED
        if not self.display and (findings or self.tab is EntryTab.FINDINGS):
            self._tabs.active = EntryTab.FINDINGS if findings else self._default_tab()
        self.display = True
        self._share_room()
        self.show_entry(self._list.selected)
        self.screen.set_focus(self.pages[0], scroll_visible=False)
        self.screen.call_after_refresh(lambda: self._list.show_row(self._list.cursor))

    def close(self) -> None:
        self._maximized = self.display = False
        self._share_room()
        self.screen.set_focus(self._list, scroll_visible=False)

    def toggle_whole(self) -> None:
        self._maximized = bool(self._list.display)
        self._share(whole=self._maximized)

    def _share_room(self) -> None:
        """Show the list and the open entry, or only the entry if it is maximized or there are few rows."""
        self._share(whole=self._maximized or self.screen.size.height < SHORT)

    def _share(self, *, whole: bool) -> None:
        screen = self.screen
        hidden = whole and self.display
        if hidden and screen.focused is self._list:  # otherwise Textual would focus the filter
            self._focus_was_hidden = True
            screen.set_focus(self.pages[0], scroll_visible=False)
        # Not with a stylesheet, which is applied later: the next key is for what is visible now.
        self._list.display = self._around.display = not hidden
        self._around.set_class(self.display or screen.size.width < PREVIEW_FROM, "-alone")
        if self._focus_was_hidden and not hidden:
            self._focus_was_hidden = False
            screen.set_focus(self._list, scroll_visible=False)

    async def copy_row(self) -> None:
        """Copy the selected entry once it is loaded. Later keys, for the question about the format, wait."""
        if not self._list.chosen():
            return
        if not self.display:
            self.open()
            self.screen.set_focus(self._list, scroll_visible=False)
        loaded = await in_time(self._read(self._list.selected))
        if isinstance(loaded, str):
            self.notify(loaded, timeout=4)
        else:
            await self._copy_as(loaded)

    # ---- what it shows ----

    @property
    def page(self) -> Page:
        """The page with the focus, by default the first one."""
        return next((page for page in self.pages if page.has_focus), self.pages[0])

    @property
    def entry_in_page(self) -> LoadedEntry | None:
        if self.tab is not EntryTab.PAIR or self.loaded is None:
            return self.loaded
        return self._pair(self.loaded)[self.page is self.pages[1]]

    async def _read(self, seq: int) -> LoadedEntry | None:
        return await self._list.reader.ask(partial(load, self._recording.entries, seq))

    async def _load(self) -> None:
        shown = -1
        while shown != self._wanted:
            shown = self._wanted
            self._update_tabs(busy=True)
            loaded = await found_or_why(self._read(shown))
            if isinstance(loaded, str):
                self.loaded = None
                self.remove_class("-pair")
                self._headings[0].show(())
                self.pages[0].show(Lines([((loaded, "warn"),)]))
                self._update_tabs(busy=False)
                continue
            same = self.loaded is not None and self.loaded.entry.seq == loaded.entry.seq
            self.loaded = loaded
            self._update_tabs(busy=False)
            if not (same and self.tab is EntryTab.TREE):
                self._fill()
            await asyncio.sleep(1 / MOST_A_SECOND)

    def _update_tabs(self, *, busy: bool) -> None:
        tabs, loaded = self._tabs, self.loaded
        tabs.notes = {}
        if loaded is not None:
            both = (loaded, loaded.partner) if loaded.partner is not None else (loaded,)
            if count := sum(len(each.findings) for each in both):
                tabs.notes = {EntryTab.FINDINGS: str(count)}
        if busy or any(page.busy for page in self.pages):
            tabs.right = ((_("reading…"), "warn"),)
        elif loaded is None:
            tabs.right = ()
        else:
            note = self._recording.annotations.notes.get(loaded.entry.seq, "")
            row: Row = ((f"{symbols_for().note} {clean_line(note, 60)}  ", "user"),) if note else ()
            tabs.right = (*row, (_("entry {seq}", seq=loaded.entry.seq), "dim"))
        tabs.refresh()

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        event.stop()
        self.show_tab(event.tab)

    def on_page_busy(self, event: Page.Busy) -> None:
        event.stop()
        self._update_tabs(busy=False)

    def _pair(self, loaded: LoadedEntry) -> tuple[LoadedEntry, LoadedEntry | None]:
        partner = loaded.partner
        if partner is None or loaded.entry.seq < partner.entry.seq:
            return loaded, partner
        return partner, loaded

    def _fill(self) -> None:
        loaded = self.loaded
        if loaded is None:
            return
        first, second = self._pair(loaded) if self.tab is EntryTab.PAIR else (loaded, None)
        self.set_class(second is not None, "-pair")
        for shown, heading, page in zip((first, second), self._headings, self.pages, strict=True):
            if shown is not None:
                heading.show(*sheets.heading(shown.entry))
                page.show(self._sheet(shown))
        if second is None and self.pages[1].has_focus:
            self.pages[0].focus(scroll_visible=False)

    def _sheet(self, loaded: LoadedEntry) -> Sheet:
        match self.tab:
            case EntryTab.TREE | EntryTab.PAIR:
                return loaded.tree if loaded.tree.is_json else self._raw(loaded)
            case EntryTab.RAW:
                return self._raw(loaded)
            case EntryTab.TIMING:
                return sheets.timing(self._recording.entries, loaded)
            case EntryTab.EXPLAIN:
                return sheets.explanation(loaded, self._recording.revision(loaded.entry.source))
            case EntryTab.FINDINGS:
                return sheets.findings(loaded)

    def _raw(self, loaded: LoadedEntry) -> RawSheet:
        entry, cut = loaded.entry, ""
        if entry.is_body_lost:
            cut = _(BODY_LOST_TEXT)
        elif entry.sha256 or entry.size > len(loaded.body) >= MOST:
            more = N_("{size} more not recorded") if entry.sha256 else N_("{size} more not shown")
            cut = _(more, size=units.size(entry.size - len(loaded.body)))
        return RawSheet(loaded.body, entry.redactions, cut)

    def step_tab(self, step: int) -> None:
        self.show_tab(_TABS[(_TABS.index(self.tab) + step) % len(_TABS)])

    def fold_all(self) -> None:
        sheet = self.page.sheet
        if isinstance(sheet, Tree) and not self.page.busy:
            sheet.fold_all()
            self.page.rows_changed()

    def ask_search(self) -> None:
        text = self.page.search_text
        self._prompt.ask(_("search in this entry"), self._search, value=text, searches=True)

    def _search(self, text: str) -> None:
        """Highlight a text on both pages, and go to the first match on the current one."""
        for page in self.pages:
            page.seek(text)
        self.page.next_match(1, first=True)

    def go(self, direction: int) -> None:
        """Go to the next or previous match; without a search, ask for one."""
        if self.page.search_text:
            self.page.next_match(direction)
        else:
            self.ask_search()

    def copy_path(self) -> None:
        if path := self.page.sheet.path(self.page.cursor):
            copy_text(self.app, path, path)

    async def copy(self) -> None:
        if (loaded := self.entry_in_page) is not None:
            await self._copy_as(loaded)

    async def _copy_as(self, loaded: LoadedEntry) -> None:
        """Ask for a format, and copy an entry in it: the request that it belongs to, or its bytes."""
        from tui.runtime.copies.request import model_request, request_at  # not needed for the first frame
        from tui.ui.dialogs.copy_as import ToCopy, ask_to_copy

        entry, body = loaded.entry, loaded.body
        raw, what = partial(body.decode, "utf-8", "replace"), _("entry {seq}", seq=entry.seq)
        if len(body) > MOST_COPIED:
            copy_text(self.app, raw(), what, "entry.save")
            return
        others = dict[str, partial[str]]()
        if body:
            others[_("raw bytes")] = raw
        if entry.kind is Kind.MODEL_REQUEST:
            others["curl"] = partial(model_request, entry, body)
        if loaded.tree.is_json:
            others[_("JSON, indented")] = partial(indented, body)
        ended = (each.entry.outcome for each in (loaded, loaded.partner) if each is not None)
        runtime = self._live.runtime if self._live is not None else None
        read = partial(request_at, seq=entry.seq, runtime=runtime, failed=not FAILED.isdisjoint(ended))
        found = await in_time(self._list.reader.ask(read))
        request = None if isinstance(found, str) else found
        ask_to_copy(self.app, ToCopy(what, request, self.screen, others, "entry.save"))

    def save(self) -> None:
        """Save the image under the cursor, otherwise the whole body."""
        loaded, sheet = self.entry_in_page, self.page.sheet
        if loaded is None:
            return
        found = sheet.binary(self.page.cursor) if isinstance(sheet, Tree) else None
        data, ending = found or (loaded.body, "json" if loaded.tree.is_json else "txt")
        ask_to_save(self._prompt, Path.cwd() / f"mcptui-{loaded.entry.seq}.{ending}", data)
