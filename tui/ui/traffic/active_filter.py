"""The active filter, its order, and the search within it; saved filters."""

import asyncio
from collections.abc import Callable

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import clean_line
from tui.core.units import exact
from tui.settings.state.switches import keep_switch, switch
from tui.traffic.filter.arrangement import Arrangement, Order, SortColumn, next_order
from tui.traffic.filter.fields import quoted
from tui.traffic.filter.folded import FoldedView, Rows, is_precise
from tui.traffic.filter.housekeeping import Housekeeping
from tui.traffic.filter.query import EVERYTHING, Query, parse
from tui.traffic.filter.view import View
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.rows import Row, Span

SEARCH_MS = 3.0
"""How long a search may run per update of the screen."""

KEEP = "+"
"""Entry of the list of saved filters that saves the active one."""

CALLS_ONLY = N_("Nothing to fold: only calls are listed when sorted by latency.")
PRECISE = N_("Nothing is folded: the filter asks for particular entries.")

FOLD = "fold housekeeping"
"""The switch that remembers whether it is folded."""

_EMPTY_LIVE = (
    N_(
        "Every message of every server appears here, with model requests and replies, stderr, and server "
        "starts and exits."
    ),
    N_("Start a server or send a message."),
)
_EMPTY_SORTED = (
    N_("No calls yet. Only calls have a latency."),
    N_("Press 1 to sort by time and show all entries."),
)
_EMPTY_FILE = (N_("This recording is empty."),)
_EMPTY_FILTER = (N_("No matching entries."), N_("Press esc to clear the filter, / to edit it."))
_EMPTY_OPENED = (N_("No matching entries."), N_("Press esc to go back, / to edit the filter."))


class ActiveFilter:
    """Owns the view that the list shows, for the active filter, and the view of the search."""

    def __init__(
        self, list: EntryList, prompt: PromptLine, worked: Callable[[], None], opened_with: str = ""
    ) -> None:
        """Create it; `worked` is called after a pass through the columns of all entries.

        `opened_with` is the text of the filter that the user cannot clear.
        """
        self._recording, self._list, self._prompt = list.recording, list, prompt
        self.opened_with, self._worked = opened_with, worked
        self._work: asyncio.Handle | None = None
        self.query = EVERYTHING
        self.view = self._view(EVERYTHING)
        self.folds = switch(FOLD, True)
        self.order: Order | None = None
        self.rows: Rows = self.view  # what the list shows
        self.search_text = ""
        self.hits: View | None = None  # the view of the search
        self._direction = 0  # direction to go as soon as there is a match, or 0

    def _view(self, query: Query) -> View:
        recording = self._recording
        return View(
            recording.entries,
            query,
            reader=recording.open_reader,
            notes=recording.annotations.notes,
            now_ns=recording.ended_ns or None,
        )

    @property
    def _views(self) -> list[View]:
        return [self.view] if self.hits is None else [self.view, self.hits]

    @property
    def is_filtered(self) -> bool:
        return self.query.root is not None

    def apply(self, query: Query) -> None:
        """Show the matches of a filter; an invalid filter changes nothing."""
        if query.is_sound:
            self._list.empty = self.why_empty(query)
            self.view.close()
            self.query, self.view = query, self._view(query)
            self.search(self.search_text)
            self._list.show(self.arranged())

    def arranged(self) -> Rows:
        """Return the rows of the filter, folded and sorted as requested."""
        self.rows, entries = self.view, self._recording.entries
        notes, folds = self._recording.annotations.notes, self.folds and not is_precise(self.query.root)
        rule = Housekeeping(entries, notes, lambda: self._recording.live)
        if self.order is not None:
            self.rows = Arrangement(self.view, entries, self.order, folds=folds, rule=rule)
        elif folds:
            self.rows = FoldedView(self.view, entries, rule)
        return self.rows

    @property
    def shown(self) -> int:
        """The number of entries that have a line of their own, or are calls that have one."""
        return len(self.rows) if self.rows.calls_only else len(self.view) - self.rows.folded

    def order_row(self, key: str) -> Row:
        """Return the order of the rows, and how many are folded, and the key that shows them."""
        found = self.rows
        row: list[Span] = []
        if (order := found.order) is not None:
            words = {
                (False, False): N_("sorted by {column}"),
                (False, True): N_("sorting by {column}"),
                (True, False): N_("calls sorted by {column}"),
                (True, True): N_("calls sorting by {column}"),
            }[found.calls_only, found.is_at_work]
            row.append((f"   {_(words, column=_(order.column.value))}", "accent"))
        if found.folded:
            row.append((f"   {n_('{n} folded', '{n} folded', found.folded)}", "text"))
            row.append((f"  {_('{key} show', key=key)}", "dim"))
        return tuple(row)

    def search(self, text: str) -> None:
        """Search for a filter expression; anything else is searched for as text."""
        if self.hits is not None:
            self.hits.close()
            self.hits = None
        self.search_text = text
        if text.strip():
            query = parse(text)
            if not query.is_sound:
                query = parse(quoted(text))
            self.hits = self._view(query.within(self.query))

    def advance(self) -> None:
        """Search for a few milliseconds, and continue search and filter in slices until the next update.

        Between two slices, the event loop runs: a key waits for one slice at most.
        """
        if self.hits is not None:
            self.hits.advance(SEARCH_MS)
        if self._work is None and self._can_work():
            self._work = asyncio.get_running_loop().call_soon(self._slice)

    def _can_work(self) -> bool:
        arranges = self.rows.is_at_work and not (self.view.is_at_work and self.order is not None)
        return arranges or any(view.can_advance for view in self._views)

    def _slice(self) -> None:
        self._work = None
        for view in self._views:
            if view.can_advance:
                view.advance(SEARCH_MS)
        self.rows.follow_view()
        if self.rows is not self.view and self.rows.is_at_work:
            self.rows.advance(SEARCH_MS)
        if self._can_work():
            self._work = asyncio.get_running_loop().call_soon(self._slice)
        else:
            self._worked()

    def cancel(self) -> bool:
        """Skip the entries that filter and search have not checked yet; return False if there are none."""
        views = self._views if self.is_filtered or self.search_text else []
        is_busy = any(view.is_at_work for view in views)
        for view in views if is_busy else ():
            view.cancel()
        return is_busy

    def noted(self, seq: int) -> None:
        for view in self._views:
            view.recheck([seq])

    def why_empty(self, query: Query) -> tuple[str, ...]:
        recording = self._recording
        texts: tuple[str, ...] = _EMPTY_FILE
        if self.rows.calls_only and len(self.view):
            texts = _EMPTY_SORTED
        elif query.root is not None:
            texts = _EMPTY_OPENED if query.text == self.opened_with else _EMPTY_FILTER
        elif recording.live:
            texts = _EMPTY_LIVE
        elif problem := recording.problem():
            return (_("No entry of this recording can be read."), clean_line(localized(problem), 400))
        return tuple(_(text) for text in texts)

    def ask_search(self) -> None:
        self._prompt.ask(
            _("search"),
            self._begin_search,
            value=self.search_text,
            placeholder=_("text, or a filter"),
            searches=True,
        )

    def _begin_search(self, text: str) -> None:
        self.search(text)
        self._direction = 1 if text else 0
        self.look()

    def go(self, direction: int) -> None:
        """Go to the next or previous match; without a search, ask for one."""
        if not self.search_text:
            self.ask_search()
            return
        self._direction = direction
        self.look()

    def look(self) -> None:
        """Mark the matches in the list, and go to the requested one once it is found."""
        hits, selected = self.hits, self._list.selected
        self._list.show_hits(hits)
        if not self._direction:
            return
        seq = 0
        if hits is not None:
            hits.advance(SEARCH_MS)
            seq = hits.next(selected, self._direction)
        if (seq and self._list.select(seq)) or hits is None or hits.is_done:
            self._direction = 0

    def arrange(self, column: str) -> None:
        """Sort by a column, then in reverse, then not at all; without a column, fold or unfold setup."""
        if column:
            self.order = next_order(self.order, SortColumn(column))
        elif self.order is not None and self.order.column is SortColumn.LATENCY:
            self._list.notify(_(CALLS_ONLY), timeout=4)
            return
        elif is_precise(self.query.root):
            self._list.notify(_(PRECISE), timeout=4)
            return
        else:
            self.folds = not self.folds
            keeping = asyncio.to_thread(keep_switch, FOLD, self.folds)
            self._list.screen.run_worker(keeping, name="keep a switch")
        had = self.rows.folded
        self._list.show(self.arranged())
        if not column and not had and not self.rows.folded:
            words = (
                _("Handshakes and lists will be folded.") if self.folds else _("Nothing is folded any more.")
            )
            self._list.notify(words, timeout=3)
        if self.query.root is None:
            self._list.show_empty(self.why_empty(self.query))

    def close(self) -> None:
        """Stop the threads of the views, and the work between updates."""
        if self._work is not None:
            self._work.cancel()
        self.view.close()
        self.search("")

    def choose_filter(self) -> None:
        """Choose a saved filter and apply it, or save the active one."""
        from tui.ui.dialogs.picker import Picker

        text, saved = self.query.text, self._recording.annotations.filters

        def picked(name: str | None) -> None:
            if name == KEEP:
                self._save_filter(text)
            elif name is not None:
                self.apply(parse(saved[name]))

        choices = [(name, Content(f"{name}   {clean_line(saved[name], 60)}")) for name in sorted(saved)]
        if text and text not in saved.values():
            choices.append((KEEP, Content(_("keep: {filter}", filter=clean_line(text, 60)))))
        note = _("No saved filters yet. Filter with /, then save the filter here.")
        self._prompt.app.push_screen(Picker(_("Saved filters"), choices, note=note), picked)

    def _save_filter(self, text: str, name: str = "") -> None:
        app, screen = self._prompt.app, self._prompt.screen

        async def save(name: str) -> None:
            try:
                await asyncio.to_thread(self._recording.annotations.keep_filter, name, text)
            except McptuiError as error:
                title = _("Filter {name} not saved", name=name)
                app.notify(clean_line(localized(error), 600), title=title, severity="error")
                if screen.is_current and not self._prompt.display:
                    self._save_filter(text, name)
            else:
                self._recording.annotations.filters[name] = text
                app.notify(_("Saved as {name}.", name=name), timeout=2)

        def named(name: str) -> None:
            name = clean_line(name.strip(), 60)
            if name and name != KEEP:
                screen.run_worker(save(name), name="save a filter")

        self._prompt.ask(_("filter name"), named, value=name)

    def line(self) -> tuple[Row, Row]:
        """Return filter and search for the left end, progress and matches for the right end; maybe empty."""
        hits = self.hits
        left: Row = ()
        right: Row = ()
        if self.is_filtered:
            left = ((f"{_('filter')} › ", "dim"), (clean_line(self.query.text, 400), "text"))
            right = _progress(self.view)
        if hits is not None:
            gap = "   " if left else ""
            searched = clean_line(self.search_text)
            left = (*left, (gap, ""), (f"{_('search')} › ", "dim"), (searched, "text"))
            row, count = hits.row_of(self._list.selected), exact(len(hits))
            words = _("{count} found", count=count)
            if row >= 0:
                words = _("{place} of {count} found", place=exact(row + 1), count=count)
            found = (words, "text")
            if not len(hits):
                found = (_("no matches") if hits.is_done else "", "warn")
            right = (*_progress(hits), found, ("   ", ""), *right)
        if problem := next(filter(None, (view.problem for view in self._views)), ""):
            right = ((clean_line(problem, 120), "bad"), ("  ", ""), *right)
        return left, right


def _progress(view: View) -> Row:
    if view.is_done or not view.progress[1]:
        return ()
    percent = percent_of(view)
    words = _("{percent} %, esc stops", percent=percent) if view.is_at_work else f"{percent} %"
    return ((f"{words}   ", "warn"),)


def percent_of(view: View) -> int:
    """Return how much of its entries a view has checked."""
    done, total = view.progress
    return done * 100 // max(1, total)
