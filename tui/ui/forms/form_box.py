"""The frame of a dialog with a form: the form, what is said below it, the button and the last line."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui.ui.forms.form_pane import FormPane
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.literal import Literal

SHORT = 16
"""A screen with fewer rows has the class `-short`, and its dialogs have no margins."""

AROUND, AROUND_IN_SHORT = 8, 4
"""Rows of the screen around a form: the frame, its last lines, and the screen behind it."""


class FormBox(Vertical):
    """Shows the form as tall as its rows, as far as the screen has room."""

    DEFAULT_CSS = """
    FormBox {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    FormBox > * { max-width: 104; }
    FormBox FormPane { background: $panel; height: auto; max-height: 1fr; }
    FormBox .below { width: 1fr; height: auto; max-height: 4; padding: 0 2; margin: 0 0 1 0; }
    FormBox .buttons { height: auto; padding: 0 2; align-vertical: bottom; }
    .-short FormBox { padding: 0 2; margin: 0; }
    .-narrow FormBox .buttons { layout: vertical; }
    """

    def __init__(self, pane: FormPane, button: Button, line: Widget, below: Literal | None = None) -> None:
        super().__init__()
        self._pane, self._button, self._line, self._below = pane, button, line, below

    def compose(self) -> ComposeResult:
        yield self._pane
        if self._below is not None:
            yield self._below
        with Horizontal(classes="buttons"):
            yield self._button
            yield self._line

    def on_mount(self) -> None:
        self.fit()

    def on_resize(self) -> None:
        self.fit()

    def fit(self) -> None:
        """Give the form the rows that it needs, once the last changes are laid out."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        rows = self.app.size.height
        is_shown = self._below is not None and self._below.display
        below = self._below.outer_size.height + 1 if self._below is not None and is_shown else 0
        room = rows - below - (AROUND_IN_SHORT if rows < SHORT else AROUND)
        self._pane.styles.height = max(3, min(self._pane.row_count(), room))
