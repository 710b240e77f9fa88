"""The base of a dialog with a form: the form, what is said below it, its button and the last line."""

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ScreenResultType
from textual.widget import Widget

from tui.core.forms.spec import Path
from tui.core.language.translate import N_, _
from tui.ui.dialogs.dialog import Dialog, Frame
from tui.ui.forms.form_pane import FormPane
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.widgets.bar import SplitBar, key_hints
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

SAVE_KEYS: list[BindingType] = [Binding(SEND_KEYS, "save", N_("Save"), priority=True)]


class FormScreen(Dialog[ScreenResultType]):
    """Shows the form as tall as its rows, as far as the screen has room.

    `below` is a text under the form. `line` is shown beside the button instead of its keys.
    """

    KEYS: tuple[tuple[str, str], ...] = ()
    """Keys of its own."""

    DEFAULT_CSS = """
    FormScreen FormPane { background: $panel; }
    FormScreen .below { width: 1fr; height: auto; max-height: 4; margin-top: 1; color: $text-dim; }
    FormScreen .buttons { height: auto; margin-top: 1; align-vertical: bottom; }
    FormScreen .buttons Bar { background: $panel; }
    FormScreen .buttons SplitBar { width: 1fr; margin-left: 3; }
    FormScreen.-short .buttons, FormScreen.-short .below { margin-top: 0; }
    FormScreen.-narrow .buttons { layout: vertical; }
    FormScreen.-narrow .buttons SplitBar { margin-left: 0; }
    """

    def __init__(
        self,
        title: Row,
        pane: FormPane,
        button: Button,
        *,
        below: Literal | None = None,
        line: Widget | None = None,
    ) -> None:
        self.pane, self.button = pane, button
        self.keys_bar = SplitBar(wraps=True)
        row = Horizontal(button, line or self.keys_bar, classes="buttons")
        lower = [Frame(self.fit, below, classes="below")] if below is not None else []
        super().__init__(title, pane, *lower, keys=row)

    @property
    def early_field(self) -> None:
        return None

    def on_key(self, event: events.Key) -> None:
        """Accept characters that were typed before the form had the focus."""
        if self.focused is None:
            self.pane.take(event)

    def on_descendant_focus(self) -> None:
        self.show_keys()

    def show_keys(self, said: str = "") -> None:
        """Show the keys beside the button, or a state instead."""
        keys = [("esc", _("cancel")), *((key, _(words)) for key, words in self.KEYS), self.enter_key]
        self.keys_bar.show(((said, "dim"),) if said else key_hints(keys))

    @property
    def enter_key(self) -> tuple[str, str]:
        return "enter", self.button.label.lower() if self.focused is self.button else _("next field")

    def typed(self) -> object:
        return self.pane.form.value()

    def text(self, path: Path) -> str:
        field = self.pane.form.field(path)
        return field.text if field is not None else ""
