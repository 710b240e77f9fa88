"""The question before a subscription: server, event, what will happen, and the arguments as a form."""

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.binding import BindingType

from tui.addons.events.wire import POLL_MODE, EventType
from tui.core.forms.form import Form
from tui.core.language.translate import N_, _
from tui.core.text import clean_line, quoted_name
from tui.ui.dialogs.dialog import heading
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FormHead
from tui.ui.forms.form_screen import SAVE_KEYS, FormScreen
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.literal import Literal

WHAT = {
    True: N_(
        "mcptui polls the server for it, also after a restart. Events go to the inbox, and nothing of them "
        "to a model."
    ),
    False: N_(
        "mcptui keeps a stream to the server open for it, also after a restart. Events go to the inbox, and "
        "nothing of them to a model."
    ),
}


class SubscribeForm(FormScreen[dict[str, Any] | None]):
    """Returns the arguments of the subscription, or None."""

    BINDINGS: ClassVar[list[BindingType]] = SAVE_KEYS

    def __init__(self, keys: KeyOverrides, server: str, kind: EventType, mode: str) -> None:
        self._kind = kind
        what = Literal(_(WHAT[mode == POLL_MODE]))
        event = _("{event} of {server}", event=clean_line(kind.name, 80), server=quoted_name(server, 60))
        button = Button(_("Subscribe"), "ctrl+s", self.action_save)
        super().__init__(heading(_("Subscribe"), event), FormPane(keys), button, below=what)
        self._head = FormHead(description=clean_line(kind.description, 400))

    def on_mount(self) -> None:
        self.pane.show(Form(_as_object(self._kind.input_schema)), self._head)
        self.set_focus(self.pane if self.pane.current is not None else self.button)

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self.say("")

    def action_save(self) -> None:
        """Subscribe, unless an argument is invalid."""
        value, problems = self.pane.form.value()
        if problems:
            self.pane.go_to_problem()
            path, problem = next(iter(problems.items()))
            self.say(clean_line(f"{' '.join(map(str, path))} {problem}.".strip(), 200))
        else:
            self.dismiss(dict(value) if isinstance(value, Mapping) else {})


def _as_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return schema if schema.get("type") == "object" else {"type": "object", **schema}
