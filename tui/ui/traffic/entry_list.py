"""The list of the traffic: a million lines, each drawn when it becomes visible; and the traffic pane."""

import time
from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from tui.core.language.translate import _
from tui.core.text import cells_of
from tui.core.traffic import Outcome
from tui.core.units import exact
from tui.traffic.filter.folded import FoldedView, Rows
from tui.traffic.filter.housekeeping import Housekeeping
from tui.traffic.filter.view import View
from tui.traffic.methods import is_setup
from tui.traffic.record.open_recording import ReaderThread, Recording
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.bindings import bindings_of
from tui.ui.platform.textual_internals import paint_now
from tui.ui.traffic.columns import Contents, Layout, layout_for
from tui.ui.traffic.entry_loader import NONE, Previews
from tui.ui.traffic.entry_row import PREVIEWED, RowMaker, name_of
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, crop, wrap
from tui.ui.widgets.times import TimeMode

ADVANCE_MS = 4.0
"""How long the list may filter new entries per tick."""

COUNT_UP_NS = 100_000_000
"""How often the latency of a pending request is updated."""

MOST_TOUCHED = 200
"""Maximum changed entries whose lines are drawn one by one; with more, all visible lines are drawn."""

MOST_NAMES = 500
"""Maximum servers, methods and tools each whose names are measured for the width of the columns."""

REST_SECONDS = 1 / 60
"""If the last paint was more recent, Textual's timer paints, which merges paints."""

TAIL_TICKS_PER_SECOND = 10
TAIL_LINES = 5


class EntryList(LinePane, inherit_bindings=False):
    """Shows the entries of a view, one line each, and follows the newest until the user scrolls up.

    The list is not notified of new entries: `tick` checks for them. Only visible lines are created. While it
    is live, the latency of pending requests grows. `previews` have data that the columns lack. `reader` also
    reads what other parts of the screen show of entries. The owner of the list calls `close`.
    """

    CURSOR = True
    PREVIEWS: ClassVar[bool] = True
    """Whether lines have previews. Without them, nothing is read, and there is nothing to close."""

    class Moved(Message):
        """The cursor is on another entry, or there is none any more."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "row_up", show=False, priority=True, id="pane.up"),
        Binding("down,j", "row_down", show=False, priority=True, id="pane.down"),
        Binding("pageup", "pane_page_up", show=False, priority=True, id="pane.page_up"),
        Binding("pagedown,space", "pane_page_down", show=False, priority=True, id="pane.page_down"),
        Binding("home", "pane_home", show=False, priority=True, id="pane.home"),
        *bindings_of(Context.TRAFFIC),
    ]

    def __init__(self, recording: Recording, *, empty: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.recording, self.entries = recording, recording.entries
        recording.lint()
        self.view: Rows = View(recording.entries)
        self.hits: View | None = None  # matches of the search in the list
        self._hits_state = (0, 0)
        self.empty = empty
        self._maker = RowMaker(recording.entries)
        self.reader = ReaderThread(recording.open_reader)
        self.previews = Previews(self.reader, self.repaint)
        self.selected = 0  # seq of the entry under the cursor, 0 if none
        self._related: tuple[int, int] = (-1, -1)  # indexes of the selected entry's partner and root
        self._revision = 0
        self._changes = (0, 0, 0)  # the view, how often its rows moved, what was dropped
        self._touched = 0  # number of changes of entries that were applied
        self._shows_hole = False  # some painted entries are still being loaded
        self._rows = 0
        self._counted_ns = 0
        self._layout: Layout | None = None
        self._contents: tuple[int, ...] = ()
        self._painted_at = 0.0

    @property
    def index(self) -> int:
        """The index of the entry under the cursor, -1 if there is none."""
        return self.entries.index(self.selected) if self.selected else -1

    async def close(self) -> None:
        await self.previews.close()
        self.reader.close()

    def show(self, view: Rows) -> None:
        """Show another view. The cursor stays on its entry, or moves to the nearest one."""
        self.view = view
        view.advance()
        if not view.in_time_order:
            self.following, self.selected = False, view.seq(0) if len(view) else 0
        self._update_rows()
        if self.row_count():
            self.show_row(self.cursor)

    def show_hits(self, hits: View | None) -> None:
        """Mark the entries that a search matches, None for no search; cheap if nothing changed."""
        state = (0, 0) if hits is None else (id(hits), hits.revision)
        if state != self._hits_state:
            self.hits, self._hits_state = hits, state
            self.repaint()

    def show_empty(self, paragraphs: tuple[str, ...]) -> None:
        if paragraphs != self.empty:
            self.empty = paragraphs
            self.rows_changed()

    def tick(self) -> None:
        """Add new entries; cheap if there are none."""
        self.view.advance(ADVANCE_MS)
        if self.view.revision == self._revision:
            self._count_up()
        else:
            self._update_rows()

    def select(self, seq: int) -> bool:
        """Move the cursor to an entry, unfolded if it was folded; return False if it is not in the view."""
        if self.view.reveal(seq):
            self._update_rows()
        row = self.view.row_of(seq)
        if row < 0:
            return False
        height = self.scrollable_content_region.height
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self._place(max(0, row - height // 2))
        self.move_cursor(row)
        return True

    def unfold(self) -> bool:
        """Show what the selected line represents; return False if that is one entry."""
        unfolds = self.index >= 0 and self.view.unfold(self.index)
        if unfolds:
            self.tick()
        return unfolds

    def chosen(self) -> int:
        """Return the number of the selected entry, for an action on it; if there is none, say so: 0."""
        if not self.selected:
            self.notify(_("No entry is selected."), timeout=3)
        return self.selected

    def toggle_mark(self) -> None:
        index, entries = self.index, self.entries
        if self.chosen() and index >= 0:
            entries.mark(index, not entries.marked[index])
            self.recording.annotations.keep_note(entries.seq(index), bool(entries.marked[index]), None)
            self.tick()

    def go_to_marked(self, step: int) -> None:
        """Go to the next or previous marked entry that the filter shows."""
        marked, at = self.entries.marked, self.index
        places = range(at + 1, len(marked)) if step > 0 else range(at - 1, -1, -1)
        shown = (one for one in places if marked[one] and self.view.row_of(self.entries.seq(one)) >= 0)
        why = _("No marked entry after this one.") if step > 0 else _("No marked entry before this one.")
        self._go_to(next(shown, -1), why)

    def go_to_partner(self) -> None:
        if self.chosen() and (index := self.index) >= 0:
            is_open = self.entries.is_uncertain(index)
            why = _("Its response is not loaded yet.") if is_open else None
            why = why or _("This entry has no request or response.")
            self._go_to(self.entries.partner(index), why)

    def go_to_first(self) -> None:
        if self.chosen() and (index := self.index) >= 0:
            self._go_to(self.entries.origin(index), _("This entry is not part of a call."))

    def _go_to(self, index: int, if_none: str) -> None:
        if index < 0:
            self.notify(if_none, timeout=3)
        elif not self.entries.is_here(index) and self.view.row_of(self.entries.seq(index)) < 0:
            seq = exact(self.entries.seq(index))
            self.notify(_("Entry {seq} is not loaded yet.", seq=seq), timeout=4)
        elif not self.select(self.entries.seq(index)):
            self.notify(_("Hidden by the filter. Press esc to clear the filter."), timeout=4)

    def turn(self) -> int:
        """Return the turn that caused the selected entry; if there is none, say so and return 0."""
        index = self.index if self.chosen() else -1
        turn = self.entries.turn[index] if index >= 0 else 0
        if index >= 0 and not turn:
            self.notify(_("This entry does not belong to a turn."), timeout=3)
        return turn

    def go_to_end(self) -> None:
        if self._rows:
            self.move_cursor(self._rows - 1)
        self.follow()

    def next_time_format(self) -> None:
        self._maker.mode = TimeMode((self._maker.mode + 1) % len(TimeMode))
        self._layout = None
        self.repaint()

    def heading(self) -> Row:
        return self._maker.head(self._columns(), self.view.order)

    def row_count(self) -> int:
        return self._rows or len(self._empty_rows())

    def row_selectable(self, index: int) -> bool:
        return index < self._rows

    def row(self, index: int) -> Row:
        if not self._rows:
            return self._empty_rows()[index]
        entries, entry = self.entries, self.view.index(index)
        if not entries.is_here(entry):
            self._shows_hole = True
            return ((f"    {_('entry {seq} is loading…', seq=entries.seq(entry))}", "dim"),)
        columns, view, seq = self._columns(), self.view, entries.seq(entry)
        previous = view.index(index - 1) if index and view.in_time_order else -1
        is_needed = (columns.ident and entries.ident[entry]) or entries.kind[entry] in PREVIEWED
        preview = self.previews.get(seq) if is_needed and self.PREVIEWS else NONE
        return self._maker.row(
            entry,
            columns,
            previous=previous if entries.is_here(previous) else -1,
            now_ns=time.monotonic_ns() if self.recording.live else 0,
            note=self.recording.annotations.notes.get(seq, ""),
            lead=self._lead(entry),
            preview=preview,
            is_hit=self.hits is not None and self.hits.row_of(seq) >= 0,
            fold=view.fold_at(entry),
            is_call=view.calls_only,
        )

    def row_ground(self, index: int) -> str:
        if self._rows and index == self.cursor:
            return "cursor" if self.has_focus else "on panel bold"
        return "on panel" if self._rows and self._lead(self.view.index(index)) != " " else ""

    def _lead(self, entry: int) -> str:
        symbols, (partner, root) = self._maker.symbols, self._related
        if self.entries.seq(entry) == self.selected:
            return symbols.cursor
        if entry == partner:
            return symbols.pair
        return symbols.same_call if root >= 0 and self.entries.root[entry] == root + 1 else " "

    def _columns(self) -> Layout:
        entries = self.entries
        sources, methods, tools = entries.sources.texts, entries.methods.texts, entries.tools.texts
        ident = self.previews.longest_ident
        seen = (len(sources), len(methods), len(tools), ident)
        if self._layout is None or seen != self._contents:
            self._contents = seen
            methods = methods[:MOST_NAMES]
            # Housekeeping and most notifications have no tool next to them.
            calls = [one for one in methods if not is_setup(one) and not one.startswith("notifications/")]
            server, method, alone = _widest(sources[:MOST_NAMES]), _widest(calls), _widest(methods)
            contents = Contents(server, method, alone, _widest(tools[:MOST_NAMES]), ident)
            self._layout = layout_for(self.columns, self._maker.mode, contents, self._maker.heading_cells())
        return self._layout

    def _empty_rows(self) -> list[Row]:
        rows: list[Row] = [EMPTY]
        for text in self.empty:
            rows += wrap(((text, "dim"),), max(8, self.columns - 4), first=(("  ", ""),))
            rows.append(EMPTY)
        return [crop(row, self.columns) for row in rows]

    def rewrap(self) -> None:
        self._layout = None

    def rows_changed(self, start: int = 0) -> None:
        """Rows were added. If the user is at an older entry, it stays in place."""
        following = self.following and self.view.in_time_order
        super().rows_changed(start)
        self.following = following
        if following and round(self.scroll_y) != self.max_scroll_y:
            self._place(self.max_scroll_y)

    def _update_rows(self) -> None:
        """Find the cursor's entry and the visible ones again, since rows may have been added anywhere."""
        view, before = self.view, self._rows
        self._revision, self._rows = view.revision, len(view)
        changes = id(view), view.moves, self.entries.gone
        only_grew = changes == self._changes and before and before <= self._rows and not self._shows_hole
        only_grew = self._draw_touched() and only_grew
        self._changes, self._shows_hole = changes, False
        was = self.cursor
        if view.in_time_order and (self.following or not self.selected):
            self.cursor = max(0, self._rows - 1)
        else:
            self.cursor = max(0, min(view.row_near(self.selected), self._rows - 1))
            if self.cursor != was:
                only_grew = False
                # The line stays in its place on screen although rows above it were added or removed.
                self._resize_rows(self.row_count())
                self._place(self.scroll_y + self.cursor - was)
        self.rows_changed(before if only_grew else 0)
        self.cursor_moved(self.cursor)

    def _draw_touched(self) -> bool:
        """Draw the lines of changed entries; return False, and draw none, if there are too many."""
        touched, since = self.entries.touched, self._touched
        self._touched = len(touched)
        if self._touched - since > MOST_TOUCHED:
            return False
        top = self.scroll_offset.y
        for index in set(touched[since : self._touched]):
            row = self.view.row_of(self.entries.seq(index))
            self.drop_row(row)
            if top <= row < top + self.size.height:
                self.refresh_line(row)
        return True

    def _count_up(self) -> None:
        """Draw visible pending requests again, because their latency grows."""
        now = time.monotonic_ns()
        if not self.recording.live or now - self._counted_ns < COUNT_UP_NS:
            return
        self._counted_ns = now
        outcome, top = self.entries.outcome, self.scroll_offset.y
        for row in range(top, min(self._rows, top + self.size.height)):
            if outcome[self.view.index(row)] == Outcome.PENDING:
                self.drop_row(row)
                self.refresh_line(row)

    def move_cursor(self, index: int) -> None:
        super().move_cursor(index)
        self.paint_now()

    def paint_now(self, *others: Widget) -> None:
        """Paint the changes in this pane and in others now, not at Textual's next refresh."""
        screen, now = self.screen, time.monotonic()
        if now - self._painted_at >= REST_SECONDS and screen.is_current:
            self._painted_at = now
            paint_now(screen, (self, *others))

    def cursor_moved(self, index: int) -> None:
        entries, selected, related = self.entries, 0, (-1, -1)
        if 0 <= index < self._rows:
            entry = self.view.index(index)
            selected, related = entries.seq(entry), (entries.partner(entry), entries.root[entry] - 1)
        if (selected, related) == (self.selected, self._related):
            return
        moved = selected != self.selected
        before = self._leads_in_view()
        self.selected, self._related = selected, related
        for (row, lead), (_same, now) in zip(before, self._leads_in_view(), strict=True):
            if lead != now:
                self.refresh_line(row)
        if moved:
            self.post_message(self.Moved())

    def _leads_in_view(self) -> list[tuple[int, str]]:
        top = self.scroll_offset.y
        rows = range(top, min(self._rows, top + self.size.height))
        return [(row, self._lead(self.view.index(row))) for row in rows]

    def action_pane_home(self) -> None:
        self.following = False
        super().action_pane_home()

    def action_row_up(self) -> None:
        if self._rows:
            super().action_row_up()


def _widest(names: Iterable[str]) -> int:
    return max((cells_of(name_of(name)) for name in names), default=0)


class TrafficTail(EntryList, can_focus=False):
    """The traffic pane: the last lines of the folded list, always following; a click opens its screen."""

    PREVIEWS = False
    EACH_CLICK = True

    DEFAULT_CSS = f"TrafficTail {{ height: {TAIL_LINES}; background: $surface; scrollbar-size-vertical: 0; }}"

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording, empty=(_("Live traffic appears here."),))
        rule = Housekeeping(recording.entries, recording.annotations.notes, lambda: recording.live)
        self.view = FoldedView(View(recording.entries), recording.entries, rule)

    def on_mount(self) -> None:
        self.set_interval(1 / TAIL_TICKS_PER_SECOND, self.tick)

    def row(self, index: int) -> Row:
        """Return the line of an entry, without the cursor's sign."""
        row = super().row(index)
        return ((" ", ""), *row[1:]) if self.row_selectable(index) else row

    def row_ground(self, index: int) -> str:
        return ""

    def row_clicked(self, index: int, x: int) -> None:
        self.app.call_later(self.app.run_action, action("traffic.open").method)
