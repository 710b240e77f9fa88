"""A dialog that shows rows to read, such as what has changed."""

from collections.abc import Sequence

from tui.ui.dialogs.dialog import Dialog, RowsPane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, wrap

MAX_LINES = 16


class RowsDialog(Dialog[None]):
    """Shows rows below a heading, until it is closed."""

    DEFAULT_CSS = "RowsDialog RowsPane { margin: 1 0 0 0; background: $panel; }"

    def __init__(self, heading: str, rows: Sequence[Row]) -> None:
        pane = RowsPane(lambda width: [line for row in rows for line in wrap(row, width)])
        pane.styles.height = min(len(rows), MAX_LINES)
        super().__init__(Literal(heading), pane, self.key_line(back="close"))
