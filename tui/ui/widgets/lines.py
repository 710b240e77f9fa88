"""LinePane: the base of every pane that shows many lines. A million rows scroll like ten."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.filter import ANSIToTruecolor
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from tui.core.text import head_of
from tui.ui.platform.textual_internals import ControlFilter, padded, set_virtual_size
from tui.ui.widgets.rows import Row, caret_in, copied, marked, text_of
from tui.ui.widgets.theme_colors import Palette

CACHED_STRIPS = 200
_WORD = re.compile(r"[\w./:@%+~-]+")
"""What a double click selects in a text: a word, also one with a path, a URL or a version in it."""


Brush = tuple[Style, int, Palette, Selection | None]
"""Data that the rows of one repaint share: style, width, colors, selected text."""


class LinePane(ScrollView, can_focus=True):
    """A virtual, scrollable, selectable list of rows, with or without a cursor.

    A subclass sets `_shown_rows`, or implements `row_count` and `row`, and calls `rows_changed` when they
    change. The pane follows its end until the user scrolls up, and again once they scroll back; with
    `FOLLOWS = False` it never does. With `CURSOR = True`, keys act on the row with the cursor. A subclass
    then implements `row_chosen`, and `row_selectable` if the cursor skips rows.

    A click selects a row, a double click does what enter does. In rows that nothing opens, it selects a word,
    and a third click the line. With `EACH_CLICK = True`, every click is a `row_clicked`, as on a button.
    """

    FOLLOWS: ClassVar[bool] = True
    CURSOR: ClassVar[bool] = False
    EACH_CLICK: ClassVar[bool] = False

    DEFAULT_CSS = """
    LinePane { overflow-x: hidden; overflow-y: auto; scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "row_up", "Up", show=False, priority=True, id="pane.up"),
        Binding("down,j", "row_down", "Down", show=False, priority=True, id="pane.down"),
        Binding("pageup", "pane_page_up", "Page up", show=False, priority=True, id="pane.page_up"),
        Binding("pagedown", "pane_page_down", "Page down", show=False, priority=True, id="pane.page_down"),
        Binding("home,g", "pane_home", "Start", show=False, priority=True, id="pane.home"),
        Binding("end,G", "pane_end", "End", show=False, priority=True, id="pane.end"),
        Binding("enter,space", "choose", "Open", show=False, priority=True, id="pane.choose"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = self.FOLLOWS
        self.cursor = 0
        self._height = 0
        self._shown_rows: Sequence[Row] = ()
        self._strips = LRUCache[int, Strip](CACHED_STRIPS)
        self._palette = Palette.of({})
        self._palette_source: object = None
        self._placing = False
        self._brush: Brush | None = None

    # To be implemented by a subclass

    def row_count(self) -> int:
        """Return the number of rows at the current width."""
        return len(self._shown_rows)

    def row(self, index: int) -> Row:
        """Return a row; the pane crops and pads it to `self.columns`."""
        return self._shown_rows[index]

    def row_ground(self, index: int) -> str:
        """Return style words for the background of a row, "" for none; called for each paint."""
        if not self.CURSOR or index != self.cursor or not self.row_selectable(index):
            return ""
        return "cursor" if self.has_focus else "on panel"

    def row_selectable(self, index: int) -> bool:
        """Return whether the cursor may be on a row."""
        return True

    def row_chosen(self, index: int) -> None:
        """Handle enter or space on the cursor's row, or a double click on a row."""

    def cursor_moved(self, index: int) -> None:
        """Handle a move of the cursor to another row."""

    def rewrap(self) -> None:
        """Handle a possible change of the width; a subclass that wraps drops its wrapped rows."""

    def row_clicked(self, index: int, x: int) -> None:
        """Handle a click on a row, `x` cells from its left end."""
        if self.CURSOR:
            self.move_cursor(index)

    def row_opens(self, index: int) -> bool:
        """Return whether enter acts on a row, which a click has selected before."""
        return self.CURSOR and index == self.cursor and self.row_selectable(index)

    # For use by a subclass

    @property
    def page(self) -> int:
        """Number of rows that a page key moves: all visible rows but one."""
        return max(1, self.scrollable_content_region.height - 1)

    @property
    def columns(self) -> int:
        """The width of a row in cells, without the scroll bar."""
        return max(1, self.scrollable_content_region.width)

    @property
    def caret(self) -> Offset | None:
        """The place on the screen of the caret of an edited row."""
        cells = caret_in(self.row(self.cursor)) if self.CURSOR and self.cursor < self.row_count() else None
        if cells is None:
            return None
        return self.content_region.offset + Offset(cells, self.cursor - round(self.scroll_offset.y))

    def place_of_row(self) -> Region:
        """Return the place on the screen of the row with the cursor."""
        x, y, width, _ = self.content_region
        return Region(x, y + self.cursor - round(self.scroll_offset.y), width, 1)

    @property
    def palette(self) -> Palette:
        source = self.app.theme_variables
        if source is not self._palette_source:
            self._palette_source = source
            self._palette = Palette.of(source, self.app.native_ansi_color)
            self._strips.clear()
        return self._palette

    def rows_changed(self, start: int = 0) -> None:
        """Announce that rows from `start` on are new, changed or removed; cheap at any size."""
        if self.CURSOR:
            self.cursor = max(0, min(self.cursor, self.row_count() - 1))
        if not self.is_mounted:
            return
        if start <= 0:
            self._strips.clear()
        else:
            for index in [index for index in self._strips.keys() if index >= start]:
                self._strips.discard(index)
        if (height := self.row_count()) != self.virtual_size.height:
            self._resize_rows(height)
        if self.max_scroll_y == 0:
            self.following = self.FOLLOWS
        if self.following and round(self.scroll_y) != self.max_scroll_y:
            self._place(self.max_scroll_y)
        top = self.scroll_offset.y
        if start < top + self.size.height:
            self.refresh_lines(max(start, top), max(1, self.size.height - max(0, start - top)))

    def show_row(self, index: int, rows: int = 1) -> None:
        """Scroll as little as necessary to make `rows` rows from `index` on visible."""
        height = self.scrollable_content_region.height
        top = round(self.scroll_y)
        if index < top:
            self._place(index)
        elif index + rows > top + height:
            self._place(min(index, index + rows - height))

    def move_cursor(self, index: int) -> None:
        """Move the cursor to a row and make it visible; a row that is not selectable is ignored."""
        if not 0 <= index < self.row_count() or not self.row_selectable(index):
            return
        old, self.cursor = self.cursor, index
        self.refresh_line(old)
        self.refresh_line(index)
        self.following = self.FOLLOWS and index == self.row_count() - 1
        self.show_row(index)
        if old != index:
            self.cursor_moved(index)

    def follow(self) -> None:
        self.following = self.FOLLOWS
        self._place(self.max_scroll_y)

    def _resize_rows(self, height: int) -> None:
        with self._moving():
            set_virtual_size(self, Size(self.columns, height))

    def _place(self, y: float) -> None:
        with self._moving():
            self.scroll_target_y = self.scroll_y = max(0, min(y, self.max_scroll_y))

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """Scrolling in this context is not done by the user."""
        self._placing = True
        try:
            yield
        finally:
            self._placing = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls up; follow again at the end."""
        super().watch_scroll_y(old_value, new_value)
        if not self.show_vertical_scrollbar:  # Textual moves only a visible bar, which would return elsewhere
            self.vertical_scrollbar.position = new_value
        if self._placing or not self.FOLLOWS:
            return
        # The end first: when a pane grows, Textual scrolls it back although it is still at its end.
        if round(new_value) >= self.max_scroll_y:
            self.following = self.following or new_value > old_value
        elif new_value < old_value:
            self.following = False

    def on_resize(self, event: events.Resize) -> None:
        top, before, self._height = self.scroll_offset.y, self._height, self.size.height
        was_shown = self.CURSOR and top <= self.cursor < top + before
        self.rewrap()
        self.rows_changed()
        if was_shown and before > self._height and not self.following:
            self.show_row(self.cursor)

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda theme: self.repaint())
        if self.size:  # without a width, rows wrap to many lines: a scroll bar would flash up
            self.rows_changed()

    def repaint(self) -> None:
        """Draw all lines again: their content changed, but not their number."""
        self._strips.clear()
        self.refresh()

    def drop_row(self, index: int) -> None:
        """Draw a row again at its next paint: its content changed."""
        self._strips.discard(index)

    def notify_style_update(self) -> None:
        """Drop cached rows: their background changed."""
        super().notify_style_update()
        self._strips.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the painted rows of a part of the pane, without borders and effects.

        Textual checks every line for borders and effects and creates five strips for each, which takes more
        than half of the time of a paint (measured: 5.1 ms for 37 lines, 3 ms without).
        """
        styles = self.styles
        padding = styles.padding
        has_frame = styles.gutter != padding or padding.top or padding.bottom
        with self._painting() as under:
            if has_frame or self.opacity != 1.0 or styles.tint.a or crop.x:
                return super().render_lines(crop)
            strips = [self.render_line(y) for y in crop.line_range]
        # The requested width: a scroll bar that was just shown has no place before the next layout. Textual
        # drops a narrower strip, and nothing would paint the row again.
        strips = [padded(strip, padding.left, crop.width, under) for strip in strips]
        is_true = self.palette.is_true(under)
        for found in self.get_line_filters():
            # `_strip` has already removed controls, and most themes do not use the terminal's colors.
            if isinstance(found, ControlFilter) or (isinstance(found, ANSIToTruecolor) and is_true):
                continue
            background = self.background_colors[1]
            strips = [strip.apply_filter(found, background) for strip in strips]
        return strips

    @contextmanager
    def _painting(self) -> Iterator[Style]:
        """Look up, once, expensive data that all rows painted in this context share."""
        under = self.rich_style
        self._brush = (under, self.columns, self.palette, self.text_selection)
        try:
            yield under
        finally:
            self._brush = None

    def render_line(self, y: int) -> Strip:
        """Return the row at `y` of the visible part.

        Outside of a paint, Textual calls this to find the text under the pointer. Only then does each segment
        contain its offset: as a part of the style, it makes the styles of every row unique, and Textual
        caches the last 16,384 styles (measured: 20 MB after 1,000 messages).
        """
        index = self.scroll_offset.y + y
        strip = self._strip(index)
        return strip.apply_offsets(0, index) if self._brush is None else strip

    def _strip(self, index: int) -> Strip:
        if self._brush is None:
            with self._painting():
                return self._strip(index)
        ground_under, width, palette, selection = self._brush
        if index >= self.row_count():
            return Strip.blank(width, ground_under)
        ground = self.row_ground(index)
        cacheable = selection is None and not ground
        if cacheable and (kept := self._strips.get(index)) is not None:
            return kept
        row = self.row(index)
        span = selection.get_span(index) if selection is not None else None
        if span is not None:
            start, end = span
            row = marked(row, start, len(text_of(row)) if end < 0 else end, "text selected")
        under = ground_under + palette.style(ground) if ground else ground_under
        strip = palette.painted(row, width, under)
        if cacheable:
            self._strips[index] = strip
        return strip

    @property
    def allow_select(self) -> bool:
        return True

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        count = self.row_count()
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else count, count - 1)
        spans = [(index, selection.get_span(index)) for index in range(first, last + 1)]
        return copied((self.row(index), *span) for index, span in spans if span is not None), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.repaint()

    def _step(self, direction: int) -> bool:
        """Move the cursor to the next selectable row; return False if there is none and the pane scrolls."""
        if not self.CURSOR:
            return False
        rows = range(self.row_count())
        rows = rows[self.cursor + 1 :] if direction > 0 else rows[: self.cursor][::-1]
        if (index := next(filter(self.row_selectable, rows), None)) is not None:
            self.move_cursor(index)
        return index is not None

    def _near(self, index: int, direction: int) -> None:
        """Move the cursor to the first selectable row from `index` on, otherwise to the last before it."""
        if not self.CURSOR:
            return
        start = self.cursor
        self.cursor = max(0, min(index, self.row_count() - 1)) - direction
        if not self._step(direction):
            self.cursor += direction
            self._step(-direction)
        self.refresh_line(start)

    def action_row_up(self) -> None:
        if not self._step(-1):
            self.scroll_relative(y=-1, animate=False)

    def action_row_down(self) -> None:
        if not self._step(1):
            self.scroll_relative(y=1, animate=False)

    def action_pane_page_up(self) -> None:
        self.scroll_relative(y=-self.page, animate=False)
        self._near(self.cursor - self.page, -1)

    def action_pane_page_down(self) -> None:
        self.scroll_relative(y=self.page, animate=False)
        self._near(self.cursor + self.page, 1)

    def action_pane_home(self) -> None:
        self.scroll_to(y=0, animate=False)
        self._near(0, 1)

    def action_pane_end(self) -> None:
        self._near(self.row_count() - 1, -1)
        self.follow()

    def action_choose(self) -> None:
        if not self.CURSOR:
            raise SkipAction
        if self.cursor < self.row_count() and self.row_selectable(self.cursor):
            self.row_chosen(self.cursor)

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # Textual's own handler selects all rows at a double click
        place = event.get_content_offset(self)
        if place is None or self.text_selection is not None:
            return
        index = self.scroll_offset.y + place.y
        if index >= self.row_count():
            return
        if event.chain == 1 or self.EACH_CLICK:
            self.row_clicked(index, place.x)
        elif not self.row_opens(index):
            self._select_text(index, place.x, whole=event.chain > 2)
        elif event.chain == 2 and self.has_focus:
            self.app.simulate_key("enter")  # whatever enter means here: some screens bind it themselves
        elif event.chain == 2:
            self.row_chosen(index)

    def _select_text(self, index: int, x: int, *, whole: bool) -> None:
        """Select the word at a cell of a row, or the whole row."""
        text = text_of(self.row(index))
        at = len(head_of(text, x))
        words = _WORD.finditer(text) if not whole else ()
        start, end = next((word.span() for word in words if word.start() <= at < word.end()), (at, at + 1))
        if whole:
            start, end = 0, len(text)
        if text[start:end].strip():
            self.screen.selections = {self: Selection(Offset(start, index), Offset(end, index))}

    def on_focus(self) -> None:
        if self.CURSOR:
            self.refresh_line(self.cursor)

    on_blur = on_focus


class RowsPane(LinePane):
    """Shows the rows that a function lays out for a width in cells."""

    FOLLOWS = False

    def __init__(self, lay_out: Callable[[int], list[Row]]) -> None:
        super().__init__()
        self._lay_out = lay_out

    def on_mount(self) -> None:
        self.rewrap()

    def rewrap(self) -> None:
        self._shown_rows = self._lay_out(max(20, self.columns))
        self.rows_changed()
