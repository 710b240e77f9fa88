"""A pane with a cursor and a title that stays in place while the rows scroll."""

from textual import events
from textual.strip import Strip

from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, spread


class TitledPane(LinePane):
    """A `LinePane` whose first line is its title: a name on the left, a summary on the right.

    Row 0 is the title, rows of the body start at 1. A subclass implements `title`, `body_count` and
    `body_row`, and reports changes with `body_changed` or `body_row_changed`.
    """

    CURSOR = True

    def title(self) -> tuple[str, str]:
        """Return the title and the text at its right end, both cleaned."""
        return "", ""

    def body_count(self) -> int:
        """Return the number of rows in the body."""
        return 0

    def body_row(self, index: int) -> Row:
        """Return a row of the body, counted from 0."""
        return EMPTY

    def title_changed(self) -> None:
        self.drop_row(0)
        self.refresh_line(self.scroll_offset.y)

    def body_changed(self, start: int = 0) -> None:
        """Handle rows of the body from `start` on that are new, changed or removed."""
        self.rows_changed(start + 1)
        self.cursor = max(1, self.cursor)

    def body_row_changed(self, index: int) -> None:
        self.drop_row(index + 1)
        self.refresh_line(index + 1)

    def row_count(self) -> int:
        return self.body_count() + 1

    def row(self, index: int) -> Row:
        return self.body_row(index - 1) if index else self._title_row()

    def row_selectable(self, index: int) -> bool:
        return index > 0

    def render_line(self, y: int) -> Strip:
        return super().render_line(y or -self.scroll_offset.y)

    def show_row(self, index: int, rows: int = 1) -> None:
        if index <= round(self.scroll_y):
            index, rows = max(0, index - 1), rows + 1
        super().show_row(index, rows)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Repaint the title in place, because scrolling moves all lines."""
        super().watch_scroll_y(old_value, new_value)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            event.prevent_default()

    def on_focus(self) -> None:
        self.title_changed()

    on_blur = on_focus

    def _title_row(self) -> Row:
        name, note = self.title()
        style = "accent bold" if self.has_focus else "dim bold"
        return spread(((name, style),), ((note, "dim"),), self.columns)
