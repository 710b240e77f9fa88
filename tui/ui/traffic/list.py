"""The list of the traffic: a million lines, drawn one by one as they are seen."""

import time
from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tui.core.traffic import Outcome
from tui.trace.frames import Frames
from tui.ui.actions import Context
from tui.ui.bindings import bindings_of
from tui.ui.traffic.glimpses import NONE, Glimpse
from tui.ui.traffic.row import PREVIEWED, Around, Layout, RowMaker, layout_for
from tui.ui.traffic.shown import Everything, Shown
from tui.ui.traffic.signs import UNICODE, Signs
from tui.ui.widgets.cursor_pane import CursorPane
from tui.ui.widgets.rows import EMPTY, Row, crop, wrap

COUNT_UP_NS = 100_000_000
"""So often a request that waits says for how long."""


class FrameList(CursorPane, inherit_bindings=False):
    """Shows the entries that a `Shown` names, one line each, and follows the newest until one scrolls up.

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
        frames: Frames,
        *,
        live: bool = True,
        glimpse: Callable[[int], Glimpse] = lambda seq: NONE,
        notes: Mapping[int, str] | None = None,
        empty: tuple[str, ...] = (),
        signs: Signs = UNICODE,
        clock: Callable[[], int] = time.monotonic_ns,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.frames = frames
        self.shown: Shown = Everything(frames)
        self.empty = empty
        self.sought: Callable[[int], bool] = lambda index: False
        self._maker = RowMaker(frames, signs)
        self._signs = signs
        self._live = live
        self._clock = clock
        self._glimpse = glimpse
        self._notes = notes if notes is not None else {}
        self._selected = -1
        self._related: tuple[int, int] = (-1, -1)  # partner and root of the selected entry
        self._revision = frames.revision
        self._rows = 0
        self._counted_ns = 0
        self._layout: Layout | None = None
        self._sources = 0

    # ---- what the screen uses ----

    @property
    def selected(self) -> int:
        """The index of the entry under the cursor, -1 if there is none."""
        return self._selected

    def show(self, shown: Shown) -> None:
        """Show other entries; the cursor stays on its entry, or goes to the next one that is shown."""
        self.shown = shown
        was = self._selected
        self._rows = len(shown)
        self._strips.clear()
        if self.following:
            self.cursor = max(0, self._rows - 1)
        elif self._rows:
            self.cursor = shown.near(max(0, was))
        self._grow(0)
        self.refresh()
        if self._rows and not self.following:
            self.show_row(self.cursor)
        self._note_cursor()

    def tick(self) -> bool:
        """Take in what came; return whether anything is new. Cheap if nothing is."""
        shown = self.shown
        if isinstance(shown, Everything):
            shown.update()
        rows, changed = len(shown), self.frames.revision != self._revision
        if rows != self._rows:
            before, self._rows = self._rows, rows
            if changed or not before:
                self._strips.clear()
            at_end = self.following and self.cursor >= before - 1
            if at_end:
                self.cursor = rows - 1
            self._grow(0 if changed or at_end else before)
            self._note_cursor()
        elif changed:
            self._revision = self.frames.revision
            self._strips.clear()
            self.refresh()
        else:
            return self._count_up()
        self._revision = self.frames.revision
        return True

    def select(self, index: int) -> bool:
        """Put the cursor on an entry; return whether it is shown at all."""
        row = self.shown.row(index)
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
        frames, entry = self.frames, self.shown.index(index)
        columns = self._columns()
        kind = frames.kind[entry]
        seq = frames.seq(entry)
        needs = columns.ident and frames.ident[entry]
        seen = self._glimpse(seq) if needs or kind in PREVIEWED else NONE
        around = Around(
            previous=self.shown.index(index - 1) if index else -1,
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
        entry = self.shown.index(index)
        if self.sought(entry):
            return "underline"
        return "on panel" if self._lead(entry) != " " else ""

    def _lead(self, entry: int) -> str:
        partner, root = self._related
        if entry == self._selected:
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
        rows: list[Row] = [EMPTY]
        for paragraph in self.empty:
            rows += wrap(((paragraph, "dim"),), max(8, self.columns - 4), first=(("  ", ""),))
            rows.append(EMPTY)
        return [crop(row, self.columns) for row in rows]

    def rewrap(self) -> None:
        """The width changed."""
        self._layout = None

    # ---- how it keeps up ----

    def rows_changed(self, start: int = 0) -> None:
        """Rows were added; a person who looks at an older entry is not carried away from it."""
        following = self.following
        super().rows_changed(start)
        self.following = following

    def _grow(self, start: int) -> None:
        self.rows_changed(start)
        if self.following:
            self._pin()

    def _count_up(self) -> bool:
        """Let requests that wait say for how long."""
        now = self._clock()
        if not self._live or now - self._counted_ns < COUNT_UP_NS:
            return False
        self._counted_ns = now
        outcome, top = self.frames.outcome, self.scroll_offset.y
        found = False
        for row in range(top, min(self._rows, top + self.size.height)):
            if outcome[self.shown.index(row)] == Outcome.PENDING:
                self._strips.discard(row)
                self.refresh_line(row)
                found = True
        return found

    # ---- the cursor ----

    def cursor_moved(self, index: int) -> None:
        """Another entry is selected."""
        self._note_cursor()

    def _note_cursor(self) -> None:
        selected = self.shown.index(self.cursor) if 0 <= self.cursor < self._rows else -1
        frames = self.frames
        related = (-1, -1)
        if selected >= 0:
            related = (frames.partner(selected), frames.root[selected] - 1)
        if (selected, related) == (self._selected, self._related):
            return
        moved, self._selected = selected != self._selected, selected
        had, self._related = self._related, related
        if had != (-1, -1) or related != (-1, -1):
            self._strips.clear()
            self.refresh()
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
