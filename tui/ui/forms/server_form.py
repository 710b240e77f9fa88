"""Asks for a server: address or command, environment or headers, transport."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer

from tui.core.errors import McptuiError, as_sentences, sentences
from tui.core.forms.form import Form
from tui.core.language.translate import N_, _, localized
from tui.core.text import capitalized, clean, clean_line, quoted_name
from tui.runtime.server_changes import Draft, ServerValues
from tui.settings.new_server import InvalidName, InvalidPair
from tui.ui.dialogs.dialog import heading
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import LINES, FieldNote, FormHead
from tui.ui.forms.form_screen import SAVE_KEYS, FormScreen
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.literal import Literal

TRANSPORTS = {
    "": N_("auto"),
    "stdio": "stdio",
    "lines": N_("lines, not MCP"),
    "http": "HTTP",
    "sse": "SSE",
    "websocket": "WebSocket",
}
SECRETS = {False: N_("hide them from the model"), True: N_("send them to the model")}
LINE, NAME, VALUES = (N_("Command or URL"),), (N_("Name"),), (N_("Environment"),)
TRANSPORT, AS_IS = (N_("Transport"),), (N_("Secrets in results"),)
LOOK_SECONDS = 0.1

LINE_HINT, NAME_HINT = N_("npx -y PACKAGE, or https://…"), N_("default: from the URL or package")
VARIABLES = FieldNote(N_("One per line: NAME=VALUE or NAME=${VARIABLE}"))
HEADERS = FieldNote(N_("One per line: Authorization: Bearer ${TOKEN}"), label=N_("Headers"))

MakeDraft = Callable[[str, ServerValues], Draft]
"""Takes a name and the typed values; raises McptuiError with their problem."""


def _form_of(values: ServerValues, *, is_new: bool) -> Form:
    name = {NAME[0]: {"type": "string", "maxLength": 64}} if is_new else {}
    lines = {"type": "array", "format": LINES, "items": {"type": "string"}}
    form = Form(
        {
            "type": "object",
            "properties": {
                LINE[0]: {"type": "string"},
                **name,
                VALUES[0]: lines,
                TRANSPORT[0]: {"enum": list(TRANSPORTS), "enumNames": list(TRANSPORTS.values())},
                AS_IS[0]: {"enum": list(SECRETS), "enumNames": list(SECRETS.values())},
            },
            "required": [LINE[0]],
        }
    )
    form.set(LINE, clean_line(values.line, 4000))
    for line in clean(values.values).splitlines():
        if (path := form.add(VALUES)) is not None:
            form.set(path, line)
    form.set(TRANSPORT, TRANSPORTS[values.transport])
    form.set(AS_IS, SECRETS[values.send_as_is])
    return form


_OF_LINE = ("args", "command", "url")
"""How notes begin that are about the command or the URL."""


class ServerForm(FormScreen[Draft | None]):
    """Returns the server to write, or None. `name` is set if an existing server is changed."""

    BINDINGS: ClassVar[list[BindingType]] = SAVE_KEYS

    def __init__(self, keys: KeyOverrides, make: MakeDraft, values: ServerValues, name: str = "") -> None:
        self._make, self._fixed, self._before = make, name, values.before
        self._form = _form_of(values, is_new=not name)
        self._toml = Literal("", id="toml")
        title = heading(_("Edit server"), quoted_name(name)) if name else heading(_("Add server"))
        pane, button = FormPane(keys, types=False), Button(_("Save"), "ctrl+s", self.action_save)
        super().__init__(title, pane, button, below=self._toml)
        self._complains = False
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        self.pane.show(self._form, FormHead())
        self.set_focus(self.pane)
        self._look()

    def _typed(self) -> ServerValues:
        value, _ = self._form.value()
        lines = "\n".join(value.get(VALUES[0], ()))
        return ServerValues(self.text(LINE), lines, value[TRANSPORT[0]], value[AS_IS[0]], self._before)

    def _look(self) -> Draft | None:
        """Show the table that would be written. Return its draft, None if it is invalid."""
        self._timer = None
        values = HEADERS if "://" in self.text(LINE) else VARIABLES
        values = replace(values, about=_(values.about), label=_(values.label))
        problem, draft, field, of_line = "", None, LINE, []
        try:
            draft = self._make(self._fixed or self.text(NAME), self._typed())
        except McptuiError as error:
            if self._complains or self.text(LINE).strip():
                problem = capitalized(localized(sentences(error.message, error.next_step)))
            if isinstance(error, InvalidPair):
                field, values = VALUES, replace(values, problem=problem)
            elif isinstance(error, InvalidName) and not self._fixed:
                field = NAME
        else:
            of_line = [one for one in draft.notes if one.startswith(_OF_LINE)]
            others = [one for one in draft.notes if one not in of_line]
            values = replace(values, problem=localized(as_sentences(others)), is_error=False)
        line = (problem if field is LINE else "") or localized(as_sentences(of_line))
        self.pane.note(LINE, FieldNote(problem=line, is_error=not of_line, placeholder=_(LINE_HINT)))
        hint = draft.name if draft is not None and not self._fixed else _(NAME_HINT)
        self.pane.note(NAME, FieldNote(problem=problem if field is NAME else "", placeholder=hint))
        self.pane.note(VALUES, values)
        self._toml.show(draft.toml.rstrip() if draft is not None else "")
        self.fit()
        return draft

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        """Check once a burst of keys is over: each check validates the whole table."""
        event.stop()
        if self._timer is None:
            self._timer = self.set_timer(LOOK_SECONDS, self._look)

    def action_save(self) -> None:
        self._complains = True
        if (draft := self._look()) is not None and self.is_current:
            self.dismiss(draft)
