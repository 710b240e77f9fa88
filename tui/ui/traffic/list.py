"""The list of the traffic: a million lines, drawn one by one as they are seen."""

import time
from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tui.core.traffic import Outcome
from tui.traffic.filter.view import View
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.keys.actions import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.traffic.previews import NONE, Glimpse
from tui.ui.traffic.quick import QuickPane
from tui.ui.traffic.row import PREVIEWED, Around, Layout, RowMaker, layout_for, paragraphs
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import UNICODE, Symbols

ADVANCE_MS = 4.0
"""So long the screen may look for rows in one of its looks."""

COUNT_UP_NS = 100_000_000
"""So often a request that waits says for how long."""


class FrameList(QuickPane, inherit_bindings=False):
    """Shows the entries of a view, one line each, and follows the newest until one scrolls up.

    Nothing tells the list what came: `tick` looks. Only lines on screen are ever made.

    Args:
        frames: the columns.
        live: requests may still be answered, so those that wait count up.
        glimpse: gives what the columns do not have, by seq.
        notes: notes of the person by seq.
        empty: what stands there while there is nothing, one paragraph each.
    """

    class Moved(Message):
        """The cursor stands on another entry, or there is none any more."""

    class Read(Message):
        """The person wants to read the entry under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "row_up", show=False, priority=True, id="pane.up"),
        Binding("down,j", "row_down", show=False, priority=True, id="pane.down"),
        Binding("pageup", "pane_page_up", show=False, priority=True, id="pane.page_up"),
        Binding("pagedown,space", "pane_page_down", show=False, priority=True, id="pane.page_down"),
        Binding("home", "pane_home", show=False, priority=True, id="pane.home"),
        *bindings_of(Context.TRAFFIC),
    ]

    def __init__(
        self,
        frames: EntryColumns,
        *,
        live: bool = True,
        glimpse: Callable[[int], Glimpse] = lambda seq: NONE,
        notes: Mapping[int, str] | None = None,
        empty: tuple[str, ...] = (),
        signs: Symbols = UNICODE,
        clock: Callable[[], int] = time.monotonic_ns,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.frames = frames
        self.view = View(frames)
        self.empty = empty
        self._maker = RowMaker(frames, signs)
        self._signs = signs
        self._live = live
        self._clock = clock
        self._glimpse = glimpse
        self._notes = notes if notes is not None else {}
        self._selected = 0
        self._related: tuple[int, int] = (-1, -1)  # partner and root of the selected entry
        self._revision = 0
        self._changes = (0, 0)
        self._rows = 0
        self._counted_ns = 0
        self._layout: Layout | None = None
        self._sources = 0

    # ---- what the screen uses ----

    @property
    def selected(self) -> int:
        """The seq of the entry under the cursor, 0 if there is none."""
        return self._selected

    @property
    def index(self) -> int:
        """The index of the entry under the cursor, -1 if there is none."""
        return self.frames.index(self._selected) if self._selected else -1

    def show(self, view: View) -> None:
        """Show other entries; the cursor stays on its entry, or goes to one that is near."""
        self.view = view
        view.advance()
        self._take_in()
        if self.row_count():
            self.show_row(self.cursor)

    def tick(self) -> bool:
        """Take in what came; return whether anything is new. Cheap if nothing is."""
        self.view.advance(ADVANCE_MS)
        if self.view.revision == self._revision:
            return self._count_up()
        self._take_in()
        return True

    def select(self, seq: int) -> bool:
        """Put the cursor on an entry; return whether it is shown at all."""
        row = self.view.row_of(seq)
        if row < 0:
            return False
        height = self.scrollable_content_region.height
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self._place(max(0, row - height // 2))
        self.move_cursor(row)
        return True

    def repaint(self) -> None:
        """Lines read differently: a note, another way to write the time, something searched for."""
        self._strips.clear()
        self.refresh()

    def next_time(self) -> None:
        """Write the time another way."""
        self._maker.mode = self._maker.mode.next()
        self._layout = None
        self.repaint()

    def heading(self) -> Row:
        """Return the headings of the columns."""
        return self._maker.head(self._columns())

    # ---- what the pane shows ----

    def row_count(self) -> int:
        """Return how many rows there are."""
        return self._rows or len(self._empty_rows())

    def row_selectable(self, index: int) -> bool:
        """The cursor stands on entries only."""
        return index < self._rows

    def row(self, index: int) -> Row:
        """Return the line of an entry."""
        if not self._rows:
            return self._empty_rows()[index]
        frames, entry = self.frames, self.view.index(index)
        columns = self._columns()
        kind = frames.kind[entry]
        seq = frames.seq(entry)
        needs = columns.ident and frames.ident[entry]
        seen = self._glimpse(seq) if needs or kind in PREVIEWED else NONE
        around = Around(
            previous=self.view.index(index - 1) if index else -1,
            now_ns=self._clock() if self._live else 0,
            noted=seq in self._notes,
            lead=self._lead(entry),
            said=seen.said,
        )
        return self._maker.row(entry, columns, around, seen.ident)

    def row_ground(self, index: int) -> str:
        """Paint the cursor's line, its pair and the rest of its call."""
        if not self._rows:
            return ""
        if index == self.cursor:
            return "cursor" if self.has_focus else "on panel bold"
        entry = self.view.index(index)
        return "on panel" if self._lead(entry) != " " else ""

    def _lead(self, entry: int) -> str:
        partner, root = self._related
        if self.frames.seq(entry) == self._selected:
            return self._signs.cursor
        if entry == partner:
            return self._signs.pair
        return self._signs.same_call if root >= 0 and self.frames.root[entry] == root + 1 else " "

    def _columns(self) -> Layout:
        sources = self.frames.sources.texts
        if self._layout is None or len(sources) != self._sources:
            self._sources = len(sources)
            longest = max((len(self._maker.name(name)) for name in sources[:64]), default=6)
            self._layout = layout_for(self.columns, self._maker.mode, longest)
        return self._layout

    def _empty_rows(self) -> list[Row]:
        return paragraphs(self.empty, self.columns)

    def rewrap(self) -> None:
        """The width changed."""
        self._layout = None

    # ---- how it keeps up ----

    def rows_changed(self, start: int = 0) -> None:
        """Rows were added; a person who looks at an older entry is not carried away from it."""
        following = self.following
        super().rows_changed(start)
        self.following = following
        if following:
            self._pin()

    def _take_in(self) -> None:
        """Find the cursor's entry and what is in view again: rows may have come before and after them."""
        view, before = self.view, self._rows
        self._revision, self._rows = view.revision, len(view)
        changes = len(self.frames.touched), self.frames.gone
        only_grew = changes == self._changes and before and before <= self._rows
        self._changes = changes
        was = self.cursor
        if self.following or not self._selected:
            self.cursor = max(0, self._rows - 1)
        else:
            self.cursor = max(0, min(view.row_near(self._selected), self._rows - 1))
            if self.cursor != was:
                only_grew = False
                self._shift(self.cursor - was)
        self.rows_changed(before if only_grew else 0)
        self._note_cursor()

    def _shift(self, rows: int) -> None:
        """Keep the cursor's line where it is on screen: rows came or went above it."""
        self._resize_rows(self.row_count())
        self._place(self.scroll_y + rows)

    def _count_up(self) -> bool:
        """Let requests that wait say for how long."""
        now = self._clock()
        if not self._live or now - self._counted_ns < COUNT_UP_NS:
            return False
        self._counted_ns = now
        outcome, top = self.frames.outcome, self.scroll_offset.y
        found = False
        for row in range(top, min(self._rows, top + self.size.height)):
            if outcome[self.view.index(row)] == Outcome.PENDING:
                self._strips.discard(row)
                self.refresh_line(row)
                found = True
        return found

    # ---- the cursor ----

    def move_cursor(self, index: int) -> None:
        """Put the cursor on an entry; it is seen at once."""
        super().move_cursor(index)
        self.paint_now()

    def cursor_moved(self, index: int) -> None:
        """Another entry is selected."""
        self._note_cursor()

    def _note_cursor(self) -> None:
        frames, index, related = self.frames, -1, (-1, -1)
        if 0 <= self.cursor < self._rows:
            index = self.view.index(self.cursor)
            related = (frames.partner(index), frames.root[index] - 1)
        selected = frames.seq(index) if index >= 0 else 0
        if (selected, related) == (self._selected, self._related):
            return
        moved, self._selected = selected != self._selected, selected
        if self._related != (-1, -1) or related != (-1, -1):
            self._strips.clear()
            self.refresh()
        self._related = related
        if moved:
            self.post_message(self.Moved())

    def action_pane_home(self) -> None:
        """Go to the oldest entry."""
        self.following = False
        super().action_pane_home()

    def action_row_up(self) -> None:
        """Go to the entry before."""
        if self._rows:
            super().action_row_up()

    def go_to_end(self) -> None:
        """Go to the newest entry and follow it."""
        if self._rows:
            self.move_cursor(self._rows - 1)
        self.follow()

    def row_clicked(self, index: int, x: int) -> None:
        """A click selects an entry, another one on it reads it."""
        if index >= self._rows:
            return
        if index == self.cursor and self.has_focus:
            self.post_message(self.Read())
        self.move_cursor(index)
