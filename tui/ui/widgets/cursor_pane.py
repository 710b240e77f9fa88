"""CursorPane: a LinePane with a row that keys act on."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.ui.widgets.lines import LinePane


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
