"""Asks for a server: address or command, environment or headers, transport."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, TextArea

from tui.core.errors import McptuiError, as_sentences, sentences
from tui.core.text import clean, clean_line, quoted_name
from tui.ui.dialogs.text_dialogs import MultilineText
from tui.ui.widgets.inputs import Button, Choices, Field, FormField
from tui.ui.widgets.literal import Literal

if TYPE_CHECKING:
    from tui.runtime.server_changes import Draft, ServerValues

TRANSPORTS = (
    ("", "auto"),
    ("stdio", "stdio"),
    ("lines", "lines"),
    ("http", "HTTP"),
    ("sse", "SSE"),
    ("websocket", "WebSocket"),
)
AS_IS = "as is"
SECRETS = (("", "redacted"), (AS_IS, "sent to the model"))
LOOK_SECONDS = 0.1

MakeDraft = Callable[[str, "ServerValues"], "Draft"]
"""Takes a name and the typed values; raises McptuiError with their problem."""


class ServerForm(ModalScreen["Draft | None"]):
    """Returns the server to write, or None. `name` is set if an existing server is changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Cancel", priority=True),
        Binding("tab", "app.focus_next", "Next field", priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous field", priority=True),
        Binding("ctrl+s,ctrl+enter", "save", "Save", priority=True),
    ]

    DEFAULT_CSS = """
    ServerForm { align: center bottom; background: $surface 60%; }
    ServerForm > Vertical {
        width: 100%; height: auto; max-height: 100%; padding: 1 3; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    ServerForm > Vertical > * { max-width: 104; }
    ServerForm .title { width: 1fr; text-style: bold; margin-bottom: 1; }
    ServerForm VerticalScroll { height: auto; max-height: 100vh; }
    ServerForm TextArea { min-height: 1; max-height: 3; }
    ServerForm #toml { width: 1fr; color: $text-dim; max-height: 4; }
    ServerForm .buttons { height: 1; margin-top: 1; }
    ServerForm .buttons Literal { width: auto; margin-left: 3; color: $text-dim; }
    """

    def __init__(self, make: MakeDraft, values: "ServerValues", name: str = "") -> None:
        super().__init__()
        self._make = make
        self._fixed = name
        self._before = values.before
        self._line = Field(
            clean_line(values.line, 4000),
            placeholder="npx -y PACKAGE, or https://…",
            compact=True,
            select_on_focus=False,
        )
        self._line_field = FormField("Command or URL", self._line, required=True)
        self._name_field = Field(placeholder="default: from the URL or package", max_length=64, compact=True)
        self._name_row = FormField("Name", self._name_field)
        self._values = MultilineText(clean(values.values), compact=True, highlight_cursor_line=False)
        self._values.set_reactive(TextArea.cursor_blink, False)
        self._values_field = FormField("Environment", self._values)
        self._transport = Choices(TRANSPORTS, values.transport, self._look, id="transport")
        self._secrets = Choices(SECRETS, AS_IS if values.send_as_is else "", self._look, id="secrets")
        self._toml = Literal("", id="toml")
        self._complains = False
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        title = f"Edit server {quoted_name(self._fixed)}" if self._fixed else "Add server"
        with Vertical():
            yield Literal(title, classes="title")
            with VerticalScroll(can_focus=False):
                yield self._line_field
                if not self._fixed:
                    yield self._name_row
                yield self._values_field
                yield FormField("Transport", self._transport)
                yield FormField("Secrets in its results", self._secrets)
                yield self._toml
            with Horizontal(classes="buttons"):
                yield Button("Save", "ctrl+s", self.action_save)
                yield Literal("esc cancel   enter next field")

    def on_mount(self) -> None:
        self.set_focus(self._line)
        self._look()

    def on_key(self, event: events.Key) -> None:
        """Accept characters that were typed before the form had the focus."""
        if self.focused is None and event.is_printable and event.character:
            event.stop()
            self._line.insert_text_at_cursor(event.character)

    def _typed(self) -> "ServerValues":
        from tui.runtime.server_changes import ServerValues

        as_is = self._secrets.chosen == AS_IS
        return ServerValues(self._line.value, self._values.text, self._transport.chosen, as_is, self._before)

    def _look(self) -> "Draft | None":
        """Show the table that would be written. Return its draft, None if it is invalid."""
        if "://" in self._line.value:
            self._values_field.relabel("Headers")
            self._values_field.describe("One per line: Authorization: Bearer ${TOKEN}")
        else:
            self._values_field.relabel("Environment")
            self._values_field.describe("One per line: NAME=VALUE or NAME=${VARIABLE}")
        try:
            draft = self._make(self._fixed or self._name_field.value, self._typed())
        except McptuiError as error:
            self._toml.show("")
            is_shown = self._complains or self._line.value.strip()
            self._say(sentences(error.message, error.next_step) if is_shown else "", self._field_of(error))
            return None
        if not self._fixed:
            self._name_field.placeholder = draft.name
        self._toml.show(draft.toml.rstrip())
        self._say("")
        self._values_field.complain(as_sentences(draft.notes), is_error=False)
        return draft

    def _field_of(self, error: McptuiError) -> FormField:
        from tui.settings.new_server import InvalidName

        return self._name_row if isinstance(error, InvalidName) and not self._fixed else self._line_field

    def _say(self, text: str, field: FormField | None = None) -> None:
        """Show a problem under a field, by default the first one, and clear the others."""
        field = field or self._line_field
        for each in (self._line_field,) if self._fixed else (self._line_field, self._name_row):
            each.complain(f"{text[:1].upper()}{text[1:]}" if each is field else "")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._look_soon()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._look_soon()

    def _look_soon(self) -> None:
        """Check once a burst of keys is over: each check validates the whole table."""
        if self._timer is None:
            self._timer = self.set_timer(LOOK_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._timer = None
        self._look()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field. Does not save, since a line may be typed by mistake."""
        event.stop()
        self.focus_next()

    def action_save(self) -> None:
        self._complains = True
        draft = self._look()
        if draft is not None and self.is_current:
            self.dismiss(draft)

    def action_back(self) -> None:
        self.dismiss(None)
