"""The dialogs in which a held call is answered: a form by the output schema of its tool, a text, or JSON."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from tui.addons.faults.tray_answers import form_value, with_form_value
from tui.core.forms.elicitation import problem_of
from tui.core.forms.form import Form
from tui.core.forms.spec import MISSING
from tui.core.language.translate import _
from tui.core.text import capitalized
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FormHead
from tui.ui.forms.form_screen import FormScreen
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.keys.bindings import overrides_of
from tui.ui.traffic.edit_request import EditRequest
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.rows import Row

Said = Mapping[str, Any]

SWITCH = "ctrl+e"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to a tool call that the user gives.

    Attributes:
        title: says what is answered, `note` where the first value is from.
        schema: the output schema of the tool, None without one or if it is not known.
        done: is called with the answer, or None.
    """

    app: App[Any]
    title: Row
    note: str
    schema: Mapping[str, Any] | None
    done: Callable[[Said | None], None]

    def ask(self, said: Said, *, is_new: bool = False) -> None:
        """Ask for the answer, beginning with one; as JSON if a form cannot show it. `is_new`: it is blank."""
        value = form_value(said, self.schema)
        if value is MISSING and not is_new:
            self.ask_for_json(said)
        elif self.schema is None:
            self.app.push_screen(AnswerText(self, said), self.done)
        else:
            self.app.push_screen(AnswerForm(self, said, value), self.done)

    def ask_for_json(self, said: Said) -> None:
        self.app.push_screen(AnswerJson(self, said), self.done)


class AnswerJson(EditRequest):
    """Asks for the answer as JSON."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *EditRequest.BINDINGS,
        Binding(SWITCH, "switch", "form", priority=True),
    ]

    def __init__(self, answer: ToolAnswer, said: Said) -> None:
        self._answer, self._said = answer, said
        super().__init__(answer.title, answer.note, said, _no_check)

    def action_switch(self) -> None:
        """Edit the answer in the form, unless it has more than that shows."""
        found = self.read()
        if isinstance(found, str) or form_value(found, self._answer.schema) is MISSING:
            self.notify(_("The form can only show a valid result of texts."), timeout=4)
        elif self.is_current:
            self.dismiss(None)
            self._answer.ask(found)


class AnswerText(EditRequest):
    """Asks for the text of the result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *EditRequest.BINDINGS,
        Binding(SWITCH, "switch", "JSON", priority=True),
    ]

    def __init__(self, answer: ToolAnswer, said: Said) -> None:
        self._answer, self._said = answer, said
        super().__init__(answer.title, answer.note, said, _no_check)

    def text_of(self, value: Said) -> str:
        return str(form_value(value, None))

    def read(self) -> dict[str, Any] | str:
        return with_form_value(self._said, None, self.text)

    def action_switch(self) -> None:
        if self.is_current:
            self.dismiss(None)
            self._answer.ask_for_json(with_form_value(self._said, None, self.text))


class AnswerForm(FormScreen[Said | None]):
    """Asks for the structured content of the result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(SEND_KEYS, "send", "send", priority=True),
        Binding(SWITCH, "switch", "JSON", priority=True),
    ]

    KEYS = ((SWITCH, "JSON"),)

    def __init__(self, answer: ToolAnswer, said: Said, value: Any) -> None:
        self._answer, self._said = answer, said
        self._form = Form(answer.schema)
        if value is not MISSING:
            self._form.load(value)
        button = Button(_("Send"), "ctrl+s", self.action_send)
        super().__init__(
            (*answer.title, (f"   {answer.note}", "dim")), FormPane(overrides_of(answer.app)), button
        )

    def on_mount(self) -> None:
        self.pane.show(self._form, FormHead())
        self.set_focus(self.pane if self.pane.current is not None else self.button, scroll_visible=False)

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self.say("")

    def on_form_pane_name_wanted(self, event: FormPane.NameWanted) -> None:
        event.stop()
        self.say(_("Press {key} to add entries with a name.", key=SWITCH))

    @property
    def _given(self) -> dict[str, Any]:
        return with_form_value(self._said, self._answer.schema, self._form.value()[0])

    def action_send(self) -> None:
        """Send the answer, unless a value is invalid; as JSON, anything can be sent."""
        if problem := problem_of(self._form.problems()):
            self.pane.go_to_problem()
            self.set_focus(self.pane, scroll_visible=False)
            said = _("{problem}. To send it anyway, press {key}.", problem=capitalized(problem), key=SWITCH)
            self.say(said)
        elif self.is_current:
            self.dismiss(self._given)

    def action_switch(self) -> None:
        if self.is_current:
            self.dismiss(None)
            self._answer.ask_for_json(self._given)


async def _no_check(value: Said) -> str:
    return ""


def json_editor(title: Row, note: str, value: Said, verb: str) -> EditRequest:
    """Return an editor for a message of which nothing is checked."""
    return EditRequest(title, note, value, _no_check, verb)
