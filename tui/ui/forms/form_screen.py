"""The base of a dialog with a form: the form, what is said below it, its button and the last line."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from tui.core.forms.spec import Path
from tui.core.language.translate import N_, _
from tui.ui.forms.form_pane import FormPane
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.literal import Literal

SHORT = 16
"""A screen with fewer rows has the class `-short`, and its dialogs have no margins."""

AROUND, AROUND_IN_SHORT = 8, 4
"""Rows of the screen around a form: the frame, its last lines, and the screen behind it."""

SAVE_KEYS: list[BindingType] = [
    Binding("escape", "back", N_("Cancel"), priority=True),
    Binding(SEND_KEYS, "save", N_("Save"), priority=True),
]


class Frame(Vertical):
    """The frame of the dialog; `fit` is called when it has another size, such as that of a longer text."""

    def __init__(self, fit: Callable[[], None]) -> None:
        super().__init__()
        self._fit = fit

    def on_resize(self) -> None:
        self._fit()


class FormScreen(ModalScreen[ScreenResultType]):
    """Shows the form as tall as its rows, as far as the screen has room."""

    DEFAULT_CSS = """
    FormScreen { align: center bottom; background: $surface 60%; }
    FormScreen > Frame {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    FormScreen > Frame > * { max-width: 104; }
    FormScreen FormPane { background: $panel; height: auto; max-height: 1fr; }
    FormScreen .below { width: 1fr; height: auto; max-height: 4; padding: 0 2; margin: 0 0 1 0; }
    FormScreen .buttons { height: auto; padding: 0 2; align-vertical: bottom; }
    FormScreen .buttons Literal { width: 1fr; margin-left: 3; color: $text-dim; }
    FormScreen.-short > Frame { padding: 0 2; margin: 0; }
    FormScreen.-narrow .buttons { layout: vertical; }
    """

    def __init__(self, pane: FormPane, button: Button, line: Widget, below: Literal | None = None) -> None:
        super().__init__()
        self.pane, self.button = pane, button
        self._line, self._below = line, below

    def compose(self) -> ComposeResult:
        with Frame(self.fit):
            yield self.pane
            if self._below is not None:
                yield self._below
            with Horizontal(classes="buttons"):
                yield self.button
                yield self._line

    def on_mount(self) -> None:
        self.fit()

    def on_key(self, event: events.Key) -> None:
        """Accept characters that were typed before the form had the focus."""
        if self.focused is None:
            self.pane.take(event)

    @property
    def enter_words(self) -> str:
        words = self.button.label.lower() if self.focused is self.button else _("next field")
        return f"enter {words}"

    def text(self, path: Path) -> str:
        field = self.pane.form.field(path)
        return field.text if field is not None else ""

    def fit(self) -> None:
        """Give the form the rows that it needs, once the last changes are laid out."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        rows = self.app.size.height
        is_shown = self._below is not None and self._below.display
        below = self._below.outer_size.height + 1 if self._below is not None and is_shown else 0
        room = rows - below - (AROUND_IN_SHORT if rows < SHORT else AROUND)
        self.pane.styles.height = max(3, min(self.pane.row_count(), room))

    def action_back(self) -> None:
        self.dismiss(None)
