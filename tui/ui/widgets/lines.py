"""LinePane: the base of every pane that shows many lines.

One widget draws all its lines itself (Textual's Line API): only visible rows become Strips, growing
costs no layout pass, and a million rows scroll like ten. A subclass says how many rows there are and
what a row is; it calls `rows_changed()` when that changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget

from tui.ui.widgets.palette import Palette
from tui.ui.widgets.row_strip import KeptStrips, RowStrip
from tui.ui.widgets.rows import Row, copied, marked, text_of

CACHED_STRIPS = 200


class LinePane(ScrollView, can_focus=True):
    """A virtual, scrollable, selectable list of rows.

    A subclass implements `row_count` and `row`. The pane follows its end until the person scrolls up,
    and again once they come back; with `FOLLOWS = False` it stays where it is.

    Attributes:
        following: the end is kept in view as rows are added.
    """

    FOLLOWS = True

    DEFAULT_CSS = """
    LinePane {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "row_up", "Up", show=False, priority=True, id="pane.up"),
        Binding("down,j", "row_down", "Down", show=False, priority=True, id="pane.down"),
        Binding("pageup", "pane_page_up", "Page up", show=False, priority=True, id="pane.page_up"),
        Binding("pagedown", "pane_page_down", "Page down", show=False, priority=True, id="pane.page_down"),
        Binding("home,g", "pane_home", "Start", show=False, priority=True, id="pane.home"),
        Binding("end,G", "pane_end", "End", show=False, priority=True, id="pane.end"),
    ]

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.following = self.FOLLOWS
        self._strips = KeptStrips(CACHED_STRIPS)
        self._palette = Palette.of({})
        self._palette_source: object = None
        self._placing = False
        self._under: Style | None = None

    # What a subclass says

    def row_count(self) -> int:
        """Return how many rows there are at the present width."""
        raise NotImplementedError

    def row(self, index: int) -> Row:
        """Return a row; cropped to `self.columns` by the pane, padded too."""
        raise NotImplementedError

    def row_ground(self, index: int) -> str:
        """Return style words for the ground of a whole row, "" for none; asked at each paint."""
        return ""

    # What a subclass uses

    @property
    def page(self) -> int:
        """How many rows a page key moves: all that is visible but one."""
        return max(1, self.scrollable_content_region.height - 1)

    @property
    def columns(self) -> int:
        """The width of a row in cells; the place of the scroll bar is never part of it."""
        return max(1, self.scrollable_content_region.width)

    @property
    def palette(self) -> Palette:
        """The styles of the theme of the moment."""
        source = self.app.theme_variables
        if source is not self._palette_source:
            self._palette_source = source
            self._palette = Palette.of(source, self.app.native_ansi_color)
            self._strips.clear()
        return self._palette

    def rows_changed(self, start: int = 0) -> None:
        """Tell the pane that rows from `start` on are new, changed or gone; cheap at any size."""
        if not self.is_mounted:
            return
        if start <= 0:
            self._strips.clear()
        else:
            self._strips.discard_from(start)
        height = self.row_count()
        if height != self.virtual_size.height:
            self._resize_rows(height)
        if self.max_scroll_y == 0:
            self.following = self.FOLLOWS
        if self.following:
            self._pin()
        top = self.scroll_offset.y
        if start < top + self.size.height:
            self.refresh_lines(max(start, top), max(1, self.size.height - max(0, start - top)))

    def show_row(self, index: int, rows: int = 1) -> None:
        """Scroll as little as is needed to bring `rows` rows from `index` on into view."""
        height = self.scrollable_content_region.height
        top = round(self.scroll_y)
        if index < top:
            self._place(index)
        elif index + rows > top + height:
            self._place(min(index, index + rows - height))

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = self.FOLLOWS
        self._place(self.max_scroll_y)

    # Scrolling

    def _resize_rows(self, height: int) -> None:
        # Not by assignment: that asks for a layout of the whole screen (measured: the cost of stock
        # widgets while streaming); the scroll bar is all that has to know.
        self.set_reactive(Widget.virtual_size, Size(self.columns, height))
        self._placing = True
        try:
            self._scroll_update(self.virtual_size)
        finally:
            self._placing = False

    def _pin(self) -> None:
        if round(self.scroll_y) != self.max_scroll_y:
            self._place(self.max_scroll_y)

    def _place(self, y: float) -> None:
        self._placing = True
        try:
            self.scroll_target_y = self.scroll_y = max(0, min(y, self.max_scroll_y))
        finally:
            self._placing = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Let go of the end when the person scrolls up; take hold of it when they come back."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing or not self.FOLLOWS:
            return
        # The end first: a pane that grows is scrolled back by Textual, and is at its end all the same.
        if round(new_value) >= self.max_scroll_y:
            self.following = True
        elif new_value < old_value:
            self.following = False

    def on_resize(self, event: events.Resize) -> None:
        """Wrap again, and stay at the end if that is where the person was."""
        self.rewrap()
        self.rows_changed()

    def rewrap(self) -> None:
        """The width may have changed; a subclass that wraps drops what it has wrapped."""

    def on_mount(self) -> None:
        """Listen to the theme, and show the rows that were there before the mount."""
        self.app.theme_changed_signal.subscribe(self, self._restyle)
        self.rows_changed()

    def _restyle(self, theme: Theme) -> None:
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget painted rows: the ground under them changed."""
        super().notify_style_update()
        self._strips.clear()

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the painted rows of a part of the pane."""
        with self._painting():
            return super().render_lines(crop)

    @contextmanager
    def _painting(self) -> Iterator[Style]:
        """Paint rows in here: their ground, which is dear to ask for, is asked for once."""
        self._under = self.rich_style
        try:
            yield self._under
        finally:
            self._under = None

    def render_line(self, y: int) -> Strip:
        """Return the row at `y` of the visible part.

        Textual asks outside of a painting for where the pointer is. Only then does each segment carry its
        place: as a part of the style it makes every row's styles unlike all others, and Textual keeps the
        last 16,384 styles (measured: 20 MB after 1,000 messages).
        """
        index = self.scroll_offset.y + y
        strip = self._strip(index)
        return strip.apply_offsets(0, index) if self._under is None else strip

    def _strip(self, index: int) -> Strip:
        width, palette = self.columns, self.palette
        ground_under = self._under if self._under is not None else self.rich_style
        if index >= self.row_count():
            return Strip.blank(width, ground_under)
        selection = self.text_selection
        ground = self.row_ground(index)
        cacheable = selection is None and not ground
        if cacheable and (kept := self._strips.get(index)) is not None:
            return kept
        row = self.row(index)
        span = selection.get_span(index) if selection is not None else None
        if span is not None:
            start, end = span
            row = marked(row, start, len(text_of(row)) if end < 0 else end, "selected")
        under = ground_under + palette.style(ground) if ground else ground_under
        strip = RowStrip.painted(row, width, palette, under)
        if cacheable:
            self._strips.keep(index, strip)
        return strip

    # Selection

    @property
    def allow_select(self) -> bool:
        """Text can always be selected."""
        return True

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, as it was before it was wrapped."""
        count = self.row_count()
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else count, count - 1)
        spans = [(index, selection.get_span(index)) for index in range(first, last + 1)]
        return copied((self.row(index), *span) for index, span in spans if span is not None), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Repaint with the new selection."""
        self._strips.clear()
        self.refresh()

    # Keys and mouse

    def action_row_up(self) -> None:
        """Scroll up by a row."""
        self.scroll_relative(y=-1, animate=False)

    def action_row_down(self) -> None:
        """Scroll down by a row."""
        self.scroll_relative(y=1, animate=False)

    def action_pane_page_up(self) -> None:
        """Go up by a page."""
        self.scroll_relative(y=-self.page, animate=False)

    def action_pane_page_down(self) -> None:
        """Go down by a page."""
        self.scroll_relative(y=self.page, animate=False)

    def action_pane_home(self) -> None:
        """Go to the first row."""
        self.scroll_to(y=0, animate=False)

    def action_pane_end(self) -> None:
        """Go to the last row, and follow from there."""
        self.follow()

    def on_click(self, event: events.Click) -> None:
        """Tell the subclass which row was clicked; a drag only selects text."""
        index = self.scroll_offset.y + event.y
        if self.text_selection is None and 0 <= index < self.row_count():
            self.row_clicked(index, event.x)

    def row_clicked(self, index: int, x: int) -> None:
        """The person clicked a row, `x` cells from its left end."""


class CursorPane(LinePane):
    """A LinePane with a cursor; a subclass implements `row_chosen`, and `row_selectable` if it differs.

    Attributes:
        cursor: the row that keys act on.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "choose", "Open", show=False, priority=True, id="pane.choose"),
    ]

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.cursor = 0

    # What a subclass says

    def row_chosen(self, index: int) -> None:
        """The person pressed enter or space on the cursor's row, or clicked a row."""

    def row_selectable(self, index: int) -> bool:
        """Say whether the cursor may stand on a row."""
        return True

    def cursor_moved(self, index: int) -> None:
        """The cursor stands on another row now."""

    # What the pane does

    def row_ground(self, index: int) -> str:
        """Paint the cursor's row."""
        if index != self.cursor or not self.row_selectable(index):
            return ""
        return "cursor" if self.has_focus else "on panel"

    def rows_changed(self, start: int = 0) -> None:
        """Tell the pane that rows from `start` on are new, changed or gone; cheap at any size."""
        self.cursor = max(0, min(self.cursor, self.row_count() - 1))
        super().rows_changed(start)

    def move_cursor(self, index: int) -> None:
        """Put the cursor on a row and bring it into view; a row that it may not stand on is ignored."""
        if not 0 <= index < self.row_count() or not self.row_selectable(index):
            return
        old, self.cursor = self.cursor, index
        self.refresh_line(old)
        self.refresh_line(index)
        self.following = self.FOLLOWS and index == self.row_count() - 1
        self.show_row(index)
        if old != index:
            self.cursor_moved(index)

    def _step(self, direction: int) -> bool:
        index = self.cursor + direction
        while 0 <= index < self.row_count():
            if self.row_selectable(index):
                self.move_cursor(index)
                return True
            index += direction
        return False

    def _near(self, index: int, direction: int) -> None:
        """Put the cursor on the next row from `index` on that takes it, or else the one before."""
        start = self.cursor
        self.cursor = max(0, min(index, self.row_count() - 1)) - direction
        if not self._step(direction):
            self.cursor += direction
            self._step(-direction)
        self.refresh_line(start)

    def action_row_up(self) -> None:
        """Move the cursor up, or scroll up where there is no row for it."""
        if not self._step(-1):
            super().action_row_up()

    def action_row_down(self) -> None:
        """Move the cursor down, or scroll down where there is no row for it."""
        if not self._step(1):
            super().action_row_down()

    def action_pane_page_up(self) -> None:
        """Go up by a page."""
        super().action_pane_page_up()
        self._near(self.cursor - self.page, -1)

    def action_pane_page_down(self) -> None:
        """Go down by a page."""
        super().action_pane_page_down()
        self._near(self.cursor + self.page, 1)

    def action_pane_home(self) -> None:
        """Go to the first row."""
        super().action_pane_home()
        self._near(0, 1)

    def action_pane_end(self) -> None:
        """Go to the last row, and follow from there."""
        self._near(self.row_count() - 1, -1)
        super().action_pane_end()

    def action_choose(self) -> None:
        """Act on the cursor's row."""
        if self.cursor < self.row_count() and self.row_selectable(self.cursor):
            self.row_chosen(self.cursor)

    def row_clicked(self, index: int, x: int) -> None:
        """A click puts the cursor on a row and acts on it."""
        if self.row_selectable(index):
            self.move_cursor(index)
            self.row_chosen(index)

    def on_focus(self) -> None:
        """Show the cursor as the one that keys act on."""
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self.refresh_line(self.cursor)
